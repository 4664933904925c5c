"""The paper's flow on worlds small enough to see: one pass where the gate is quiet, one edit and a second pass where it fires."""

from dataclasses import dataclass, replace

import pytest

from storage.graph.search import Scope
from storage.records.answers import AnswerStatus
from storage.records.documents import EdgeKind, NodeKind
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import ReadingOutSettings
from tests.asking_worlds import Passage, answer_at, at_context, at_place, published, steps_of, written
from tests.scripted_answers import STRAIT
from tests.storage.worlds import document_id

FIRST = ["keywords", "candidates", "score", "lay-out", "route", "select", "fetch", "judge"]
SECOND = ["refine", "route", "select", "fetch", "judge"]
END = ["synthesize", "record"]
SIMILAR = EdgeKind.SEMANTIC
QUESTION = "How deep is the harbour?"
HARBOUR = written(
    "harbour",
    Passage("The harbour is 20 metres deep.", arcs=((1, SIMILAR, 0.6),)),
    Passage("Ships wait for the tide.", page=2, arcs=((0, SIMILAR, 0.6),)),
    Passage("Property: Value\nCrew: 7 people\nDepth of the harbour: 20 metres", page=3, kind=NodeKind.TABLE),
)
LONELY = written(
    "lonely", *[Passage(f"The {word} weighs 12 tonnes.", page=place + 1) for place, word in enumerate(("blade", "cable"))]
)
QUIET = {"gate": {"saturation": 0.0, "consistency": 0.0}}


@dataclass(frozen=True)
class Doubting(ExtractiveReader):
    """The extractive reader, which finds that no two answers agree."""

    def consistency(self, question, readings):
        return 0.0


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), HARBOUR, STRAIT, LONELY)) as context:
        yield context


def asked_of(context, name, text=QUESTION, *, reader=None, routing=None, **settings):
    """Return the answer of one document, and the steps that it took, readings aside."""
    before = len(steps_of(context.snapshot.location))
    settings["routing"] = {"network": "paper"} | (routing or {})
    place = at_place(context, Scope(documents=(document_id(name),)), **settings)
    answer = answer_at(replace(place, reader=reader or place.reader), text)
    return answer, [step for step in steps_of(context.snapshot.location)[before:] if step != "read"]


def test_where_the_gate_is_quiet_the_evidence_is_read_once(context):
    answer, steps = asked_of(context, "harbour", **QUIET)
    assert steps == [*FIRST, *END] and answer.status is AnswerStatus.EVIDENCE and "20 metres" in answer.citations[0].quote
    assert answer.gate.triggered == "" and answer.gate.edits == () and answer.paths
    assert all(path.flow > 0 and 0 <= path.share <= 1 for path in answer.paths)
    assert {place.page for path in answer.paths for place in path.pages} == {place.page for place in answer.evidence_pages}
    assert answer.completeness is answer.refusal is None and {page.probability for page in answer.pages} == {None}


def test_without_support_the_evidence_starts_from_more_places_and_is_read_again(context):
    answer, steps = asked_of(context, "harbour", "How many zebras live in a zoo?", routing={"sources": 1})
    assert steps == [*FIRST, *SECOND, *END] and answer.status is AnswerStatus.NOT_FOUND and not answer.answer
    assert answer.gate.triggered == "no_support" and any(edit.kind == "source" for edit in answer.gate.edits)


def test_a_strained_flow_is_bridged_or_weighed_anew_and_read_again(context):
    settings = {"gate": {"saturation": 0.95}, "routing": {"sources": 2}}
    answer, steps = asked_of(context, "strait", "How deep is the harbour at low tide?", **settings)
    assert steps == [*FIRST, *SECOND, *END] and answer.gate.saturation < 0.95
    assert answer.gate.triggered == "low_saturation" and answer.status is AnswerStatus.EVIDENCE
    assert {edit.kind for edit in answer.gate.edits} == {"bridge", "re-weight"}


def test_a_gate_that_would_fire_again_does_not(context):
    reader = Doubting(ReadingOutSettings())
    answer, steps = asked_of(context, "harbour", reader=reader, gate={"consistency": 1.0, "saturation": 0.0})
    assert steps == [*FIRST, *SECOND, *END] and answer.gate.triggered == "low_consistency"


def test_a_gate_that_is_switched_off_never_refines(context):
    answer, steps = asked_of(context, "harbour", "Who sings?", gate={"enabled": False})
    assert steps == [*FIRST, *END] and answer.gate.triggered == "" and answer.status is AnswerStatus.NOT_FOUND


def test_where_every_score_is_zero_nothing_is_found_and_the_answer_says_why(context):
    answer, steps = asked_of(context, "lonely", "zebra", relevance={"lexical_share": 1.0})
    assert answer.status is AnswerStatus.NOT_FOUND and not answer.answer and answer.why
    assert [page.score for page in answer.pages] == [0.0, 0.0] and answer.citations == ()
    assert steps == [*FIRST, *SECOND, *END] and answer.gate.triggered == "no_support"
