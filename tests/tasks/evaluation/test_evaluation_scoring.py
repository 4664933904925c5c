"""What a question was worth, checked by hand."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.evaluations import BenchmarkQuestion
from tasks.algorithms.metrics.answers import MatchKind
from tasks.algorithms.metrics.benchmark_scores import Rules
from tasks.evaluation.scoring import (
    ANLS,
    ANLS_OF_ALL,
    ANSWERED,
    AT_FLOW,
    BASELINE,
    BY_MODEL,
    BY_RULES,
    BY_THE_RULES,
    CITED,
    CONST,
    CORRECT,
    JUDGE_CALLS,
    JUDGE_COST,
    OWN,
    PERFECT,
    PRECISION,
    PROVEN,
    REFUSED_RIGHTLY,
    REFUSED_WRONGLY,
    SAME_EACH,
    SAME_WORDS,
    SHOWN,
    SHOWN_FIRST,
    STRICT,
    UNANSWERED,
    WORDS_F1,
    WORDS_SHOWN,
    Judged,
    accuracy_by,
    difference_of,
    document_of,
    f1_by,
    gain_over,
    perfect_by,
    score_answers,
    score_at_flow,
    score_by_benchmarks,
    score_retrieval,
    score_shown,
)
from tests.evaluation_plans import answered


def question(name, *pages, document="a.pdf"):
    return BenchmarkQuestion(id=name, text=f"{name}?", documents=(document,), evidence=tuple((document, page) for page in pages))


def asked(name, ranked, evidence, reader="flow"):
    return answered(question(name), ranked, evidence, reader=reader)


def values_of(scored):
    values = {}
    for arm, name, _document, metric, value in scored.rows():
        values.setdefault((arm, name), {})[metric] = value
    return values


def by_arm(**arms):
    return {arm.replace("_", "-"): {one.question_id: one for one in answers} for arm, answers in arms.items()}


def worth(questions, **arms):
    return values_of(score_retrieval(questions, by_arm(**arms)))


def worth_at_flow(questions, **arms):
    return values_of(score_at_flow(questions, by_arm(**arms)))


def test_a_ranking_and_a_set_are_measured_as_worked_out_by_hand():
    values = worth([question("q", 2, 5)], flow=[asked("q", [5, 1, 2, 3], [5, 2, 7])])["flow", "q"]
    assert (values["recall@1"], values["recall@3"], values["mrr@1"], values["precision@3"]) == (0.5, 1.0, 1.0, pytest.approx(2 / 3))
    assert (values[PERFECT], values["irrelevant pages"], values["pages returned"]) == (1.0, pytest.approx(1 / 3), 3.0)
    # The first three of its own ranking hold both gold pages too: routing has gained nothing.
    assert (values[perfect_by(OWN, SAME_EACH)], values[gain_over(OWN, SAME_EACH)]) == (1.0, 0.0)


def test_the_rival_is_cut_to_the_number_of_pages_that_the_set_has_for_this_question():
    questions = [question("q", 2, 5)]
    found = worth(questions, flow=[asked("q", [5, 1, 2], [5, 2])], top_k=[asked("q", [2, 5, 1], [2], reader="top-k")])
    values = found["flow", "q"]
    assert (values[perfect_by(OWN, SAME_EACH)], values[gain_over(OWN, SAME_EACH)]) == (0.0, 1.0)
    assert (values[perfect_by(BASELINE, SAME_EACH)], values[gain_over(BASELINE, SAME_EACH)]) == (1.0, 0.0)
    assert gain_over(BASELINE, SAME_EACH) not in found["top-k", "q"]


def test_at_the_same_mean_every_ranking_is_cut_at_one_number():
    # Three pages for one question and none for the other: one and a half each.
    questions = [question("q", 1, 2), question("r", 9)]
    values = worth(questions, flow=[asked("q", [1, 2, 3], [1, 2, 3]), asked("r", [8, 9, 7], [])])
    assert values["flow", "q"][perfect_by(OWN, CONST)] == 0.5
    assert values["flow", "r"][perfect_by(OWN, CONST)] == 0.5
    assert values["flow", "q"][gain_over(OWN, CONST)] == 0.5
    assert values["flow", "r"][gain_over(OWN, CONST)] == -0.5


def test_questions_stand_or_fall_with_the_document_of_their_evidence():
    pages = {"documents": ("other.pdf", "a.pdf", "more.pdf"), "evidence": (("a.pdf", 1),)}
    assert document_of(BenchmarkQuestion("q", "?", **pages)) == "a.pdf"
    assert document_of(BenchmarkQuestion("q", "?", ("other.pdf", "a.pdf"))) == "a.pdf"


def test_a_document_that_could_not_be_read_counts_as_nothing_found():
    values = worth([question("q", 1)], flow=[asked("q", [], [])])["flow", "q"]
    assert (values["recall@10"], values[PERFECT], values["irrelevant pages"]) == (0.0, 0.0, 1.0)


def test_questions_without_evidence_are_not_measured():
    assert score_retrieval([question("q")], {"flow": {"q": asked("q", [1], [1])}}).is_empty()


def test_at_flows_number_other_readers_have_as_many_pages_as_flow_for_this_question():
    # Of two pages `plan` has read the first; it goes on with page 5. `map` has read three, and misses one in the first two.
    found = worth_at_flow(
        [question("q", 2, 5)],
        flow=[asked("q", [5, 1, 2], [5, 1])],
        plan=[asked("q", [5, 2, 1], [2], reader="plan")],
        map=[asked("q", [5, 1, 2], [5, 1, 2], reader="map")],
    )
    assert [found[arm, "q"][AT_FLOW] for arm in ("flow", "plan", "map")] == [0.0, 1.0, 0.0]
    assert [found[arm, "q"].get(difference_of(AT_FLOW)) for arm in ("flow", "plan", "map")] == [None, 1.0, 0.0]


@pytest.mark.parametrize("arms", [("flow", "top_k"), ("top_k", "plan"), ("flow",)])
def test_without_flow_and_another_reader_there_is_nothing_to_compare(arms):
    assert not worth_at_flow([question("q", 1)], **{arm: [asked("q", [1], [1])] for arm in arms})


@given(
    st.lists(st.integers(1, 9), unique=True),
    st.lists(st.integers(1, 9), unique=True),
    st.sets(st.integers(1, 9), min_size=1),
)
def test_after_as_many_pages_as_were_returned_the_order_is_worth_what_the_set_is(ranked, evidence, gold):
    one, arms = question("q", *gold), {"flow": [asked("q", ranked, evidence)], "plan": [asked("q", ranked, ranked)]}
    values, of_order = worth([one], **arms)["flow", "q"], worth_at_flow([one], **arms)["flow", "q"]
    assert of_order[AT_FLOW] == values[PERFECT]


CAR = BenchmarkQuestion("car", "What is it?", ("a.pdf",), answers=("a car",))
NOTHING = BenchmarkQuestion("nothing", "Who won?", ("a.pdf",), answerable=False)


def worth_of_answer(asked_for, kind, *, correct, by=BY_RULES, judge=None, by_model=True, **asked):
    verdict = Judged(asked_for.id, correct, by, MatchKind(kind), **(judge or {}))
    found = {"flow": {asked_for.id: answered(asked_for, **asked)}}
    return values_of(score_answers([asked_for], found, {"flow": {asked_for.id: verdict}}, by_model=by_model))["flow", asked_for.id]


@pytest.mark.parametrize(
    ("kind", "by", "correct", "values"),
    [
        ("exact", BY_RULES, True, {CORRECT: 1.0, BY_THE_RULES: 1.0, STRICT: 1.0, REFUSED_WRONGLY: 0.0}),
        ("numeric", BY_RULES, True, {CORRECT: 1.0, STRICT: 1.0}),
        ("list", BY_RULES, True, {CORRECT: 1.0, STRICT: 1.0}),
        ("contained", BY_RULES, True, {CORRECT: 1.0, BY_THE_RULES: 1.0, STRICT: 0.0}),
        ("wrong", "judge", True, {CORRECT: 1.0, BY_THE_RULES: 0.0, STRICT: 0.0, BY_MODEL: 1.0}),
        ("exact", "judge", False, {CORRECT: 0.0, BY_THE_RULES: 1.0, STRICT: 1.0, BY_MODEL: 1.0}),
        ("abstained", BY_RULES, False, {CORRECT: 0.0, STRICT: 0.0, REFUSED_WRONGLY: 1.0}),
    ],
)
def test_an_answer_is_right_as_judged_and_the_verdict_of_the_rules_is_kept_too(kind, by, correct, values):
    found = worth_of_answer(CAR, kind, by=by, correct=correct, answer="a car")
    assert {name: found[name] for name in values} == values and REFUSED_RIGHTLY not in found
    assert (found[ANSWERED], found[PRECISION]) == (1.0, float(correct))


def test_what_rules_quote_is_no_answer_that_could_be_right_and_its_pages_may_be():
    found = worth_of_answer(replace(CAR, evidence=(("a.pdf", 2),)), "unread", correct=False, by_model=False, cited=(("a.pdf", 2),))
    assert (found[CITED], found[ANSWERED], found[REFUSED_WRONGLY]) == (1.0, 0.0, 0.0)
    assert {CORRECT, BY_THE_RULES, STRICT, PRECISION}.isdisjoint(found)
    assert worth_of_answer(replace(CAR, evidence=(("a.pdf", 2),)), "wrong", correct=False)[CITED] == 0.0
    assert CITED not in worth_of_answer(CAR, "unread", correct=False, by_model=False)


def test_a_model_that_gives_no_answer_that_counts_is_not_right_and_is_counted():
    found = worth_of_answer(NOTHING, "unread", correct=False, status="not_found", unanswered=True)
    assert (found[UNANSWERED], found[CORRECT], found[REFUSED_RIGHTLY]) == (1.0, 0.0, 0.0)
    assert worth_of_answer(NOTHING, "abstained", correct=True)[UNANSWERED] == 0.0


def test_what_a_reader_counts_is_measured_and_where_it_reflected_whether_it_was_right_then():
    found = worth_of_answer(CAR, "exact", correct=True, counts={"rounds": 2.0, "gate opened": 1.0, "reflections": 1.0})
    assert (found["rounds"], found["gate opened"], found["right where it reflected"]) == (2.0, 1.0, 1.0)
    content = worth_of_answer(CAR, "exact", correct=True, counts={"reflections": 0.0})
    assert content["reflections"] == 0.0 and "right where it reflected" not in content


def test_to_refuse_is_right_where_there_is_no_answer():
    found = worth_of_answer(NOTHING, "abstained", correct=True)
    assert (found[CORRECT], found[STRICT], found[REFUSED_RIGHTLY]) == (1.0, 1.0, 1.0) and REFUSED_WRONGLY not in found
    assert worth_of_answer(NOTHING, "wrong", correct=False)[REFUSED_RIGHTLY] == 0.0


@pytest.mark.parametrize(
    ("status", "kind", "right", "proven"),
    [
        ("answered", "exact", True, 1.0),
        ("partial", "contained", True, 1.0),
        ("unverified", "exact", True, 0.0),
        ("answered", "wrong", False, 0.0),
        ("unverified", "wrong", False, 0.0),
    ],
)
def test_right_with_proof_is_what_is_right_and_proven_at_least_in_part(status, kind, right, proven):
    found = worth_of_answer(CAR, kind, correct=right, status=status, answer="a car")
    assert (found[CORRECT], found[PROVEN]) == (float(right), proven)
    refused = worth_of_answer(NOTHING, "abstained", correct=True, status="not_found")
    assert refused[CORRECT] == refused[PROVEN] == 1.0


def test_what_an_answer_cost_stands_apart_from_what_its_judge_cost():
    cost = {"calls": 7, "input_tokens": 900, "output_tokens": 80, "cost": 0.5, "seconds": 2.5}
    judge = {"calls": 1, "cost": 0.125, "reason": "judged by rules, because"}
    values = worth_of_answer(CAR, "exact", correct=True, judge=judge, **cost)
    assert {name.replace(" ", "_"): values[name.replace("_", " ")] for name in cost} == cost
    assert (values[BY_MODEL], values[JUDGE_CALLS], values[JUDGE_COST]) == (0.0, 1.0, 0.125)
    by_rules = worth_of_answer(CAR, "exact", correct=True, cached=2)
    assert {BY_MODEL, JUDGE_CALLS, JUDGE_COST, "cost"}.isdisjoint(by_rules), "kept replies helped: nobody knows the cost"


def test_every_arm_is_scored_on_every_question_in_order_under_the_name_of_its_document():
    questions = [CAR, BenchmarkQuestion("bus", "What else?", ("a.pdf", "b.pdf"), answers=("a bus",)), NOTHING]
    asked_by = {arm: {one.id: answered(one, reader=arm) for one in questions} for arm in ("flow", "top-k")}
    verdicts = {
        arm: {one.id: Judged(one.id, arm == "flow", BY_RULES, MatchKind.EXACT) for one in questions} for arm in ("top-k", "flow")
    }
    scored = score_answers(questions, asked_by, verdicts, by_model=True)
    right = scored.filter(pl.col("metric") == CORRECT)
    assert right.select("arm", "question_id").rows() == [(arm, one.id) for arm in ("flow", "top-k") for one in questions]
    assert right["document"].to_list() == ["a.pdf", "b.pdf", "a.pdf"] * 2 and right["value"].to_list() == [1.0] * 3 + [0.0] * 3


def test_what_the_quotes_show_is_measured_where_pages_are_known_and_the_answer_can_stand_in_a_text():
    shown = {"words_shown": 150, "answer_shown": True, "answer_first": False}
    questions = [question("there", 2), question("pages unknown"), question("in no text", 2)]
    found = {"there": shown, "pages unknown": shown, "in no text": {"words_shown": 20}}
    scored = score_shown(questions, {"flow": {one.id: answered(one, **found[one.id]) for one in questions}})
    assert values_of(scored) == {("flow", "there"): {SHOWN: 1.0, SHOWN_FIRST: 0.0, WORDS_SHOWN: 150.0}}


MMLONGBENCH, LONGDOCURL = map(accuracy_by, Rules)
LENGTH = BenchmarkQuestion("length", "How long?", ("a.pdf",), answers=("12",), answer_format="Int")
TOWN = BenchmarkQuestion("town", "Where?", ("b.pdf",), answers=("Ulm",), answer_format="Str")
TOWNS = BenchmarkQuestion("towns", "Where else?", ("b.pdf",), answers=('["Rome", "Paris"]',), answer_format="List")
NOBODY = BenchmarkQuestion("nobody", "Who?", ("b.pdf",), answerable=False, answer_format="None")


def by_benchmarks(*verdicts):
    """Return the scores and F1 of questions with an answer and how it was found right or wrong."""
    questions = [one for one, _answer, _kind in verdicts]
    asked_for = {"flow": {one.id: answered(one, answer=answer) for one, answer, _kind in verdicts}}
    judged = {"flow": {one.id: Judged(one.id, False, BY_RULES, MatchKind(kind)) for one, _answer, kind in verdicts}}
    scored, apart = score_by_benchmarks(questions, asked_for, judged)
    return {name: worth for (_arm, name), worth in values_of(scored).items()}, apart


def test_by_the_rules_of_benchmarks_an_answer_has_the_worth_of_its_format():
    found, apart = by_benchmarks(
        (LENGTH, "12 m", "numeric"), (TOWN, "Rom", "wrong"), (TOWNS, "Paris", "wrong"), (NOBODY, "", "abstained")
    )
    assert found == {
        "length": {MMLONGBENCH: 1.0, LONGDOCURL: 1.0, ANLS: 0.0, ANLS_OF_ALL: 0.0},
        "town": {MMLONGBENCH: 0.0, LONGDOCURL: 0.0, ANLS: 0.0, ANLS_OF_ALL: 0.0},
        "towns": {MMLONGBENCH: 0.0, LONGDOCURL: 0.5, ANLS_OF_ALL: 0.5},
        "nobody": {MMLONGBENCH: 1.0, LONGDOCURL: 1.0, ANLS_OF_ALL: 1.0},
    }
    # One of three answerable ones is right, and one of three answers that were given.
    assert [(one.metric, one.value, one.questions, one.documents) for one in apart] == [
        (f1_by(Rules.MMLONGBENCH), pytest.approx(1 / 3), 4, 2)
    ]
    assert apart[0].low < apart[0].value < apart[0].high


def test_who_abstains_is_right_only_where_nothing_answers_and_what_nobody_read_does_not_abstain():
    found, (f1,) = by_benchmarks((LENGTH, "12", "abstained"), (TOWN, "Ulm", "exact"), (NOBODY, "", "unread"))
    assert [found[name][MMLONGBENCH] for name in ("length", "town", "nobody")] == [0.0, 1.0, 0.0]
    assert f1.value == pytest.approx(1 / 2)  # one of two, both times
    found, (f1,) = by_benchmarks((LENGTH, "12", "unread"), (TOWN, "Ulm", "exact"))
    assert found["length"][MMLONGBENCH] == 0.0 and f1.value == pytest.approx(1 / 2)


def test_where_no_question_says_how_it_is_answered_there_is_only_the_likeness_of_words():
    found, apart = by_benchmarks((CAR, "a cat", "wrong"), (NOTHING, "", "abstained"))
    assert (found, apart) == ({"car": {ANLS: pytest.approx(0.8), SAME_WORDS: 0.0, WORDS_F1: 0.0}}, ())
