"""An address names a bucket and what lies in it, and is shown so that no other one looks the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import RequestError
from storage.object_address import StoreAddress, check_source, is_address, store_address
from storage.text import printable_path


def test_a_bucket_a_prefix_and_a_key_are_named():
    assert store_address("s3://data") == store_address("s3://data/") == StoreAddress("data", "")
    assert store_address("s3://data/reports/2024/") == StoreAddress("data", "reports/2024/")
    assert store_address("s3://data//a") == StoreAddress("data", "/a")
    assert is_address("s3://data") and not is_address("/data") and not is_address("s3:/data")


def test_credentials_in_an_address_are_refused_and_not_repeated():
    for address in ("s3://AKIA:hunter2@data/x", "s3://hunter2@data", "s3://AKIA:hunt/er2@data/x"):
        with pytest.raises(RequestError, match="AWS_ACCESS_KEY_ID") as refused:
            check_source(address)
        assert "er2" not in str(refused.value)
    assert check_source("s3://arn:aws:s3:eu-west-1:1:accesspoint:it/x").endswith("it/x")
    assert check_source("s3://data/who@where") == "s3://data/who@where"
    assert check_source("reports@home") == "reports@home"


def test_an_address_without_a_bucket_is_refused():
    for address in ("s3://", "s3:///key"):
        with pytest.raises(RequestError, match="names no bucket"):
            store_address(address)


def test_a_key_holds_itself_and_what_lies_below_as_a_folder_does():
    assert [key for key in ("a", "a/b", "ab", "b") if StoreAddress("x", "a").holds(key)] == ["a", "a/b"]
    assert [key for key in ("a", "a/b", "ab") if StoreAddress("x", "a/").holds(key)] == ["a/b"]
    assert StoreAddress("x", "").holds("anything")


def test_globs_see_the_key_below_the_address():
    assert StoreAddress("x", "a/").inner("a/b/c.pdf") == StoreAddress("x", "a").inner("a/b/c.pdf") == "b/c.pdf"
    assert StoreAddress("x", "a/c.pdf").inner("a/c.pdf") == "c.pdf"


def test_places_lie_in_places_as_folders_do():
    assert StoreAddress("x", "").below("a").below("b/c") == StoreAddress("x", "a/b/c")
    assert [StoreAddress("x", key).uri for key in ("", "a/b")] == ["s3://x", "s3://x/a/b"]


@given(st.text(max_size=6), st.text(max_size=6))
def test_no_two_keys_are_shown_alike_and_none_obeys(one, other):
    shown = StoreAddress("x", one).shown
    assert shown.isprintable() and printable_path(shown) == shown
    assert (shown == StoreAddress("x", other).shown) == (one == other)
