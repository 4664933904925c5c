"""Where a store does not answer or refuses us, one error says what was to be done, why it could not be, and the remedy, soon."""

import sys
import time

import pytest

from storage.object_client import StoreError, explained, make_client
from tests.object_server import SECRET


def refused(bucket="data"):
    """Ask for what a bucket holds, where that is to fail."""
    began = time.monotonic()
    with pytest.raises(StoreError, match=f"^cannot list 's3://{bucket}': ") as error, explained(f"list 's3://{bucket}'"):
        make_client(1).list_objects_v2(Bucket=bucket)
    assert time.monotonic() - began < 8 and SECRET not in str(error.value)
    return str(error.value)


def test_what_a_store_refuses_is_told_with_its_code_and_the_remedy(store):
    assert "does not exist (NoSuchBucket); name a bucket that exists" in refused("nowhere-at-all")
    assert "name a bucket that exists" in refused("no bucket")
    for code, remedy in (("AccessDenied", "rights"), ("InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"), ("SlowDown", "same command")):
        store.refusals[""] = code
        said, _, what_to_do = refused(store.bucket).partition("; ")
        assert said.endswith(f": no ({code})") and remedy in what_to_do


def test_an_answer_that_was_expected_is_no_error(store):
    with explained("look", quiet_where={"NoSuchBucket"}):
        make_client(1).list_objects_v2(Bucket="nowhere-at-all")
        raise AssertionError("the block goes on")


def test_a_store_that_is_not_there_is_said_to_be_so(store, monkeypatch):
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
