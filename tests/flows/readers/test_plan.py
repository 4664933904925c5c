"""`plan` on worlds small enough to see: a question as several, evidence for each, and once more what no quote holds."""

from dataclasses import dataclass, replace

from storage.records.answers import AnswerStatus, TraceKind
from storage.records.documents import EdgeKind
from tasks.reading.rules import ExtractiveReader
from tasks.settings.base import change_settings
from tests.asking_worlds import Passage, answer_at, at_place, steps_of, written
from tests.library import CREW, asked_by, kinds, pages

COMPARED = "Which has more cranes, the yard of Merrow or of Ostrand?"
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


WORLD = (ALDRE, CREW)
SETTINGS = {"plan": {"nodes": 2, "neighbours": 1}}


def planned(context, text=PARTS, **method):
    return asked_by("plan", context, text, **method)


def test_each_part_of_a_question_has_evidence_of_its_own(context):
    answer = planned(context, neighbours=0, nodes=1)
    assert answer.reader == "plan" and answer.status is AnswerStatus.EVIDENCE and answer.gate is None
    assert [step.asked for step in answer.trace[:2]] == ["How deep is the harbour at low tide", "what does the blade cost"]
    assert [pages(step.pages) for step in answer.trace[:2]] == [[3], [5]] and pages(answer.evidence_pages) == [3, 5]
    assert {citation.page for citation in answer.citations} == {3, 5}


def test_what_is_compared_is_looked_for_name_by_name(context):
    answer = planned(context, COMPARED, neighbours=0, nodes=1)
    assert [step.asked for step in answer.trace[:2]] == [
        "Which has more cranes, the yard of Merrow?",
        "Which has more cranes, the yard of Ostrand?",
    ]
    assert pages(answer.evidence_pages) == [1, 2] and len({citation.page for citation in answer.citations}) == 2
    alone = planned(context, COMPARED, neighbours=0, nodes=1, subquestions=1, rounds=0)
    assert len(alone.evidence_pages) == 1 and alone.usage.counts == {"sub-questions": 1, "rounds": 0}


def test_the_neighbours_of_the_best_passage_are_read_with_it(context):
    text = "How deep is the harbour at low tide, in a storm of year 9?"
    assert pages(planned(context, text, rounds=0).evidence_pages) == [3, 4]
    assert pages(planned(context, text, rounds=0, neighbours=0).evidence_pages) == [3, 9]


def test_one_question_is_one_step_with_the_scores_of_the_question(context):
    before = len(steps_of(context.snapshot.location))
    answer = planned(context, "How deep is the harbour at low tide?", rounds=0)
    assert steps_of(context.snapshot.location)[before:] == [
        *("keywords", "candidates", "score", "decompose", "find-evidence", "fetch", "read", "check-plan", "synthesize", "record")
    ]
    assert kinds(answer) == [TraceKind.SUB_QUESTION] and answer.trace[0].pages == answer.evidence_pages
    assert answer.usage.counts == {"sub-questions": 1, "rounds": 0}


LACKING = "Near which harbour with a low tide did the crane of Ostrand lift cables, blades and steel at the price of a storm?"


def test_what_no_quote_holds_is_asked_for_until_that_brings_no_new_page(context):
    answer = planned(context, LACKING, neighbours=0, nodes=1)
    first, check, replan, second, *_rest = answer.trace
    assert [step.kind for step in (first, check, replan, second)] == [
        *(TraceKind.SUB_QUESTION, TraceKind.CHECK, TraceKind.REPLAN, TraceKind.SUB_QUESTION)
    ]
    assert (check.needs, replan.needs, second.needs) == ((1,), (2,), (3,)) and replan.found == "1 question more"
    asked = set(second.asked.split())
    assert asked < set(LACKING.rstrip("?").replace(",", "").split()), "words of the question and no others"
    assert set(pages(second.pages)).isdisjoint(pages(first.pages)) and "Ostrand" in asked
    assert 1 <= answer.usage.counts["rounds"] <= 3 and len(answer.evidence_pages) > 1
    reading = [step for step in answer.trace if step.kind is TraceKind.SUB_QUESTION]
    assert len({step.asked for step in reading}) == len(reading) == answer.usage.counts["sub-questions"]


