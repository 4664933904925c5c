"""What becomes of a document is told under the run that reads it, without a word of its text."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from storage.records import DocumentState
from tasks.document_happenings import watched_document
from tasks.happenings import DocumentBegan, heard_by
from tasks.outcomes import failed, ready, unexpected
from tasks.planning import DocumentWork
from tasks.progress import StoppedError
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
    with watched_document(WORK) as told:
        told(outcome)
    return heard[-1]


def test_a_document_begins_under_its_name(heard):
    with watched_document(WORK) as told:
        assert heard == [DocumentBegan("r1", WORK.document_id, "a.pdf")]
        told(failed(WORK, DocumentState.FAILED, "cut"))
    assert len(heard) == 2


def test_one_that_is_ready_is_told_with_its_pages_and_nodes(heard):
    graph = worlds.graph("report")
    told = end_of(heard, ready(WORK, graph))
    assert (told.state, told.pages, told.nodes, told.error) == ("ready", len(graph.pages), len(graph.nodes), "")
    assert told.run == "r1" and 0 < told.seconds < 10


def test_one_that_cannot_be_read_is_told_with_the_reason(heard):
    told = end_of(heard, failed(WORK, DocumentState.NEEDS_PASSWORD, "it is encrypted"))
    assert (told.state, told.pages, told.error) == ("needs_password", 0, "it is encrypted")


def test_a_reading_that_fails_is_told_as_such_though_the_one_before_is_kept(heard):
    published = replace(failed(WORK, DocumentState.FAILED, "").record, state=DocumentState.READY, version="old", pages=7)
    told = end_of(heard, failed(replace(WORK, published=published), DocumentState.FAILED, "it broke"))
    assert (told.state, told.pages, told.error) == ("failed", 0, "it broke")


@pytest.mark.parametrize(
    ("problem", "state", "error"), [(StoppedError(), "stopped", ""), (OSError("secret disk"), "failed", "OSError")]
)
def test_one_whose_reading_is_broken_off_was_stopped_and_what_ends_the_run_is_told_by_its_kind(heard, problem, state, error):
    with pytest.raises(type(problem)), watched_document(WORK):
        raise problem
    assert (heard[-1].state, heard[-1].error, heard[-1].pages) == (state, error, 0)


def test_of_our_own_stumbling_only_the_kind_is_told(heard):
    assert end_of(heard, unexpected(WORK, KeyError("the revenue of 2024"))).error == "KeyError"
