import os
import subprocess
import sys

import pytest

from storage import object_store
from storage.object_address import StoreAddress
from storage.object_client import StoreError
from storage.object_store import Look, ObjectStore, lance_options


@pytest.fixture
def store(shared):
    return ObjectStore(shared)


def test_what_is_put_is_read_and_looked_at(store):
    tag = store.put("a/b", b"bytes", over=None)
    found = store.read("a/b")
    assert (found.data, found.tag, store.look("a/b")) == (b"bytes", tag, Look(5, tag))


def test_what_is_not_there_is_none(store):
    assert (store.read("a"), store.look("a"), list(store.names("")), store.folders("")) == (None, None, [], [])


def test_nothing_is_put_over_an_object_that_is_there(store):
    store.put("a", b"first", over=None)
    assert store.put("a", b"second", over=None) is None
    assert store.read("a").data == b"first"


def test_an_object_is_replaced_only_as_it_was_seen(store):
    seen = store.put("a", b"first", over=None)
    store.put("a", b"second", over=seen)
    assert store.put("a", b"third", over=seen) is None
    assert store.put("gone", b"third", over=seen) is None
    assert store.read("a").data == b"second"


def test_names_and_folders_are_those_below(store):
    for name in ("corpora/one/CURRENT", "corpora/two/CURRENT", "corpora/two/lance/a", "other"):
        store.put(name, b"", over=None)
    assert list(store.names("corpora/two/")) == ["corpora/two/CURRENT", "corpora/two/lance/a"]
    assert store.folders("corpora/") == ["one", "two"]


def test_more_objects_than_one_request_takes_are_deleted(store, monkeypatch):
    monkeypatch.setattr(object_store, "DELETE_AT_ONCE", 2)
    for name in "abcde":
        store.put(name, b"", over=None)
    store.delete(["a", "b", "c", "d", "never there"])
    assert list(store.names("")) == ["e"]


def test_a_delete_that_is_refused_is_told(store, monkeypatch):
    class Refusing:
        def delete_objects(self, **_asked):
            return {"Errors": [{"Code": "AccessDenied", "Message": "Access Denied"}]}

    monkeypatch.setattr(object_store, "client", Refusing)
    with pytest.raises(StoreError, match=r"cannot delete 's3://.*/a' of FLOWREADER_STORE: .*\(AccessDenied\); .*to delete"):
        store.delete(["a"])


def test_a_missing_bucket_is_named_and_where_it_was_named(store):
    absent = ObjectStore(StoreAddress("no-such-bucket", "x"))
    for ask in (lambda: absent.read("a"), lambda: absent.put("a", b"", over=None), lambda: list(absent.names(""))):
        with pytest.raises(StoreError, match=r"'s3://no-such-bucket/x.*' of FLOWREADER_STORE: .*bucket does not exist \(NoSuchB"):
            ask()


@pytest.mark.parametrize(
    ("endpoint", "told"),
    [
        ("", {}),
        ("http://127.0.0.1:9000", {"aws_endpoint": "http://127.0.0.1:9000", "allow_http": "true"}),
        ("https://s3.example", {"aws_endpoint": "https://s3.example", "allow_http": "false"}),
    ],
)
def test_lance_is_told_of_an_endpoint_without_tls(monkeypatch, endpoint, told):
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    assert lance_options() == told


def test_without_a_store_boto3_is_never_loaded():
    modules = "flows.commands, flows.ingest_command, storage.corpus, storage.snapshot, tasks.removing"
    reads_and_writes = f"import sys, {modules}; sys.exit('boto3' in sys.modules)"
    environment = {name: value for name, value in os.environ.items() if name != "FLOWREADER_STORE"}
    assert subprocess.run([sys.executable, "-c", reads_and_writes], env=environment, check=False).returncode == 0
