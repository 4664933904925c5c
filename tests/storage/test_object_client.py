"""A store lists and gives bytes; where it does not answer or refuses us, one error says what failed, why, and the remedy."""

import io
import sys
import time

import pytest
from s3transfer.exceptions import S3DownloadFailedError

from storage.object_address import store_address
from storage.object_client import ATTEMPTS, StoreError, explained, fetch_object, list_objects, make_client
from tests.object_server import SECRET


def refused(bucket="data"):
    """Ask for what a bucket holds, where that is to fail."""
    began = time.monotonic()
    with pytest.raises(StoreError, match=f"^cannot list 's3://{bucket}': ") as error, explained(f"list 's3://{bucket}'"):
        make_client(1).list_objects_v2(Bucket=bucket)
    assert time.monotonic() - began < 20 and SECRET not in str(error.value)
    return str(error.value)


def test_a_refusal_of_the_store_is_an_error_with_its_code_and_the_remedy(store):
    assert "does not exist (NoSuchBucket); name a bucket that exists" in refused("nowhere-at-all")
    assert "name a bucket that exists" in refused("no bucket")
    for code, remedy in (("AccessDenied", "rights"), ("InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"), ("SlowDown", "same command")):
        store.refusals[""] = code
        said, _, what_to_do = refused(store.bucket).partition("; ")
        assert said.endswith(f": no ({code})") and remedy in what_to_do


def test_a_store_that_is_not_there_is_an_error(store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    said = refused()
    assert "Could not connect" in said and "http://127.0.0.1:9/" in said and "check the network and AWS_ENDPOINT_URL" in said


def test_a_password_in_the_endpoint_is_not_repeated(store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://reader:{SECRET}@127.0.0.1:9")
    assert "http://127.0.0.1:9/" in refused()


def test_an_endpoint_that_is_none_and_a_profile_that_is_absent_are_named(store, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nonsense")
    assert "Invalid endpoint: nonsense" in refused()
    monkeypatch.setenv("AWS_PROFILE", "absent")
    assert "set AWS_PROFILE" in refused()


def test_missing_credentials_are_asked_for(store, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in refused()


def test_without_boto3_the_extra_is_named(store, monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert "pip install 'flowreader[s3]'" in refused()


def listed(address):
    return list(list_objects(make_client(1), store_address(address)))


def keys(address):
    return [found.key for found in listed(address)]


def fetched(store, tag=None, moved=lambda _bytes: None, key="a"):
    target = io.BytesIO()
    fetch_object(make_client(1), store_address(store.address(key)), target, moved, tag=tag)
    return target.getvalue()


def test_what_lies_at_or_below_an_address_is_listed(store):
    for key in ("a", "a/1", "a/2", "ab", "b1"):
        store.put(key, b"x")
    assert keys(store.address()) == ["a", "a/1", "a/2", "ab", "b1"]
    assert keys(store.address("a")) == ["a", "a/1", "a/2"] and keys(store.address("a/")) == ["a/1", "a/2"]
    assert keys(store.address("b")) == keys(store.address("nothing")) == keys(store.address("nothing/")) == []


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


def test_an_object_that_changes_while_its_parts_are_read_is_an_error_in_words():
    with pytest.raises(StoreError, match=r"cannot read it: it changed while it was read"), explained("read it"):
        raise S3DownloadFailedError("another tag")