def test_what_is_asked_twice_is_one_step_and_a_later_round_asks_besides(context):
    answer = planned(context, f"Which cable? Which cable? {LACKING}", neighbours=0, nodes=1, rounds=1)
    asked = [step.asked for step in answer.trace if step.kind is TraceKind.SUB_QUESTION]
    assert asked[:2] == ["Which cable", LACKING.rstrip("?")] and len(asked) == len(set(asked)) == 3


def test_no_round_no_check_and_no_more_rounds_than_may_be(context):
    assert kinds(planned(context, LACKING, neighbours=0, nodes=1, rounds=0)) == [TraceKind.SUB_QUESTION]
    assert planned(context, LACKING, neighbours=0, nodes=1, rounds=1).usage.counts["rounds"] == 1
    everything = planned(context, LACKING, nodes=30)
    assert everything.usage.counts["rounds"] <= 1, "where all pages were read nothing new can come"


def test_no_more_steps_are_read_than_paths_may_be(context):
    few = replace(context, settings=change_settings(context.settings, {"selection.read": 1}))
    assert answer_at(few, PARTS, reader="plan").usage.counts["sub-questions"] == 1
    assert answer_at(few, LACKING, reader="plan").usage.counts == {"sub-questions": 1, "rounds": 0}


def test_by_cosine_evidence_begins_with_what_is_nearest(context):
    text = "What is there on page 5 of steel?"
    score, cosine = (planned(context, text, neighbours=0, nodes=1, rounds=0, rank=rank) for rank in ("score", "cosine"))
    assert pages(score.evidence_pages) == [5] and pages(cosine.evidence_pages) != [5]


def test_of_a_large_corpus_the_candidates_of_all_parts_are_one_graph(context):
    small = {"whole_limit": 1, "by_vector": 1, "by_text": 1, "hops": 0}
    large = at_place(context, candidates=small, plan={"nodes": 1, "neighbours": 0})
    before = len(steps_of(context.snapshot.location))
    answer = answer_at(large, PARTS, reader="plan")
    steps = steps_of(context.snapshot.location)[before:]
    assert steps.count("candidates") == 3 and steps.count("join-candidates") == 1
    assert pages(answer.evidence_pages) == [3, 5] and len(answer.pages) < 12
    one = answer_at(large, "How deep is the harbour?", reader="plan")
    assert len(one.pages) <= 2 and pages(one.evidence_pages) == [3]


@dataclass(frozen=True, slots=True)
class PathKeeper(ExtractiveReader):
    """Reads by rules, and hands on what it read, as a model does."""

    def read(self, question, paths):
        readings = ExtractiveReader.read(self, question, paths)
        return tuple(replace(reading, path=path) for reading, path in zip(readings, paths, strict=True))

    def synthesize(self, question, readings, rarity, verdict):
        first = readings[0].path
        assert all(reading.path.rows is first.rows and reading.path.worth is first.worth for reading in readings)
        assert {node.id for reading in readings for node in reading.path.nodes} == first.worth.keys()
        return ExtractiveReader.synthesize(self, question, readings, rarity, verdict)


def test_whoever_puts_the_readings_together_finds_every_passage_in_the_first(context):
    keeping = replace(context, reader=PathKeeper(context.settings.reading))
    assert planned(keeping, LACKING, neighbours=0, nodes=1).citations


def test_a_step_without_a_reading_of_its_own_says_so(context):
    answer = planned(context, "What is a zebra?", rounds=0)
    assert answer.status is AnswerStatus.NOT_FOUND and answer.trace[0].found.endswith("nothing that answers it")
