"""Outcomes say in words how the reading of a document ended."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from storage.records.documents import DocumentState, Page, PageParser
from tasks.events import DocumentBegan, subscribe
from tasks.finding.plan import UNFINISHED, DocumentWork
from tasks.ingest.outcomes import failed_outcome, outcome_of_error, page_notes, ready_outcome, watch_document
from tasks.models.chat.errors import ChatEndedError
from tasks.models.ocr import OcrError
from tasks.parsing.supervisor import ParserStartError
from tasks.progress import StoppedError, forget_stop, request_stop
from tasks.step import workplace
from tests.storage import worlds


@pytest.fixture
def events():
    token, events = workplace.set(SimpleNamespace(run_id="r1")), []
    with subscribe(events.append):
        yield events
    workplace.reset(token)


def end_of(events, outcome):
    with watch_document(WORK) as take:
        take(outcome)
    return events[-1]


def test_a_document_begins_under_its_name_and_one_that_is_ready_is_announced_with_its_pages_and_nodes(events):
    graph = worlds.graph("report")
    ended = end_of(events, ready_outcome(WORK, graph))
    assert events == [DocumentBegan("r1", WORK.document_id, "a.pdf"), ended]
    assert (ended.state, ended.pages, ended.nodes, ended.error) == ("ready", len(graph.pages), len(graph.nodes), "")
    assert ended.run == "r1" and 0 < ended.seconds < 10


def test_one_that_cannot_be_read_keeps_its_reason_and_its_attempt(events):
    outcome = failed_outcome(WORK, DocumentState.NEEDS_PASSWORD, "it is encrypted")
    ended = end_of(events, outcome)
    assert (ended.state, ended.pages, ended.error) == ("needs_password", 0, "it is encrypted")
    assert (outcome.graph, outcome.record.reason, outcome.record.attempt) == (None, "it is encrypted", "limits")


def test_a_reading_that_fails_is_announced_as_such_and_the_version_before_is_kept(events):
    published = replace(failed_outcome(WORK, DocumentState.FAILED, "").record, state=DocumentState.READY, version="old", nodes=7)
    outcome = failed_outcome(replace(WORK, published=published), DocumentState.FAILED, "it broke")
    ended, record = end_of(events, outcome), outcome.record
    assert (ended.state, ended.pages, ended.error) == ("failed", 0, "it broke")
    assert (record.version, record.state, record.nodes) == ("old", DocumentState.READY, 7) and "it broke" in record.notes[0]


@pytest.mark.parametrize(
    ("problem", "state", "error"), [(StoppedError(), "stopped", ""), (OSError("secret disk"), "failed", "OSError")]
)
def test_one_whose_reading_is_broken_off_was_stopped_and_what_ends_the_run_is_named_by_its_kind(events, problem, state, error):
    with pytest.raises(type(problem)), watch_document(WORK):
        raise problem
    assert (events[-1].state, events[-1].error, events[-1].pages) == (state, error, 0)


def test_an_error_of_ours_is_one_documents_failure_and_only_its_kind_is_logged(events):
    outcome = outcome_of_error(WORK, KeyError("the revenue of 2024"))
    assert outcome.record.state is DocumentState.FAILED and "report" in outcome.record.reason
    assert end_of(events, outcome).error == "KeyError"


WORK = DocumentWork(
    document_id="d" * 64, version="v" * 64, path="/in/a.pdf", paths=("/in/a.pdf",), size_bytes=3, attempt="limits", password=None
)


def page(number, parser, note=""):
    return Page(
        id=str(number), document_id="d", version="v", number=number, label=None, width_points=1, height_points=1,
        parser=parser, note=note, summary="", image=None,
    )  # fmt: skip


def test_pages_with_the_same_note_are_listed_together_and_usual_ones_need_none():
    pages = [page(n, PageParser.OCR) for n in (1, 2, 3, 7)] + [page(4, PageParser.PDFIUM, "MinerU used more than 3072 MB")]
    pages += [page(5, PageParser.NONE), page(8, PageParser.MINERU), page(9, PageParser.PLAIN)]
    read = ("pages 1-3, 7 read by ocr", "page 4 read by pdfium: MinerU used more than 3072 MB")
    assert page_notes(pages) == (*read, "page 5 not read")


def test_what_breaks_while_the_run_is_stopping_is_no_documents_failure():
    request_stop()
    try:
        with pytest.raises(StoppedError):
            outcome_of_error(WORK, RuntimeError("its child was stopped"))
    finally:
        forget_stop()


def test_a_file_that_cannot_be_opened_is_its_own_failure_and_is_tried_again():
    record = outcome_of_error(WORK, FileNotFoundError(2, "No such file or directory")).record
    assert record.state is DocumentState.FAILED and "No such file" in record.reason and record.attempt == ""


FATAL = [
    OSError(28, "No space left"),
    OSError(30, "Read-only file system"),
    MemoryError(),
    OcrError("no engine"),
    ParserStartError("none"),
    ChatEndedError("the budget is reached"),
]


@pytest.mark.parametrize("error", FATAL)
def test_what_would_hit_every_document_ends_the_run(error):
    with pytest.raises(type(error)):
        outcome_of_error(WORK, error)


def test_an_unfinished_document_is_published_and_tried_again():
    graph = worlds.graph("report")
    assert ready_outcome(WORK, graph).record.attempt == ""
    assert ready_outcome(WORK, graph, unfinished=True).record.attempt == UNFINISHED


def test_an_unfinished_document_that_fails_on_what_it_lacks_stays_and_stays_unfinished():
    published = replace(
        failed_outcome(WORK, DocumentState.FAILED, "").record, state=DocumentState.READY, attempt=UNFINISHED, nodes=7
    )
    record = failed_outcome(replace(WORK, published=published), DocumentState.FAILED, "too many", for_good=False).record
    assert (record.state, record.nodes, record.attempt) == (DocumentState.READY, 7, UNFINISHED)
    assert "too many" in record.notes[0]


@pytest.mark.parametrize("attempt", [UNFINISHED, "what failed with other settings"])
def test_a_rereading_that_may_go_better_the_next_time_leaves_the_published_version_all_that_it_says_of_itself(attempt):
    published = replace(
        failed_outcome(WORK, DocumentState.FAILED, "").record,
        state=DocumentState.READY,
        version="old",
        attempt=attempt,
        notes=("page 3",),
    )
    first = failed_outcome(replace(WORK, published=published), DocumentState.FAILED, "not kept", for_good=False).record
    again = failed_outcome(replace(WORK, published=first), DocumentState.FAILED, "too many", for_good=False).record
    assert first.attempt == again.attempt == attempt and len(again.notes) == 2
    assert "too many" in again.notes[0] and again.notes[1] == "page 3"
