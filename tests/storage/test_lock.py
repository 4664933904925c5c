import os
import signal
import subprocess
import sys
import time

import pytest

from storage import lock as locks
from storage.lock import CorpusBusyError, hold_lock, read_holder, wait_until_free

HOLD = """
import sys, time
from pathlib import Path
from storage.lock import hold_lock
with hold_lock(Path(sys.argv[1]), wait_seconds=0):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def lock(tmp_path):
    folder = tmp_path / "default"
    folder.mkdir()
    return folder / "lock"


def hold_elsewhere(lock):
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"held\n"
    return child


def end(child):
    child.send_signal(signal.SIGKILL)
    child.wait()
    if child.stdout:
        child.stdout.close()


def lock_of(path, wait_seconds=0):
    with hold_lock(path, wait_seconds=wait_seconds) as held:
        held.require_held()
        return read_holder(path).pid


def test_a_second_writer_learns_which_process_holds_the_corpus(lock):
    child = hold_elsewhere(lock)
    try:
        with pytest.raises(CorpusBusyError, match=rf"'default' is being written by process {child.pid} on .* for \d+ s"):
            lock_of(lock)
    finally:
        end(child)


@pytest.mark.parametrize("cut", [None, b"", b"[]", b'{"pid": 3}', b'{"pid": 3, "ho', b"\xff"])
def test_a_killed_holder_is_succeeded_at_once_whatever_it_left(lock, cut):
    child = hold_elsewhere(lock)
    end(child)
    if cut is not None:
        lock.write_bytes(cut)
    assert lock_of(lock) == os.getpid()


def test_a_second_writer_can_wait(lock):
    with hold_lock(lock, wait_seconds=0):
        began = time.monotonic()
        with pytest.raises(CorpusBusyError):
            lock_of(lock, wait_seconds=0.25)
        assert time.monotonic() - began >= 0.25
    assert lock_of(lock) == os.getpid()


def test_a_lock_that_is_held_but_not_yet_signed_is_busy_too(lock):
    with hold_lock(lock, wait_seconds=0):
        os.truncate(lock, 0)
        with pytest.raises(CorpusBusyError, match="by another process"):
            lock_of(lock)


def test_a_lock_that_cannot_be_signed_is_let_go(lock, monkeypatch):
    def fail(descriptor):
        raise OSError("disk")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="disk"):
            lock_of(lock)
    assert lock_of(lock) == os.getpid()


def test_children_do_not_inherit_the_lock(lock):
    with hold_lock(lock, wait_seconds=0):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], close_fds=False)
    assert lock_of(lock) == os.getpid()
    end(child)


def test_a_lock_whose_corpus_was_removed_locks_nothing_and_is_refused(tmp_path, monkeypatch):
    place = tmp_path / "corpus" / "lock"
    place.parent.mkdir()
    waited = locks.wait_for

    def removed_meanwhile(descriptor, path, wait_seconds):
        waited(descriptor, path, wait_seconds)
        path.unlink()

    monkeypatch.setattr(locks, "wait_for", removed_meanwhile)
    with pytest.raises(CorpusBusyError, match="was removed while this waited for it"):
        lock_of(place)


def test_a_refusal_comes_before_anything_else(lock):
    wait_until_free(lock, wait_seconds=0)
    with hold_lock(lock, wait_seconds=0), pytest.raises(CorpusBusyError, match=f"process {os.getpid()}"):
        wait_until_free(lock, wait_seconds=0)
    wait_until_free(lock, wait_seconds=0)
    assert lock_of(lock) == os.getpid()
