"""Copies of objects survive whatever ends a run, lie under names of ours, and go with what they are of."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from storage.artifacts import PARTIAL
from storage.locations import mirrors_folder
from storage.object_client import StoreError
from storage.system import DiskFullError
from tasks.finding.mirror import discover_objects
from tasks.finding.plan import real_path
from tasks.progress import StoppedError, forget_stop, request_stop
from tests.object_server import SECRET
from tests.waiting import wait_until


def found(*addresses, include=(), exclude=(), **more):
    return discover_objects(addresses, include=include, exclude=exclude, file_megabytes=1, **more)


def names(discovery):
    return [file.address.rpartition("/")[2] for file in discovery.files]


def copies():
    return sorted(path for path in mirrors_folder().rglob("*") if path.is_file() and not path.name.startswith("lock"))


def test_objects_are_found_with_their_hash_and_their_address(store, home):
    store.put("in/b/one.pdf", b"one")
    store.put("in/a.TXT", b"two")
    discovery = found(store.address("in/"))
    assert sorted(store.fetched) == ["in/a.TXT", "in/b/one.pdf"]
    assert [file.address for file in discovery.files] == [store.address("in/a.TXT"), store.address("in/b/one.pdf")]
    assert discovery.files[1].document_id == hashlib.sha256(b"one").hexdigest() and discovery.files[1].size_bytes == 3
    assert discovery.files[0].path.endswith(".txt"), "readers know a page of text by its suffix"
    assert real_path(discovery.files[0].address) == discovery.files[0].path and real_path(store.address("in/c")) is None
    assert discovery.skipped == () and discovery.unreadable == 0
    store.requests.clear()
    assert found(store.address("in/")) == discovery
    assert store.requests == [("GET", "")], "what is unchanged is listed and not fetched"


def test_new_and_changed_objects_are_fetched_and_a_copy_of_older_bytes_goes(store, home):
    for key in ("a.txt", "b.txt", "c.txt"):
        store.put(key, key.encode())
    before = found(store.address())
    store.put("b.txt", b"other words")
    store.put("d.txt", b"new")
    store.delete("c.txt")
    store.requests.clear()
    after = found(store.address())
    assert sorted(store.fetched) == ["b.txt", "d.txt"] and names(after) == ["a.txt", "b.txt", "d.txt"]
    assert after.files[0] == before.files[0] and after.files[1].document_id == hashlib.sha256(b"other words").hexdigest()
    assert len(copies()) == 4, "the document of a vanished object stays, and its copy with it"
    assert after.listed == {store.address(key) for key in ("a.txt", "b.txt", "d.txt")}


def test_what_is_hidden_too_large_or_a_folders_mark_is_not_fetched(store, home):
    store.put("in/", b"")
    store.put("in/odd/", b"words")
    store.put("in/.git/config.txt", b"x")
    store.put("in/large.txt", b"x" * (1 << 20) + b"x")
    store.put("in/..notes.txt", b"x" * (1 << 20))
    store.put("in/a.txt", b"x")
    discovery = found(store.address("in/"))
    reasons = {item.path.removeprefix(store.address("in/")): item.reason for item in discovery.skipped}
    assert names(discovery) == ["..notes.txt", "a.txt"] == sorted(key.removeprefix("in/") for key in store.fetched)
    assert set(reasons) == {"odd/", ".git/config.txt", "large.txt"} and discovery.unreadable == 0
    assert "limits.file_megabytes" in reasons["large.txt"] and "hidden" in reasons[".git/config.txt"]
    assert names(found(store.address("in/.git/config.txt"))) == ["config.txt"], "what is named is meant"
    assert len(discovery.listed) == 5


def test_globs_choose_before_anything_is_fetched(store, home):
    for key in ("in/a.pdf", "in/sub/b.pdf", "in/c.txt"):
        store.put(key, key.encode())
    assert names(found(store.address("in/"), include=["*.pdf"], exclude=["sub/*"])) == ["a.pdf"] and store.fetched == ["in/a.pdf"]


def test_one_that_may_not_be_read_is_named_and_the_others_are_read(store, home):
    for key in ("a.txt", "b.txt", "c.txt"):
        store.put(key, b"x")
    store.refusals["b.txt"] = "AccessDenied"
    discovery = found(store.address())
    assert names(discovery) == ["a.txt", "c.txt"] and discovery.unreadable == 1 and len(copies()) == 2
    reason = "cannot be read: no (AccessDenied); give the credentials the rights"
    assert discovery.skipped[0].reason.startswith(reason)
    store.refusals[""] = "AccessDenied"
    with pytest.raises(StoreError, match="rights to list"):
        found(store.address())
    assert len(copies()) == 2, "a store that goes away leaves what was fetched"


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
    assert {path.parent for path in copies()} == {mirrors_folder()}


SEARCH = """
import sys
from tasks.finding.mirror import discover_objects
print(len(discover_objects([sys.argv[1]], include=(), exclude=(), file_megabytes=1).files))
"""


def searching(store):
    return subprocess.Popen(
        [sys.executable, "-c", SEARCH, store.address()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


@pytest.mark.torture
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_ended_in_mid_download_goes_on(store, home, number):
    for key in "abcdefghijklmnop":
        store.put(f"{key}.txt", key.encode())
    store.hold.clear()
    process = searching(store)
    wait_until(lambda: len(store.fetched) >= 8)
    process.send_signal(number)
    store.hold.set()
    process.communicate(timeout=30)
    assert process.returncode != 0
    whole = len([path for path in copies() if not path.name.startswith(PARTIAL)])
    assert whole < 16
    store.requests.clear()
    assert len(found(store.address()).files) == 16 and len(store.fetched) == 16 - whole


@pytest.mark.torture
def test_two_runs_at_once_fetch_each_object_once(store, home):
    for number in range(20):
        store.put(f"{number}.txt", str(number).encode())
    store.hold.clear()
    processes = [searching(store) for _ in range(2)]
    wait_until(lambda: len(store.fetched) >= 8)
    threading.Timer(0.5, store.hold.set).start()
    assert [process.communicate(timeout=60)[0] for process in processes] == ["20\n", "20\n"]
    assert len(store.fetched) == 20


def test_a_wish_to_stop_ends_a_listing_and_a_download(store, home):
    store.put("a", b"one")
    try:
        for announce in (lambda *_: request_stop(), lambda *_: None):
            # the second one meets the wish of the first while it lists
            with pytest.raises(StoppedError):
                found(store.address(), announce=announce)
    finally:
        forget_stop()
    assert copies() == []


def test_an_object_that_changes_while_it_is_fetched_is_left_to_the_next_ingest(store, home):
    for change in (lambda *_: store.put("a", b"two"), lambda *_: store.delete("a")):
        store.put("a", b"one")
        discovery = found(store.address(), announce=change)
        assert discovery.files == () and discovery.unreadable == 1
        assert discovery.skipped[0].reason == "cannot be read: it changed while it was being fetched; the next ingest reads it"
        assert copies() == []


def test_a_store_that_never_answers_is_an_error_soon(store, home, monkeypatch):
    monkeypatch.setattr("storage.object_client.READ_SECONDS", 0.5)
    store.put("a", b"x")
    store.holds_listings = True
    store.hold.clear()
    began, address = time.monotonic(), store.address().rstrip("/")
    with pytest.raises(StoreError, match=f"{address}.*Read timeout") as error:
        found(address)
    assert time.monotonic() - began < 20 and SECRET not in str(error.value)


def test_how_much_is_fetched_is_announced_before_anything_is_and_has_to_find_room(store, home, monkeypatch):
    announced = []

    def announce(*ahead):
        announced.append((ahead, list(store.fetched)))

    found(store.address(), announce=announce)
    assert announced == []
    for key in ("a", "b"):
        store.put(key, b"1234")
    found(store.address(), announce=announce)
    assert announced == [((store.address().rstrip("/"), 2, 8), [])] and sorted(store.fetched) == ["a", "b"]
    store.put("c", b"x")
    monkeypatch.setattr("storage.system.shutil.disk_usage", lambda place: SimpleNamespace(free=0))
    with pytest.raises(DiskFullError, match="needs about 1 MB"):
        found(store.address())
    assert len(store.fetched) == 2
