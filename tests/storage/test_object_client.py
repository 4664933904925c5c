"""A store lists and gives bytes; where it does not answer or refuses us, one error says what failed, why, and the remedy."""

import io
import sys
import time

import pytest

from storage.object_address import store_address
from storage.object_client import CHANGED, StoreError, fetch_object, list_objects, make_client
from tests.object_server import SECRET


@pytest.fixture(autouse=True)
def once(store, monkeypatch):
    """Have boto3 ask once, as users can."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


def listed(address):
    place = store_address(address)
    return list(list_objects(make_client(place), place))


def keys(address):
    return [found.key for found in listed(address)]


def refused(address="s3://data"):
    """Ask for what lies there, where that is to fail."""
    began = time.monotonic()
    with pytest.raises(StoreError, match=f"^cannot (reach|list) '{address}': ") as error:
        listed(address)
    assert time.monotonic() - began < 20 and SECRET not in str(error.value)
    return str(error.value)


def test_a_refusal_of_the_store_is_an_error_with_its_code_and_the_remedy(store):
    assert "does not exist (NoSuchBucket); name a bucket that exists" in refused("s3://nowhere-at-all")
    assert "name a bucket that exists" in refused("s3://no bucket")
    for code, remedy in (("AccessDenied", "rights"), ("InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"), ("SlowDown", "same command")):
        store.refusals[""] = code
        said, _, what_to_do = refused(f"s3://{store.bucket}").partition("; ")
        assert said.endswith(f": no ({code})") and remedy in what_to_do


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9", 'Could not connect to the endpoint URL: "http://127.0.0.1:9/'),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9", "check the network and AWS_ENDPOINT_URL"),
        ("AWS_ENDPOINT_URL", f"http://reader:{SECRET}@127.0.0.1:9", '"http://127.0.0.1:9/'),
        ("AWS_ENDPOINT_URL", "nonsense", "Invalid endpoint: nonsense"),
        ("AWS_PROFILE", "absent", "set AWS_PROFILE"),
        ("AWS_SECRET_ACCESS_KEY", "", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_what_keeps_us_from_a_store_is_named_with_its_remedy_and_without_a_password(name, value, told, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(name, value)
    if not value:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv(name)
    assert told in refused()


def test_without_boto3_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert "boto3 is not installed (ModuleNotFoundError); run: pip install 'flowreader[s3]'" in refused()


def fetched(store, listed=None, moved=lambda _bytes: None):
    target, place = io.BytesIO(), store_address(store.address("a"))
    fetch_object(make_client(place), place, target, moved, listed=listed)
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
    assert fetched(store, found, moved.append) == data and sum(moved) == found.size_bytes == len(data)
    store.put("a", b"a second")
    for store.ignores_conditions in (False, True):
        with pytest.raises(StoreError, match="it changed while it was read") as error:
            fetched(store, found)
        assert error.value.refusal == CHANGED
    assert fetched(store) == b"a second"


def test_what_is_cut_on_the_way_goes_on_where_it_was_cut(store):
    data = bytes(range(256)) * 70_000
    store.put("a", data)
    store.cuts = {"a": [3 << 20, 0]}
    moved = []
    assert fetched(store, moved=moved.append) == data and sum(moved) == len(data) and store.cuts == {"a": []}
    # 8 MB a part: three, and the first one twice more
    assert len(store.fetched) == 3 + 2


def test_a_store_that_cuts_every_answer_is_an_error(store):
    store.put("a", b"one")
    store.cuts = {"a": [0] * 9}
    with pytest.raises(StoreError, match=r"cannot read 's3://.*/a': .*; check the network") as error:
        fetched(store)
    assert not error.value.refusal
