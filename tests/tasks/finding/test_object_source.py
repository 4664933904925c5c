"""A store lists and gives bytes, checked; where it cannot, one error says what, why and the remedy, soon."""

import io
import time
from types import SimpleNamespace

import pytest
from s3transfer.exceptions import S3DownloadFailedError

from storage.object_address import StoreAddress, store_address
from storage.object_client import ATTEMPTS, StoredObject, StoreError, explained, fetch_object, list_objects, make_client
from storage.system import DiskFullError
from tasks.finding.mirror import Ahead, discover_objects, reason_against
from tasks.progress import StoppedError, forget_stop, request_stop
from tests.object_server import SECRET


@pytest.mark.parametrize(
    ("key", "size_bytes", "words"),
    [
        ("in/a.txt", 1 << 20, ""),
        ("in/a.txt", (1 << 20) + 1, "larger than 1 MB"),
        ("in/.git/config", 1, "hidden"),
        ("in/..notes.txt", 1, ""),
        ("in/../a.txt", 1, ""),
        ("in/odd/", 1, "the mark of a folder"),
    ],
)
def test_an_object_is_a_document_or_a_reason_is_given(key, size_bytes, words):
    reason = reason_against(StoredObject(key, "tag", size_bytes), StoreAddress("data", "in/"), most_bytes=1 << 20)
    assert words in reason and bool(words) == bool(reason)


def listed(address):
    return list(list_objects(make_client(1), store_address(address)))


def keys(address):
    return [found.key for found in listed(address)]


def fetched(store, tag=None, moved=lambda _bytes: None, key="a"):
    target = io.BytesIO()
    fetch_object(make_client(1), store_address(store.address(key)), target, moved, tag=tag)
    return target.getvalue()


def test_what_lies_at_or_below_an_address_is_listed(store):
    for key in ("a", "a/1", "a/2", "ab", "b"):
        store.put(key, b"x")
    assert keys(store.address()) == ["a", "a/1", "a/2", "ab", "b"]
    assert keys(store.address("a")) == ["a", "a/1", "a/2"] and keys(store.address("a/")) == ["a/1", "a/2"]
    assert keys(store.address("nothing")) == keys(store.address("nothing/")) == []


def test_more_than_a_page_of_objects_is_listed_whole(store):
    for number in range(1001):
        store.put_directly(f"{number:04}", b"")
    assert len(keys(store.address())) == 1001 and store.requests == [("GET", "")] * 2


@pytest.mark.parametrize("data", [b"", b"one", bytes(range(256)) * 70_000])
def test_the_bytes_are_those_of_the_listing(store, data):
    store.put("a", data)
    (found,) = listed(store.address())
    moved = []
    assert fetched(store, found.tag, moved.append) == data and sum(moved) == found.size_bytes == len(data)
    store.put("a", b"two")
    with pytest.raises(S3DownloadFailedError):
        fetched(store, found.tag)
    assert fetched(store) == b"two"


def test_what_is_cut_on_the_way_goes_on_where_it_was_cut(store):
    data = bytes(range(256)) * 70_000
    store.put("a", data)
    store.cuts = {"a": [3 << 20, 0]}
    store.requests.clear()
    moved = []
    assert fetched(store, moved=moved.append) == data and sum(moved) == len(data) and store.cuts == {"a": []}
    # 8 MB a part: three, and the first one twice more
    assert len(store.fetched) == 3 + 2


def test_a_store_that_cuts_every_answer_is_an_error(store):
    store.put("a", b"one")
    store.cuts = {"a": [0] * ATTEMPTS}
    with pytest.raises(StoreError, match=r"cannot read it: .*; check the network"), explained("read it"):
        fetched(store)


def test_a_wish_to_stop_ends_a_listing_and_a_download(store, home):
    store.put("a", b"one")

    def stop(_bytes):
        raise StoppedError

    with pytest.raises(StoppedError):
        fetched(store, moved=stop)
    request_stop()
    try:
        with pytest.raises(StoppedError):
            discover_objects([store.address()], include=(), exclude=(), file_megabytes=1)
    finally:
        forget_stop()
    assert store.fetched == ["a"]


def test_a_store_that_never_answers_is_an_error_soon(store, home, monkeypatch):
    monkeypatch.setattr("storage.object_client.READ_SECONDS", 0.5)
    store.put("a", b"x")
    store.holds_listings = True
    store.hold.clear()
    began, address = time.monotonic(), store.address().rstrip("/")
    with pytest.raises(StoreError, match=f"{address}.*Read timeout") as error:
        discover_objects([address], include=(), exclude=(), file_megabytes=1)
    assert time.monotonic() - began < 8 and SECRET not in str(error.value)


def discovered(store, announce):
    return discover_objects([store.address()], include=(), exclude=(), file_megabytes=1, announce=announce)


def test_how_much_is_fetched_is_announced_before_anything_is(store, home):
    heard = []
    discovered(store, heard.append)
    assert heard == []
    for key in ("a", "b"):
        store.put(key, b"1234")
    discovered(store, lambda ahead: heard.append((ahead, list(store.fetched))))
    assert heard == [(Ahead(store.address().rstrip("/"), 2, 8), [])] and sorted(store.fetched) == ["a", "b"]


def test_a_full_disk_is_an_error_before_anything_is_fetched(store, home, monkeypatch):
    store.put("a.txt", b"x")
    monkeypatch.setattr("storage.system.shutil.disk_usage", lambda place: SimpleNamespace(free=0))
    with pytest.raises(DiskFullError, match="needs about 1 MB"):
        discovered(store, lambda _ahead: None)
    assert store.fetched == []
