"""Copies of objects survive whatever ends a run, lie under names of ours, and go with what they are of."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from storage.locations import mirrors_folder
from storage.object_client import StoreError
from tasks.object_fetching import PARTIAL
from tasks.planning import real_path
from tests.tasks.test_object_discovery import copies, found

SEARCH = """
import sys
from tasks.object_discovery import discover_objects
print(len(discover_objects([sys.argv[1]], include=(), exclude=(), file_megabytes=1).files))
"""


def test_a_copy_that_was_cut_is_fetched_again(store, home):
    store.put("a.txt", b"whole")
    os.truncate(found(store.address()).files[0].path, 2)
    assert found(store.address()).files[0].document_id == hashlib.sha256(b"whole").hexdigest()


HOSTILE = ("../../outside.txt", "..", "/etc/absolute.txt", "a//b.txt", "n\0ul.txt", "back\\slash.txt", "\x1b[31mred.txt",
           "x" * 300 + ".txt", "-rf.txt", "'; DROP.txt", "\u202egpj.txt", "./dots.txt", "long." + "e" * 40)  # fmt: skip


def test_hostile_keys_lie_under_safe_names_and_are_shown_escaped(store, home):
    for key in HOSTILE:
        store.put(key, key.encode())
    discovery = found(store.address())
    by_content = {file.document_id: file for file in discovery.files}
    for key in HOSTILE:
        file = by_content[hashlib.sha256(key.encode()).hexdigest()]
        assert file.address.isprintable() and file.path.startswith(f"{mirrors_folder()}{os.sep}")
        assert real_path(file.address) == file.path
    assert len(copies()) == len(HOSTILE) == len(list(home.rglob("*.txt"))) + 2
    assert {path.parent.parent for path in copies()} == {mirrors_folder()}


def test_a_store_that_goes_away_leaves_what_was_fetched(store, home):
    store.put("a.txt", b"x")
    found(store.address())
    store.refusals[""] = "AccessDenied"
    with pytest.raises(StoreError, match="rights to list"):
        found(store.address())
    assert len(copies()) == 1


def searching(store):
    return subprocess.Popen(
        [sys.executable, "-c", SEARCH, store.address()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def until(said):
    deadline = time.monotonic() + 30
    while not said():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_ended_in_mid_download_goes_on(store, home, number):
    for key in "abcdefghijklmnop":
        store.put(f"{key}.txt", key.encode())
    found(store.address("a.txt"))
    store.hold.clear()
    process = searching(store)
    until(lambda: len(store.fetched) >= 1 + 8)
    process.send_signal(number)
    store.hold.set()
    process.communicate(timeout=30)
    assert process.returncode != 0
    whole = len([path for path in copies() if not path.name.startswith(PARTIAL)]) - 1
    assert whole < 16
    store.requests.clear()
    assert len(found(store.address()).files) == 16 and len(store.fetched) == 16 - whole
    assert not [path for path in copies() if path.name.startswith(PARTIAL)]


def test_two_runs_at_once_fetch_each_object_once(store, home):
    for number in range(20):
        store.put(f"{number}.txt", str(number).encode())
    store.hold.clear()
    processes = [searching(store) for _ in range(2)]
    until(lambda: len(store.fetched) >= 8)
    threading.Timer(0.5, store.hold.set).start()
    assert [process.communicate(timeout=60)[0] for process in processes] == ["20\n", "20\n"]
    assert len(store.fetched) == 20
