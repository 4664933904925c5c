"""A store lists and gives bytes, checked; where it cannot, one error says what, why and the remedy, soon."""

import io
import time
from types import SimpleNamespace

import pytest

from storage.object_address import StoreAddress, store_address
from storage.object_client import StoreError
from storage.system import DiskFullError
from tasks.finding.objects import Ahead, ListedObject, ObjectSkippedError, ObjectSource, fetch_all, reason_against, tell_nobody
from tasks.progress import StoppedError, forget_stop, request_stop
from tests.object_server import SECRET


@pytest.mark.parametrize(
    ("key", "size_bytes", "said"),
    [
        ("in/a.txt", 1 << 20, ""),
        ("in/a.txt", (1 << 20) + 1, "larger than 1 MB"),
        ("in/.git/config", 1, "hidden"),
        ("in/..notes.txt", 1, ""),
        ("in/../a.txt", 1, ""),
        ("in/odd/", 1, "the mark of a folder"),
    ],
)
def test_an_object_is_a_document_or_a_reason_is_given(key, size_bytes, said):
    reason = reason_against(ListedObject(key, "tag", size_bytes), StoreAddress("data", "in/"), most_bytes=1 << 20)
    assert said in reason and bool(said) == bool(reason)


def keys(address):
    return [found.key for found in ObjectSource(store_address(address)).listed()]


def fetched(store, found, ended=lambda: False):
    target = io.BytesIO()
    ObjectSource(store_address(store.address())).fetch(found, target, ended=ended)
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


def test_the_bytes_are_those_of_the_listing(store):
    store.put("a", b"one")
    (found,) = ObjectSource(store_address(store.address())).listed()
    assert found.size_bytes == 3 and fetched(store, found) == b"one"
    store.put("a", b"two")
    with pytest.raises(ObjectSkippedError, match="it changed while it was fetched"):
        fetched(store, found)
    store.delete("a")
    with pytest.raises(ObjectSkippedError, match="it changed while it was fetched"):
        fetched(store, found)


@pytest.mark.parametrize("wrong", [{"tag": "0" * 32}, {"size_bytes": 4}])
def test_bytes_that_are_not_what_the_listing_says_are_refused(store, wrong, monkeypatch):
    store.put("a", b"one")
    (found,) = ObjectSource(store_address(store.address())).listed()
    told = {"key": "a", "tag": found.tag, "size_bytes": 3} | wrong
    store.ignores_conditions = True
    with pytest.raises(ObjectSkippedError, match="not what the store lists"):
        fetched(store, ListedObject(**told))


def test_a_tag_that_is_no_hash_of_the_bytes_is_not_held_against_them(store):
    upload = store.client.create_multipart_upload(Bucket=store.bucket, Key="a")["UploadId"]
    of = {"Bucket": store.bucket, "Key": "a", "UploadId": upload}
    tag = store.client.upload_part(**of, PartNumber=1, Body=b"one")["ETag"]
    store.client.complete_multipart_upload(**of, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]})
    (found,) = ObjectSource(store_address(store.address())).listed()
    assert found.tag.endswith("-1") and fetched(store, found) == b"one"


def test_the_wish_to_stop_ends_a_listing_and_a_download(store):
    store.put("a", b"one")
    (found,) = ObjectSource(store_address(store.address())).listed()
    with pytest.raises(StoppedError):
        fetched(store, found, ended=lambda: True)
    request_stop()
    try:
        for work in (lambda: keys(store.address()), lambda: fetched(store, found)):
            with pytest.raises(StoppedError):
                work()
    finally:
        forget_stop()


def test_a_store_that_never_answers_is_said_to_be_so(store, monkeypatch):
    monkeypatch.setattr("storage.object_client.READ_SECONDS", 0.5)
    store.put("a", b"x")
    store.holds_listings = True
    store.hold.clear()
    began, address = time.monotonic(), store.address().rstrip("/")
    with pytest.raises(StoreError, match=f"{address}.*Read timeout") as error:
        keys(address)
    assert time.monotonic() - began < 8 and SECRET not in str(error.value)


def fetched_all(store, folder, tell=tell_nobody):
    source = ObjectSource(store_address(store.address()))
    return fetch_all(source, {found: folder / found.key for found in source.listed()}, folder, tell)


def test_how_much_is_fetched_is_told_before_anything_is(store, tmp_path):
    heard = []
    assert fetched_all(store, tmp_path, heard.append) == {} and heard == []
    for key in ("a", "b"):
        store.put(key, b"1234")
    fetched_all(store, tmp_path, lambda ahead: heard.append((ahead, list(store.fetched))))
    assert heard == [(Ahead(store.address().rstrip("/"), 2, 8), [])] and sorted(store.fetched) == ["a", "b"]


def test_a_full_disk_is_said_before_anything_is_fetched(store, tmp_path, monkeypatch):
    store.put("a.txt", b"x")
    monkeypatch.setattr("storage.system.shutil.disk_usage", lambda place: SimpleNamespace(free=0))
    with pytest.raises(DiskFullError, match="needs about 1 MB"):
        fetched_all(store, tmp_path)
    assert store.fetched == [] and list(tmp_path.iterdir()) == []
