"""Outcomes say in words how the reading of a document ended."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from storage.records import DocumentState, Page, PageParser
from tasks.happenings import DocumentBegan, heard_by
from tasks.models.chat_errors import BudgetReachedError, ChatServerDownError
from tasks.models.ocr import OcrError
from tasks.outcomes import failed, page_notes, ready, unexpected, watched_document
from tasks.parsers.supervisor import ParserStartError
from tasks.planning import UNFINISHED, DocumentWork
from tasks.progress import StoppedError, forget_stop, request_stop
from tasks.step import workplace
from tests.storage import worlds


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


WORK = DocumentWork(
    document_id="d" * 64, version="v" * 64, path="/in/a.pdf", paths=("/in/a.pdf",), size_bytes=3, attempt="limits", password=None
)


def page(number, parser, note=""):
    return Page(
        id=str(number), document_id="d", version="v", number=number, label=None, width_points=1, height_points=1,
        parser=parser, note=note, summary="", image=None,
    )  # fmt: skip


def test_usual_pages_need_no_note():
    assert page_notes([page(1, PageParser.MINERU), page(2, PageParser.PLAIN)]) == ()


def test_pages_with_the_same_story_are_told_together():
    pages = [page(n, PageParser.OCR) for n in (1, 2, 3, 7)] + [page(4, PageParser.PDFIUM, "MinerU used more than 3072 MB")]
    assert page_notes(pages) == ("pages 1-3, 7 read by ocr", "page 4 read by pdfium: MinerU used more than 3072 MB")


def test_a_failed_document_keeps_its_reason_and_its_attempt():
    outcome = failed(WORK, DocumentState.NEEDS_PASSWORD, "it is encrypted")
    assert outcome.graph is None and outcome.record.reason == "it is encrypted" and outcome.record.attempt == "limits"


def test_our_own_stumbling_is_one_documents_failure():
    record = unexpected(WORK, KeyError("caption")).record
    assert record.state is DocumentState.FAILED and "KeyError" in record.reason and "report" in record.reason


def test_what_breaks_while_the_run_is_stopping_is_no_documents_failure():
    request_stop()
    try:
        with pytest.raises(StoppedError):
            unexpected(WORK, RuntimeError("its child was stopped"))
    finally:
        forget_stop()


def test_a_file_that_cannot_be_opened_is_its_own_failure_and_is_tried_again():
    record = unexpected(WORK, FileNotFoundError(2, "No such file or directory")).record
    assert record.state is DocumentState.FAILED and "No such file" in record.reason and record.attempt == ""


def test_a_published_version_stays_when_its_successor_fails():
    published = replace(failed(WORK, DocumentState.FAILED, "").record, state=DocumentState.READY, version="old", nodes=7)
    record = failed(replace(WORK, published=published), DocumentState.FAILED, "it broke").record
    assert (record.version, record.state, record.nodes) == ("old", DocumentState.READY, 7) and "it broke" in record.notes[0]


FATAL = [
    OSError(28, "No space left"),
    OSError(30, "Read-only file system"),
    MemoryError(),
    OcrError("no engine"),
    ParserStartError("none"),
]


@pytest.mark.parametrize("error", FATAL)
def test_what_would_hit_every_document_ends_the_run(error):
    with pytest.raises(type(error)):
        unexpected(WORK, error)


def test_what_hits_every_document_ends_the_run():
    for error in (ChatServerDownError("nobody answers"), BudgetReachedError("the budget is reached")):
        with pytest.raises(type(error)):
            unexpected(WORK, error)


def test_an_unfinished_document_is_published_and_tried_again():
    graph = worlds.graph("report")
    assert ready(WORK, graph).record.attempt == ""
    assert ready(WORK, graph, unfinished=True).record.attempt == UNFINISHED


def test_an_unfinished_document_that_fails_on_what_it_lacks_stays_and_stays_unfinished():
    published = replace(failed(WORK, DocumentState.FAILED, "").record, state=DocumentState.READY, attempt=UNFINISHED, nodes=7)
    record = failed(replace(WORK, published=published), DocumentState.FAILED, "too many", for_good=False).record
    assert (record.state, record.nodes, record.attempt) == (DocumentState.READY, 7, UNFINISHED)
    assert "too many" in record.notes[0]
