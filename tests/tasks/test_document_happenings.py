"""What becomes of a document is told under the run that reads it, without a word of its text."""

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from storage.records import DocumentState
from tasks.document_happenings import document_began, document_ended
from tasks.happenings import DocumentBegan, heard_by
from tasks.outcomes import failed, ready, unexpected
from tasks.planning import DocumentWork
from tasks.step import workplace
from tests.storage import worlds

WORK = DocumentWork(
    document_id="d" * 64, version="v" * 64, path="/in/a.pdf", paths=("/in/a.pdf",), size_bytes=3, attempt="limits", password=None
)


@pytest.fixture
def heard():
    token, told = workplace.set(SimpleNamespace(run_id="r1")), []
    with heard_by(told.append):
        yield told
    workplace.reset(token)


def end_of(heard, outcome):
    document_ended(WORK, outcome, began=time.monotonic() - 2)
    return heard[-1]


def test_a_document_begins_under_its_name(heard):
    began = document_began(WORK)
    assert heard == [DocumentBegan("r1", WORK.document_id, "a.pdf")] and began <= time.monotonic()


def test_one_that_is_ready_is_told_with_its_pages_and_nodes(heard):
    graph = worlds.graph("report")
    told = end_of(heard, ready(WORK, graph))
    assert (told.state, told.pages, told.nodes, told.error) == ("ready", len(graph.pages), len(graph.nodes), "")
    assert told.run == "r1" and 2 <= told.seconds < 10


def test_one_that_cannot_be_read_is_told_with_the_reason(heard):
    told = end_of(heard, failed(WORK, DocumentState.NEEDS_PASSWORD, "it is encrypted"))
    assert (told.state, told.pages, told.error) == ("needs_password", 0, "it is encrypted")


def test_a_reading_that_fails_is_told_as_such_though_the_one_before_is_kept(heard):
    published = replace(failed(WORK, DocumentState.FAILED, "").record, state=DocumentState.READY, version="old", pages=7)
    told = end_of(heard, failed(replace(WORK, published=published), DocumentState.FAILED, "it broke"))
    assert (told.state, told.pages, told.error) == ("failed", 0, "it broke")


def test_of_our_own_stumbling_only_the_kind_is_told(heard):
    assert end_of(heard, unexpected(WORK, KeyError("the revenue of 2024"))).error == "KeyError"
