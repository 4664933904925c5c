"""Mirrors stay while somebody reads from one, whatever ends the reader, and one process at a time brings one up to date."""

import subprocess
import sys
import threading

import pytest

from storage.locations import mirrors_folder
from storage.mirrored_copies import copies_unused
from storage.object_address import StoreAddress
from tasks.mirror_locks import copies_in_use, updating
from tasks.progress import StoppedError, forget_stop, request_stop

ADDRESSES = ["/some/folder", "s3://data/in/"]
READS = """
import sys, time
from tasks.mirror_locks import copies_in_use
with copies_in_use(["s3://data/in/"]):
    print("reading", flush=True)
    time.sleep(60)
"""


def unused():
    with copies_unused(mirrors_folder().parent) as free:
        return free


def test_copies_are_in_use_while_any_reader_is_in(home):
    with copies_in_use(ADDRESSES):
        with copies_in_use(ADDRESSES):
            assert not unused()
        assert not unused()
    assert unused()


def test_a_killed_reader_holds_nothing(home):
    with subprocess.Popen([sys.executable, "-c", READS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "reading\n" and not unused()
        process.kill()
    assert unused()


def test_who_reads_no_object_makes_no_mirrors(home):
    with copies_in_use(["/some/folder"]):
        assert not mirrors_folder().exists()


def test_a_reader_waits_for_a_clean_up(home):
    began = threading.Event()

    def read():
        with copies_in_use(ADDRESSES):
            began.set()

    with copies_unused(mirrors_folder().parent):
        reader = threading.Thread(target=read)
        reader.start()
        assert not began.wait(0.3)
    assert began.wait(10)
    reader.join()


def test_who_waits_for_a_mirror_may_stop(home):
    address = StoreAddress("data", "in/")
    with updating(address) as folder, updating(StoreAddress("data", "other/")):
        assert (folder / "lock").read_text() == "s3://data/in/\n"
        request_stop()
        try:
            with pytest.raises(StoppedError), updating(address):
                pass
        finally:
            forget_stop()
    with updating(address) as folder:
        assert folder.is_dir(), "who stopped holds nothing"
