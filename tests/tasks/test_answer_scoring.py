"""What an answer was worth, checked by hand."""

import pytest

from storage.evaluation_records import BenchmarkQuestion
from tasks.algorithms.answer_matching import MatchKind
from tasks.answer_judging import BY_RULES, Judged
from tasks.answer_scoring import (
    BY_MODEL,
    BY_THE_RULES,
    CORRECT,
    JUDGE_CALLS,
    JUDGE_COST,
    REFUSED_RIGHTLY,
    REFUSED_WRONGLY,
    STRICT,
    scored_answers,
)
from tests.exams import answered

CAR = BenchmarkQuestion("car", "What is it?", ("a.pdf",), answers=("a car",))
BUS = BenchmarkQuestion("bus", "What else is it?", ("a.pdf", "b.pdf"), answers=("a bus",))
NOTHING = BenchmarkQuestion("nothing", "Who won?", ("a.pdf",), answerable=False)


def worth(question, kind, *, correct, by=BY_RULES, judge=None, **asked):
    verdict = Judged(question.id, correct, by, MatchKind(kind), **(judge or {}))
    (scored,) = scored_answers([question], {"flow": {question.id: answered(question, **asked)}}, {"flow": {question.id: verdict}})
    return scored.values


@pytest.mark.parametrize("kind", ["exact", "numeric", "list"])
def test_what_is_right_to_the_word_the_number_or_the_list_is_right_in_both_ways(kind):
    values = worth(CAR, kind, correct=True)
    assert (values[CORRECT], values[STRICT], values[REFUSED_WRONGLY]) == (1.0, 1.0, 0.0)


def test_what_only_holds_the_answer_or_what_a_model_lets_pass_is_not_strictly_right():
    for by, kind in ((BY_RULES, "contained"), ("judge", "contained"), ("judge", "wrong")):
        values = worth(CAR, kind, correct=True, by=by)
        assert (values[CORRECT], values[STRICT]) == (1.0, 0.0)


def test_what_a_model_says_counts_and_what_the_rules_say_stands_beside():
    values = worth(CAR, "exact", correct=False, by="judge")
    assert (values[CORRECT], values[BY_THE_RULES], values[STRICT], values[BY_MODEL]) == (0.0, 1.0, 1.0, 1.0)
    values = worth(CAR, "wrong", correct=True, by="judge")
    assert (values[CORRECT], values[BY_THE_RULES], values[STRICT]) == (1.0, 0.0, 0.0)


def test_a_judge_that_gave_no_reply_is_told_and_rules_alone_are_not():
    assert worth(CAR, "exact", correct=True, judge={"reason": "the model did not help"})[BY_MODEL] == 0.0
    assert BY_MODEL not in worth(CAR, "exact", correct=True)


def test_of_an_answer_that_kept_replies_helped_with_no_cost_is_told():
    assert "cost" in worth(CAR, "exact", correct=True, calls=2) and "cost" not in worth(CAR, "exact", correct=True, cached=2)


def test_to_refuse_is_right_where_there_is_no_answer_and_wrong_where_there_is_one():
    rightly, wrongly = worth(NOTHING, "abstained", correct=True), worth(CAR, "abstained", correct=False)
    assert (rightly[CORRECT], rightly[STRICT], rightly[REFUSED_RIGHTLY]) == (1.0, 1.0, 1.0)
    assert (wrongly[CORRECT], wrongly[STRICT], wrongly[REFUSED_WRONGLY]) == (0.0, 0.0, 1.0)
    assert worth(NOTHING, "wrong", correct=False)[REFUSED_RIGHTLY] == 0.0


def test_each_refusal_is_measured_on_its_own_kind_of_question():
    assert REFUSED_WRONGLY not in worth(NOTHING, "abstained", correct=True)
    assert REFUSED_RIGHTLY not in worth(CAR, "exact", correct=True)


def test_what_an_answer_cost_is_told_and_what_the_judge_cost_apart_from_it():
    cost = {"calls": 7, "input_tokens": 900, "output_tokens": 80, "cost": 0.5, "seconds": 2.5}
    judge = {"calls": 1, "input_tokens": 5000, "output_tokens": 500, "cost": 0.125}
    values = worth(CAR, "exact", correct=True, by="judge", judge=judge, **cost)
    assert {name.replace(" ", "_"): values[name.replace("_", " ")] for name in cost} == cost
    assert (values[JUDGE_CALLS], values[JUDGE_COST]) == (1.0, 0.125)


def test_rules_have_no_cost_to_tell():
    assert {JUDGE_CALLS, JUDGE_COST}.isdisjoint(worth(CAR, "exact", correct=True))


def test_what_was_paid_for_a_judge_that_did_not_help_is_told():
    values = worth(CAR, "exact", correct=True, judge={"calls": 1, "cost": 0.125, "reason": "judged by rules, because"})
    assert (values[JUDGE_CALLS], values[JUDGE_COST]) == (1.0, 0.125)


def test_every_arm_is_scored_on_every_question_in_order_under_the_name_of_its_document():
    questions = [CAR, BUS, NOTHING]
    asked = {arm: {one.id: answered(one, reader=arm) for one in questions} for arm in ("flow", "top-k")}
    verdicts = {
        arm: {one.id: Judged(one.id, arm == "flow", BY_RULES, MatchKind.EXACT) for one in questions} for arm in ("top-k", "flow")
    }
    scored = scored_answers(questions, asked, verdicts)
    assert [(one.arm, one.question_id) for one in scored] == [(arm, one.id) for arm in ("flow", "top-k") for one in questions]
    assert [one.document for one in scored[:3]] == ["a.pdf", "b.pdf", "a.pdf"]
    assert [one.values[CORRECT] for one in scored] == [1.0] * 3 + [0.0] * 3
