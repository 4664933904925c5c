"""What is to be fetched is told before, lies whole under its name, or is a reason; nothing begins on a full disk."""

from types import SimpleNamespace

import pytest

from storage.disk import DiskFullError
from storage.object_address import store_address
from tasks.object_source import Ahead, ObjectSource, fetch_all, tell_nobody


def targets(store, folder):
    """What lies in the store, and where it is to lie here."""
    return {found: folder / found.key for found in ObjectSource(store_address(store.address())).listed()}


def fetched(store, folder, tell=tell_nobody):
    return fetch_all(ObjectSource(store_address(store.address())), targets(store, folder), folder, tell)


def test_objects_are_fetched_and_one_that_cannot_be_is_a_reason(store, tmp_path):
    for key in ("a", "b", "c"):
        store.put(key, key.encode())
    store.refusals["b"] = "AccessDenied"
    reasons = fetched(store, tmp_path)
    assert reasons["b"].startswith("cannot be read: the store refuses it (AccessDenied); give the credentials the rights")
    assert (reasons["a"], reasons["c"]) == ("", "")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"a", "c": b"c"}


def test_how_much_is_fetched_is_told_before_anything_is(store, tmp_path):
    heard = []
    assert fetched(store, tmp_path, heard.append) == {} and heard == []
    for key in ("a", "b"):
        store.put(key, b"1234")
    fetched(store, tmp_path, lambda ahead: heard.append((ahead, list(store.fetched))))
    assert heard == [(Ahead(store.address().rstrip("/"), 2, 8), [])] and sorted(store.fetched) == ["a", "b"]


def test_a_full_disk_is_said_before_anything_is_fetched(store, tmp_path, monkeypatch):
    store.put("a.txt", b"x")
    monkeypatch.setattr("storage.disk.shutil.disk_usage", lambda place: SimpleNamespace(free=0))
    with pytest.raises(DiskFullError, match="needs about 1 MB"):
        fetched(store, tmp_path)
    assert store.fetched == [] and list(tmp_path.iterdir()) == []
