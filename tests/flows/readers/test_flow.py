"""FlowReader on worlds small enough to see: one pass where the gate is quiet, one edit and a second pass where it fires."""

from dataclasses import dataclass, replace
from inspect import iscoroutinefunction

import pytest

from flows.readers import READER_MODULES, flow
from storage.graph.search import Scope
from storage.records.answers import AnswerStatus
from storage.records.documents import EdgeKind, NodeKind
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import ReadingOutSettings
from tasks.settings.readers import READERS
from tests.asking_worlds import Passage, answer_at, at_context, at_place, published, run_of, steps_of, written
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
ISLANDS = written(
    "islands",
    *[
        Passage(f"The harbour of island {n} is {n}0 metres deep at low tide.", page=n, arcs=((n % 6, SIMILAR, 0.5),))
        for n in range(1, 7)
    ],
)
LONG = "The harbour is {}0 metres deep at low tide, say the pilots, who sound it with a lead line every spring, storm or no storm."
STRAIT = written(
    "strait",
    *[Passage(f"The harbour {word} the tide.", page=page) for page, word in enumerate(("and", "without", "before", "behind"), 1)],
    *[Passage(LONG.format(page), page=page, arcs=((10 - page, SIMILAR, 0.9),)) for page in (5, 6)],
)
"""Short passages that no arc joins to the long ones, which can answer."""
NOTE = written("note", Passage("A cable costs 7 pounds."))
LONELY = written(
    "lonely", *[Passage(f"The {word} weighs 12 tonnes.", page=place + 1) for place, word in enumerate(("blade", "cable"))]
)


@dataclass(frozen=True)
class Doubting(ExtractiveReader):
    """The extractive reader, which finds that no two answers agree."""

    def consistency(self, question, readings):
        return 0.0


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), HARBOUR, ISLANDS, STRAIT, NOTE, LONELY)) as context:
        yield context


def asked_of(context, name, text=QUESTION, *, reader=None, **settings):
    """Return the answer of one document, and the steps that it took, readings aside."""
    before = len(steps_of(context.snapshot.location))
    place = at_place(context, Scope(documents=(document_id(name),)), **settings)
    answer = answer_at(replace(place, reader=reader or place.reader), text)
    return answer, [step for step in steps_of(context.snapshot.location)[before:] if step != "read"]


QUIET = {"gate": {"saturation": 0.0, "consistency": 0.0}}


def test_every_reader_that_the_command_line_names_is_a_module():
    assert READER_MODULES["flow"] is flow and tuple(READER_MODULES) == READERS
    assert all(isinstance(module.GATED, bool) and iscoroutinefunction(module.read) for module in READER_MODULES.values())


def test_where_the_gate_is_quiet_the_evidence_is_read_once(context):
    answer, steps = asked_of(context, "harbour", **QUIET)
    assert steps == [*FIRST, *END] and answer.status is AnswerStatus.EVIDENCE and "20 metres" in answer.answer
    assert answer.gate.triggered == "" and answer.gate.edits == () and answer.paths
    assert all(path.flow > 0 and 0 <= path.share <= 1 for path in answer.paths)


@pytest.mark.parametrize("formulation", ["prizes", "paper"])
def test_without_support_the_evidence_starts_from_more_places_and_is_read_again(context, formulation):
    routing = {"formulation": formulation, "sources": 1, "start_pages": 1}
    answer, steps = asked_of(context, "harbour", "How many zebras live beside the tide?", routing=routing)
    assert steps == [*FIRST, *SECOND, *END] and answer.status is AnswerStatus.NOT_FOUND and not answer.answer
    assert answer.gate.triggered == "no_support" and any(edit.kind == "source" for edit in answer.gate.edits)


