"""`plan` on worlds small enough to see: a question as several, evidence for each, and once more what no quote holds."""

from dataclasses import dataclass, replace

import pytest

from storage.artifacts import kept_artifacts
from storage.graph.search import Scope
from storage.records.answers import AnswerStatus, TraceKind
from storage.records.documents import EdgeKind
from storage.runs.answers import without_words
from tasks.asking.records import PathReading
from tasks.reading.rules import ExtractiveReader
from tasks.report.write import render_report
from tasks.settings.base import changed
from tasks.settings.reader_methods import PLAN_ABLATIONS
from tests.asking_worlds import Passage, answer_at, at_context, at_place, published, steps_of, written
from tests.storage.worlds import document_id

COMPARED = "Which has more cranes, the yard of Merrow or the yard of Ostrand?"
PARTS = "How deep is the harbour at low tide, and what does the blade cost?"
ALDRE = written(
    "aldre",
    Passage("The yard of Merrow has 14 cranes of steel.", page=1),
    Passage("The yard of Ostrand has 9 cranes of steel.", page=2),
    Passage("At low tide the harbour is 6 metres deep.", page=3, arcs=((3, EdgeKind.NEXT, 0.5),)),
    Passage("It was measured in May.", page=4),
    Passage("The price: a blade costs 700 pounds.", page=5),
    *[Passage(f"A storm came in year {year}.", page=year) for year in range(6, 12)],
)
NOTE = written("note", Passage("A crew of steel workers."))


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), ALDRE, NOTE)


@pytest.fixture
def context(location, home):
    with at_context(location, plan={"nodes": 2, "neighbours": 1}) as context:
        yield context


def planned(context, text=PARTS, **method):
    plan = context.settings.plan.model_copy(update=method)
    return answer_at(at_place(context, plan=plan.model_dump()), text, reader="plan")


def pages(places):
    return [place.page for place in places]


def kinds(answer):
    return [step.kind for step in answer.trace]


def test_each_part_of_a_question_has_evidence_of_its_own(context):
    answer = planned(context, neighbours=0, nodes=1)
    assert answer.reader == "plan" and answer.status is AnswerStatus.EVIDENCE and answer.gate is None
    assert [step.asked for step in answer.trace[:2]] == ["How deep is the harbour at low tide", "what does the blade cost"]
    assert [pages(step.pages) for step in answer.trace[:2]] == [[3], [5]] and pages(answer.evidence_pages) == [3, 5]
    assert {citation.page for citation in answer.citations} == {3, 5}
    for step in answer.trace:
        print(step)
    print(answer)
