"""The baseline: the most relevant passages, each read by itself; no path, no gate."""

import pytest

from storage.records.answers import AnswerStatus
from tests.asking_worlds import Passage, answer_at, at_context, at_place, published, run_of, written

REPORT = written("report", *[Passage(f"On day {day} the tide was {day}0 cm high.", page=day) for day in range(1, 8)])


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), REPORT)) as context:
        yield context


def asked_of(context, text, **settings):
    before = len(run_of(context.snapshot.location).steps())
    answer = answer_at(at_place(context, **settings), text, reader="top-k")
    return answer, [record.step for record in run_of(context.snapshot.location).steps()[before:]]


def test_the_best_passages_are_read_each_by_itself(context):
    answer, steps = asked_of(context, "How high was the tide on day 4?", selection={"read": 3})
    assert steps == ["keywords", "candidates", "relevance", "best-passages", "fetch", "read", "synthesize", "record"]
    assert len(answer.evidence_pages) == 3


def test_an_answer_has_citations_and_pages_and_neither_paths_nor_a_gate(context):
    answer, _ = asked_of(context, "How high was the tide on day 4?")
    assert answer.refusal is not None and answer.reader == "top-k" and answer.paths == () and answer.gate is None
    assert answer.status is not AnswerStatus.NOT_FOUND and answer.pages[0].page == answer.citations[0].page == 4
    assert [page.score for page in answer.pages] == sorted((page.score for page in answer.pages), reverse=True)


def test_nothing_is_found_and_not_refined(context):
    answer, steps = asked_of(context, "zebra")
    assert answer.status is AnswerStatus.NOT_FOUND and not answer.answer and "refine" not in steps
