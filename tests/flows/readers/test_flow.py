"""FlowReader on worlds small enough to see: pages that are worth their price, read in chains; a gate where a model reads."""

from dataclasses import replace
from inspect import iscoroutinefunction

import pytest

from flows.readers import READER_MODULES, flow, paper, reader_module
from storage.graph.search import Scope
from storage.records.answers import AnswerStatus
from storage.records.documents import EdgeKind
from tasks.settings.ask import AskSettings, method_of
from tasks.settings.readers import READERS
from tests.asking_worlds import Passage, answer_at, at_context, at_place, published, run_of, steps_of, written
from tests.scripted_answers import EVERY_PAGE, ONE_PAGE, Reader, read_by
from tests.storage.worlds import document_id

FOUND = ["keywords", "candidates", "score", "size", "route", "fetch"]
JUDGED = ["judge"]
SECOND = ["refine", "fetch", "judge"]
END = ["synthesize", "record"]
SIMILAR = EdgeKind.SEMANTIC
QUESTION = "How deep is the harbour?"
ISLANDS = written(
    "islands",
    *[
        Passage(f"The harbour of island {n} is {n}0 metres deep at low tide.", page=1 + n // 2, arcs=((n % 8, SIMILAR, 0.5),))
        for n in range(1, 9)
    ],
)
NOTE = written("note", Passage("A cable costs 7 pounds."))
LONELY = written(
    "lonely", *[Passage(f"The {word} weighs 12 tonnes.", page=place + 1) for place, word in enumerate(("blade", "cable"))]
)
ONE_DEPTH, DEPTHS = Reader({"metres deep": "it is deep"}), Reader({f"{n}0 metres": f"{n}0 metres" for n in range(1, 9)})


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), ISLANDS, NOTE, LONELY)


@pytest.fixture
def context(location, home):
    with at_context(location) as context:
        yield context


def steps_since(context, before):
    """Return the steps of the last question, readings aside."""
    return [step for step in steps_of(context.snapshot.location)[before:] if step != "read"]


def asked_of(context, name, text=QUESTION, **settings):
    """Return the answer of one document by rules, and the steps that it took."""
    before = len(steps_of(context.snapshot.location))
    answer = answer_at(at_place(context, Scope(documents=(document_id(name),)), **settings), text)
    return answer, steps_since(context, before)


def read_of(context, model, text=QUESTION):
    """Return the answer of a model that reads the islands, and the steps that it took."""
    before = len(steps_of(context.snapshot.location))
    with read_by(replace(context, scope=Scope(documents=(document_id("islands"),))), model) as (place, _):
        answer = answer_at(place, text)
    return answer, steps_since(context, before)


def test_every_reader_that_the_command_line_names_is_a_module_and_the_paper_is_one_of_its_own():
    assert tuple(READER_MODULES) == (*READERS, "paper")
    assert all(callable(module.most_calls) and iscoroutinefunction(module.read) for module in READER_MODULES.values())
    assert reader_module("flow", AskSettings()) is flow and reader_module("flow", method_of("paper").ask) is paper
    assert reader_module("top-k", method_of("paper").ask) is READER_MODULES["top-k"]


def test_where_rules_read_the_evidence_is_read_once_and_there_is_no_gate(context):
    answer, steps = asked_of(context, "islands")
    assert steps == [*FOUND, *END] and answer.gate is None and answer.refusal is not None
    assert answer.status is AnswerStatus.EVIDENCE and answer.citations and answer.paths
    assert {(path.flow, path.quality, path.share) for path in answer.paths} == {(1.0, None, None)}
    lost, steps = asked_of(context, "islands", "Who sings?")
    assert steps == [*FOUND, *END] and (lost.status, lost.answer, lost.gate) == (AnswerStatus.NOT_FOUND, "", None)


def test_each_page_that_is_read_has_a_path_that_begins_on_it_in_the_order_of_their_probability(context):
    answer, _ = asked_of(replace(context, weights=EVERY_PAGE), "islands")
    nodes = {node.id: node for node in ISLANDS.nodes}
    assert [nodes[path.nodes[0]].page for path in answer.paths] == [place.page for place in answer.evidence_pages]
    assert len(answer.evidence_pages) == 5 and any(len(path.nodes) > 1 for path in answer.paths)
    for path in answer.paths:
        assert [place.page for place in path.pages] == list(dict.fromkeys(nodes[name].page for name in path.nodes))


def test_the_lineage_records_what_was_read_of_every_path(context):
    before = len(run_of(context.snapshot.location).steps())
    answer, _ = asked_of(context, "islands")
    (own,) = [record for record in run_of(context.snapshot.location).steps()[before:] if record.step == "read"]
    assert len(own.outputs) == len(answer.paths) > 1 and own.subject == answer.answer_id


def test_where_a_model_reads_and_its_answers_agree_the_gate_is_quiet(context):
    answer, steps = read_of(replace(context, weights=EVERY_PAGE), ONE_DEPTH)
    assert steps == [*FOUND, *JUDGED, *END] and answer.status is AnswerStatus.ANSWERED
    assert (answer.gate.consistency, answer.gate.saturation, answer.gate.triggered, answer.gate.edits) == (1.0, None, "", ())


def test_without_support_a_model_reads_twice_as_many_pages_once_more(context):
    answer, steps = read_of(replace(context, weights=ONE_PAGE), Reader({}), "Where do zebras live beside the tide?")
    assert steps == [*FOUND, *JUDGED, *SECOND, *END] and answer.status is AnswerStatus.NOT_FOUND
    assert answer.gate.triggered == "no_support" and {edit.kind for edit in answer.gate.edits} == {"source"}


def test_answers_that_disagree_have_the_steps_between_them_weighed_anew_and_are_read_once_more(context):
    answer, steps = read_of(replace(context, weights=EVERY_PAGE), DEPTHS)
    assert steps == [*FOUND, *JUDGED, *SECOND, *END] and answer.gate.consistency < 0.65
    assert answer.gate.triggered == "low_consistency" and {edit.kind for edit in answer.gate.edits} == {"re-weight"}


def test_a_gate_that_is_switched_off_never_refines(context):
    before = len(steps_of(context.snapshot.location))
    with read_by(context, Reader({}), settings=_gate_off()) as (place, _):
        answer = answer_at(place, QUESTION)
    assert steps_since(context, before) == [*FOUND, *JUDGED, *END] and answer.gate.triggered == ""


def _gate_off():
    return AskSettings.model_validate({"gate": {"enabled": False}, "reading": {"by": "model"}})


def test_a_graph_without_arcs_is_answered(context):
    answer, _ = asked_of(context, "lonely", "What does the blade weigh?")
    assert answer.status is AnswerStatus.EVIDENCE and "12 tonnes" in answer.citations[0].quote and answer.citations[0].page == 1


def test_one_node_is_answered(context):
    answer, _ = asked_of(context, "note", "What does a cable cost?")
    assert answer.status is AnswerStatus.EVIDENCE and "7 pounds" in answer.citations[0].quote
    assert [path.nodes for path in answer.paths] == [(NOTE.nodes[0].id,)]


def test_where_every_score_is_zero_nothing_is_found_and_the_answer_says_why(context):
    answer, steps = asked_of(context, "lonely", "zebra", relevance={"lexical_share": 1.0})
    assert answer.status is AnswerStatus.NOT_FOUND and not answer.answer and answer.why
    assert [page.score for page in answer.pages] == [0.0, 0.0] and answer.citations == answer.evidence_pages == ()
    assert steps == [*FOUND, *END] and answer.completeness is None
