"""Other systems hear of documents by their ids, of a bounded number, and of the folders that were asked for."""

import re

import pytest
from prefect.types.names import validate_valid_asset_key

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.locations import corpus_location
from tasks.ingest.request import IngestRequest
from tasks.lineage import data_flow
from tasks.lineage.data_flow import answered, asset_key, ingested
from tasks.lineage.search import opened_sources
from tasks.lineage.walk import run_walk
from tests.lineage_worlds import INGEST, ingest_run
from tests.storage import worlds
from tests.storage.answer_worlds import answer

REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")


@pytest.mark.parametrize("name", ["/in/a b#?&%\"'<>[]{}|\\^`\n\t", "/in/\udcff", "/" + "x" * 600, "small/ab"])
def test_every_name_makes_a_key_that_prefect_takes(name):
    assert re.match("(file|flowreader)://", validate_valid_asset_key(asset_key("file", name)))


def test_an_ingest_read_folders_and_made_the_documents_that_are_published(home):
    location = corpus_location("small")
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, REPORT)
        corpus.index()
    ingest_run(location, REPORT, PAPER)
    request = IngestRequest(paths=("/files",), corpus="small")
    with open_for_reading(location) as snapshot, opened_sources(snapshot) as sources:
        made = ingested(request, sources, run_walk(sources, INGEST))
    assert made.inputs == ("file:///files",)
    assert made.outputs == (f"flowreader://small/{REPORT.document_id}",)


def test_an_answer_is_made_of_the_documents_that_it_used_and_no_name_is_told():
    given = answer("report", "paper")
    told = answered(given)
    assert told.inputs == tuple(f"flowreader://default/{graph.document_id}" for graph in (REPORT, PAPER))
    assert told.outputs == (f"flowreader://default/answers/{given.answer_id}",)
    assert ".pdf" not in repr(told)


def test_what_is_left_out_is_counted(monkeypatch):
    monkeypatch.setattr(data_flow, "READ_AT_MOST", 1)
    told = answered(answer("report", "paper"))
    assert (told.inputs, told.left_out) == ((f"flowreader://default/{REPORT.document_id}",), 1)
