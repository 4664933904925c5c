"""Objects are found as files are: by content, with a reason for what is left out, and only what is new is fetched."""

import hashlib

from storage.locations import mirrors_folder
from tasks.object_discovery import discover_objects
from tasks.planning import real_path


def found(*addresses, include=(), exclude=(), file_megabytes=1):
    return discover_objects(addresses, include=include, exclude=exclude, file_megabytes=file_megabytes)


def names(discovery):
    return [file.address.rpartition("/")[2] for file in discovery.files]


def copies():
    return sorted(path for path in mirrors_folder().rglob("*") if path.is_file() and path.name != "lock")


def test_objects_are_found_with_their_hash_and_their_address(store, home):
    store.put("in/b/one.pdf", b"one")
    store.put("in/a.TXT", b"two")
    discovery = found(store.address("in/"))
    assert [file.address for file in discovery.files] == [store.address("in/a.TXT"), store.address("in/b/one.pdf")]
    assert discovery.files[1].document_id == hashlib.sha256(b"one").hexdigest() and discovery.files[1].size_bytes == 3
    assert discovery.files[0].path.endswith(".txt"), "readers know a page of text by its suffix"
    assert real_path(discovery.files[0].address) == discovery.files[0].path and real_path(store.address("in/c")) is None
    assert discovery.skipped == () and discovery.unreadable == 0


def test_what_is_unchanged_is_listed_and_not_fetched(store, home):
    store.put("a.txt", b"one")
    store.put("b.txt", b"two")
    first = found(store.address())
    assert sorted(store.fetched) == ["a.txt", "b.txt"]
    store.requests.clear()
    assert found(store.address()) == first
    assert store.requests == [("GET", "")], "one listing, no download"


def test_new_and_changed_objects_are_fetched_and_vanished_ones_removed(store, home):
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
    assert len(copies()) == 3 and after.listed == {store.address(key) for key in ("a.txt", "b.txt", "d.txt")}


def test_what_is_hidden_too_large_or_a_folders_mark_is_not_fetched(store, home):
    store.put("in/", b"")
    store.put("in/odd/", b"words")
    store.put("in/.git/config.txt", b"x")
    store.put("in/large.txt", b"x" * (1 << 20) + b"x")
    store.put("in/a.txt", b"x")
    discovery = found(store.address("in/"))
    reasons = {item.path.removeprefix(store.address("in/")): item.reason for item in discovery.skipped}
    assert names(discovery) == ["a.txt"] == [key.removeprefix("in/") for key in store.fetched]
    assert set(reasons) == {"odd/", ".git/config.txt", "large.txt"} and discovery.unreadable == 0
    assert "limits.file_megabytes" in reasons["large.txt"] and "hidden" in reasons[".git/config.txt"]
    assert names(found(store.address("in/.git/config.txt"))) == ["config.txt"], "who names it means it"
    assert len(discovery.listed) == 5


def test_globs_choose_before_anything_is_fetched(store, home):
    for key in ("in/a.pdf", "in/sub/b.pdf", "in/c.txt"):
        store.put(key, key.encode())
    assert names(found(store.address("in/"), include=["*.pdf"], exclude=["sub/*"])) == ["a.pdf"] and store.fetched == ["in/a.pdf"]


def test_one_that_may_not_be_read_is_named_and_the_others_are_read(store, home):
    store.put("a.txt", b"x")
    store.put("b.txt", b"y")
    store.refusals["a.txt"] = "AccessDenied"
    discovery = found(store.address())
    assert names(discovery) == ["b.txt"] and discovery.unreadable == 1
    assert "cannot be read: the store refuses it (AccessDenied)" in discovery.skipped[0].reason