@pytest.mark.parametrize("formulation", ["prizes", "paper"])
def test_a_strained_flow_is_bridged_or_weighed_anew_and_read_again(context, formulation):
    settings = {"gate": {"saturation": 0.95}, "routing": {"formulation": formulation, "sinks": 2}}
    answer, steps = asked_of(context, "strait", "How deep is the harbour at low tide?", **settings)
    assert steps == [*FIRST, *SECOND, *END] and answer.gate.saturation < 0.95
    assert answer.gate.triggered == "low_saturation" and answer.status is AnswerStatus.EVIDENCE
    assert {edit.kind for edit in answer.gate.edits} <= {"bridge", "re-weight"}
    places = {node.id: node.page for node in STRAIT.nodes}
    bridges = [(places[edit.source], places[edit.target]) for edit in answer.gate.edits if edit.kind == "bridge"]
    assert bridges and all((source < 5) != (target < 5) for source, target in bridges)
    assert formulation == "prizes" or all(source < 5 for source, _ in bridges)


@pytest.mark.parametrize("formulation", ["prizes", "paper"])
def test_answers_that_disagree_have_their_arcs_weighed_anew_and_are_read_again(context, formulation):
    settings = {"routing": {"formulation": formulation}, "gate": {"saturation": 0.0}}
    answer, steps = asked_of(context, "islands", "How deep is the harbour?", reader=Doubting(ReadingOutSettings()), **settings)
    assert steps == [*FIRST, *SECOND, *END]
    assert answer.gate.triggered == "low_consistency"
    # The paper's sources have no arcs between these islands.
    assert {edit.kind for edit in answer.gate.edits} == ({"re-weight"} if formulation == "prizes" else set())


def test_a_gate_that_would_fire_again_does_not(context):
    reader = Doubting(ReadingOutSettings())
    _, steps = asked_of(context, "islands", reader=reader, gate={"consistency": 1.0, "saturation": 0.0})
    assert steps.count("refine") == 1 and steps.count("route") == steps.count("judge") == 2


def test_a_gate_that_is_switched_off_never_refines(context):
    answer, steps = asked_of(context, "note", "Who sings?", gate={"enabled": False})
    assert steps == [*FIRST, *END] and answer.gate.triggered == "" and answer.status is AnswerStatus.NOT_FOUND


def test_the_lineage_records_what_was_read_of_every_path(context):
    before = len(run_of(context.snapshot.location).steps())
    answer, _ = asked_of(context, "islands", **QUIET)
    (own,) = [record for record in run_of(context.snapshot.location).steps()[before:] if record.step == "read"]
    assert len(own.outputs) == len(answer.paths) > 1 and own.subject == answer.answer_id


def test_a_graph_without_arcs_is_answered(context):
    answer, _ = asked_of(context, "lonely", "What does the blade weigh?")
    assert answer.status is AnswerStatus.EVIDENCE and "12 tonnes" in answer.answer
    assert answer.citations[0].page == 1


def test_one_node_is_answered(context):
    answer, _ = asked_of(context, "note", "What does a cable cost?")
    assert answer.status is AnswerStatus.EVIDENCE and "7 pounds" in answer.answer
    assert [path.nodes for path in answer.paths] == [(NOTE.nodes[0].id,)]


@pytest.mark.parametrize("formulation", ["prizes", "paper"])
def test_where_every_score_is_zero_nothing_is_found_and_the_answer_says_why(context, formulation):
    settings = {"relevance": {"lexical_share": 1.0}, "routing": {"formulation": formulation}}
    answer, steps = asked_of(context, "lonely", "zebra", **settings)
    assert answer.status is AnswerStatus.NOT_FOUND and not answer.answer and answer.why
    assert [page.score for page in answer.pages] == [0.0, 0.0] and answer.citations == ()
    assert steps == [*FIRST, *SECOND, *END] and answer.gate.triggered == "no_support"


def test_what_the_paths_stand_on_is_in_the_snapshot(context):
    answer, _ = asked_of(context, "islands")
    nodes = {node.id: node for node in ISLANDS.nodes}
    for path in answer.paths:
        assert [place.page for place in path.pages] == list(dict.fromkeys(nodes[name].page for name in path.nodes))
    assert {place.page for path in answer.paths for place in path.pages} == {place.page for place in answer.evidence_pages}
