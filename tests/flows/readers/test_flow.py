"""What flow, the paper's flow and the baseline do step by step, on documents small enough to see."""

from dataclasses import dataclass, replace
from inspect import iscoroutinefunction

from flows.readers import READER_MODULES, flow, paper, reader_module
from storage.records.answers import AnswerStatus
from storage.records.documents import NodeKind
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import AskSettings, ReadingOutSettings, method_of
from tasks.settings.readers import READERS
from tests.asking_worlds import Passage, answer_at, at_place, run_of, steps_of, written
from tests.library import LONELY, SIMILAR, alone
from tests.scripted_answers import EVERY_PAGE, ONE_PAGE, STRAIT, Reader, read_by

FOUND = ["keywords", "candidates", "score", "size", "route", "fetch"]
JUDGED = ["judge"]
SECOND = ["refine", "fetch", "judge"]
END = ["synthesize", "record"]
QUESTION = "How deep is the harbour?"
ISLANDS = written(
    "islands",
    *[
        Passage(f"The harbour of island {n} is {n}0 metres deep at low tide.", page=1 + n // 2, arcs=((n % 8, SIMILAR, 0.5),))
        for n in range(1, 9)
    ],
)
HARBOUR = written(
    "harbour",
    Passage("The harbour is 20 metres deep.", arcs=((1, SIMILAR, 0.6),)),
    Passage("Ships wait for the tide.", page=2, arcs=((0, SIMILAR, 0.6),)),
    Passage("Property: Value\nCrew: 7 people\nDepth of the harbour: 20 metres", page=3, kind=NodeKind.TABLE),
)
DAYS = written("days", *[Passage(f"On day {day} the tide was {day}0 cm high.", page=day) for day in range(1, 8)])
WORLD = (ISLANDS, LONELY, HARBOUR, STRAIT, DAYS)
ONE_DEPTH, DEPTHS = Reader({"metres deep": "it is deep"}), Reader({f"{n}0 metres": f"{n}0 metres" for n in range(1, 9)})


def steps_since(context, before):
    """Return the steps of the last question, readings aside."""
    return [step for step in steps_of(context.snapshot.location)[before:] if step != "read"]


def asked_of(context, name, text=QUESTION, **settings):
    """Return the answer of one document by rules, and the steps that it took."""
    before = len(steps_of(context.snapshot.location))
    answer = answer_at(at_place(context, alone(name), **settings), text)
    return answer, steps_since(context, before)


def read_of(context, model, text=QUESTION):
    """Return the answer of a model that reads the islands, and the steps that it took."""
    before = len(steps_of(context.snapshot.location))
    with read_by(replace(context, scope=alone("islands")), model) as (place, _):
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


def test_where_every_score_is_zero_nothing_is_found_and_the_answer_says_why(context):
    answer, steps = asked_of(context, "lonely", "zebra", relevance={"lexical_share": 1.0})
    assert answer.status is AnswerStatus.NOT_FOUND and not answer.answer and answer.why
    assert [page.score for page in answer.pages] == [0.0, 0.0] and answer.citations == answer.evidence_pages == ()
    assert steps == [*FOUND, *END] and answer.completeness is None


FIRST = ["keywords", "candidates", "score", "lay-out", "route", "select", "fetch", "judge"]
SECOND_PASS = ["refine", "route", "select", "fetch", "judge"]
QUIET = {"gate": {"saturation": 0.0, "consistency": 0.0}}


@dataclass(frozen=True)
class Doubting(ExtractiveReader):
    """The extractive reader, which finds that no two answers agree."""

    def consistency(self, question, readings):
        return 0.0


def by_paper(context, name, text=QUESTION, *, reader=None, routing=None, **settings):
    """Return the answer of one document, and the steps that it took, readings aside."""
    before = len(steps_of(context.snapshot.location))
    settings["routing"] = {"network": "paper"} | (routing or {})
    place = at_place(context, alone(name), **settings)
    answer = answer_at(replace(place, reader=reader or place.reader), text)
    return answer, [step for step in steps_of(context.snapshot.location)[before:] if step != "read"]


def test_where_the_papers_gate_is_quiet_the_evidence_is_read_once(context):
    answer, steps = by_paper(context, "harbour", **QUIET)
    assert steps == [*FIRST, *END] and answer.status is AnswerStatus.EVIDENCE and "20 metres" in answer.citations[0].quote
    assert answer.gate.triggered == "" and answer.gate.edits == () and answer.paths
    assert all(path.flow > 0 and 0 <= path.share <= 1 for path in answer.paths)
    assert {place.page for path in answer.paths for place in path.pages} == {place.page for place in answer.evidence_pages}
    assert answer.completeness is answer.refusal is None and {page.probability for page in answer.pages} == {None}


def test_without_support_the_evidence_starts_from_more_places_and_is_read_again(context):
    answer, steps = by_paper(context, "harbour", "How many zebras live in a zoo?", routing={"sources": 1})
    assert steps == [*FIRST, *SECOND_PASS, *END] and answer.status is AnswerStatus.NOT_FOUND and not answer.answer
    assert answer.gate.triggered == "no_support" and any(edit.kind == "source" for edit in answer.gate.edits)


def test_a_strained_flow_is_bridged_or_weighed_anew_and_read_again(context):
    settings = {"gate": {"saturation": 0.95}, "routing": {"sources": 2}}
    answer, steps = by_paper(context, "strait", "How deep is the harbour at low tide?", **settings)
    assert steps == [*FIRST, *SECOND_PASS, *END] and answer.gate.saturation < 0.95
    assert answer.gate.triggered == "low_saturation" and answer.status is AnswerStatus.EVIDENCE
    assert {edit.kind for edit in answer.gate.edits} == {"bridge", "re-weight"}


def test_a_gate_that_would_fire_again_does_not(context):
    reader = Doubting(ReadingOutSettings())
    answer, steps = by_paper(context, "harbour", reader=reader, gate={"consistency": 1.0, "saturation": 0.0})
    assert steps == [*FIRST, *SECOND_PASS, *END] and answer.gate.triggered == "low_consistency"


def baseline_of(context, text, **settings):
    before = len(run_of(context.snapshot.location).steps())
    answer = answer_at(at_place(context, alone("days"), **settings), text, reader="top-k")
    return answer, [record.step for record in run_of(context.snapshot.location).steps()[before:]]


def test_the_best_passages_are_read_each_by_itself(context):
    answer, steps = baseline_of(context, "How high was the tide on day 4?", selection={"read": 3})
    assert steps == ["keywords", "candidates", "relevance", "best-passages", "fetch", "read", "synthesize", "record"]
    assert len(answer.evidence_pages) == 3


def test_an_answer_has_citations_and_pages_and_neither_paths_nor_a_gate(context):
    answer, _ = baseline_of(context, "How high was the tide on day 4?")
    assert answer.refusal is not None and answer.reader == "top-k" and answer.paths == () and answer.gate is None
    assert answer.status is not AnswerStatus.NOT_FOUND and answer.pages[0].page == answer.citations[0].page == 4
    assert [page.score for page in answer.pages] == sorted((page.score for page in answer.pages), reverse=True)


def test_the_baseline_finds_nothing_and_does_not_refine(context):
    answer, steps = baseline_of(context, "zebra")
    assert answer.status is AnswerStatus.NOT_FOUND and not answer.answer and "refine" not in steps
