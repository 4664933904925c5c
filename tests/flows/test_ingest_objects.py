"""An ingest from an object store: what is new, changed and gone since the last one, and a store that cannot be read."""

import asyncio
import threading
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from flows.ingest import ingest
from storage.object_client import StoreError
from storage.object_copies import exclude_readers
from tasks.ingest.request import IngestRequest
from tasks.progress import forget_stop, request_stop
from tests.object_server import SECRET
from tests.program import flowreader, said
from tests.tasks.finding.test_object_mirror import copies, found


def page(words):
    return f"<h1>Tides</h1><p>{words}</p>".encode()


@pytest.fixture
def read_in(store, home):
    """A home into which two pages of the store were read."""
    store.put("in/tides.html", page("The tide turns twice a day and never asks why."))
    store.put("in/moon.html", page("The moon pulls at the sea and the sea follows slowly."))
    store.first = said("ingest", store.address("in/"), home=home)
    return home


@pytest.mark.torture
def test_new_changed_and_vanished_objects_are_seen_by_the_next_ingest(store, read_in):
    assert {document["name"] for document in store.first["documents"]} == {"tides.html", "moon.html"}
    shown = said("documents", "show", "tides.html", home=read_in)
    assert shown["paths"] == [store.address("in/tides.html")]
    assert sorted(store.fetched) == ["in/moon.html", "in/tides.html"], "a run looks twice and fetches once"
    runs = set((read_in / "corpora" / "default" / "runs").iterdir())
    store.requests.clear()
    assert said("ingest", store.address("in/"), home=read_in) == store.first
    assert store.requests == [("GET", "")] and set((read_in / "corpora" / "default" / "runs").iterdir()) == runs
    store.put("in/tides.html", page("The tide turns twice a day, and now we know why."))
    store.put("in/sand.html", page("The sand lies where the sea left it."))
    store.delete("in/moon.html")
    store.requests.clear()
    after = said("ingest", store.address("in/"), home=read_in)
    assert sorted(store.fetched) == ["in/sand.html", "in/tides.html"]
    assert {document["name"] for document in after["documents"]} == {"tides.html", "sand.html", "moon.html"}
    assert [item["path"] for item in after["skipped"]] == [store.address("in/moon.html")]
    assert "gone; its document is kept until `flowreader documents remove" in after["skipped"][0]["reason"]
    assert said("documents", "show", "tides.html", home=read_in)["id"] != shown["id"]
    words = b"".join(path.read_bytes() for path in read_in.rglob("*.jsonl"))
    assert store.address("in/").encode() in words and b"/mirrors/" not in words and SECRET.encode() not in words
    assert len(copies()) == 3
    said("corpora", "remove", "default", home=read_in)
    assert copies() == []


@pytest.fixture
def without_server(monkeypatch):
    """Let the flow's function be called as it is: its tags stand in Prefect's server, which has no part in this."""
    monkeypatch.setattr("flows.ingest.tag_run", AsyncMock())


def test_a_store_that_cannot_be_read_is_one_error_and_no_corpus_is_made(store, home, without_server):
    error = said("ingest", "s3://nowhere-at-all/in/", home=home, check=2)["error"]
    assert (
        "s3://nowhere-at-all/in/" in error["value"] and "NoSuchBucket" in error["what"] and "bucket that exists" in error["remedy"]
    )
    done = flowreader("ingest", "s3://AKIA:hunter2@data/in/", "--json", home=home, check=2)
    assert "hunter2" not in done.stdout + done.stderr and "AWS_ACCESS_KEY_ID" in done.stdout
    with pytest.raises(StoreError, match="NoSuchBucket"):
        asyncio.run(ingest.fn(IngestRequest(paths=("s3://nowhere-at-all/in/",))))
    assert not (home / "corpora").exists()


def test_a_deployed_ingest_that_is_stopped_while_it_fetches_is_cancelled(store, home, without_server):
    store.put("in/tides.html", page("The tide turns."))
    store.hold.clear()
    ends = [threading.Timer(1.0, request_stop), threading.Timer(1.2, store.hold.set)]
    for end in ends:
        end.start()
    try:
        state = asyncio.run(ingest.fn(IngestRequest(paths=(store.address("in/"),))))
    finally:
        forget_stop()
    assert state.is_cancelled() and "the same command goes on" in state.message
    assert not (home / "corpora").exists()


def test_copies_stay_as_long_as_an_ingest_reads_from_them(store, home, without_server, monkeypatch):
    async def read_in(request, found):
        with exclude_readers(home) as unused:
            return unused, [Path(file.path).read_bytes() for file in found.files]

    monkeypatch.setattr("flows.ingest.read_in", read_in)
    store.put("in/tides.html", page("The tide turns."))
    request = IngestRequest(paths=(store.address("in/"),))
    assert asyncio.run(ingest.fn(request)) == (False, [page("The tide turns.")])
    with exclude_readers(home) as unused:
        assert unused


def test_an_estimate_says_what_it_fetches_before_and_the_ingest_fetches_none_of_it(store, home):
    store.put("in/tides.html", page("The tide turns."))
    estimate = flowreader("ingest", store.address("in/"), "--estimate", home=home, check=0)
    size = len(page("The tide turns.")) / 1e6
    assert f"fetching 1 object ({size:.1f} MB) from {store.address('in/')} to look into them; the ingest" in estimate.stderr
    assert "1 document to read (1 page" in estimate.stdout and store.fetched == ["in/tides.html"]
    assert found(store.address("in/")).skipped == () and store.fetched == ["in/tides.html"]
