"""Refusals of an evaluation: their features are kept with what was asked, and their rates are measured out of fold."""

import polars as pl

from storage.records.evaluations import BenchmarkQuestion
from tasks.algorithms.metrics.answers import MatchKind
from tasks.algorithms.probability import probabilities
from tasks.evaluation.figures import sum_up
from tasks.evaluation.plan import Results
from tasks.evaluation.refusals import OUT_OF_FOLD, REFUSED_AT, fitted_refusal, refusal_examples, score_refusals
from tasks.evaluation.scoring import BY_RULES, REFUSED_RIGHTLY, REFUSED_WRONGLY, Judged
from tasks.views.evaluations import tables_of
from tests.evaluation_plans import answered, plan_by_hand


def world(documents=10, *, apart=True):
    """Two questions of each document, the second without an answer; what it names stands nowhere, if it is told `apart`."""
    questions, asked = [], {}
    for number in range(documents):
        for answerable in (True, False):
            name = f"{number} {answerable}"
            known = ("so",) if answerable else ()
            questions.append(BenchmarkQuestion(name, "What?", (f"{number}.pdf",), answerable=answerable, answers=known))
            doubts = (float(apart and not answerable), 0.0, 0.0, 0.5 if answerable else 0.5 + number / 100)
            asked[name] = answered(questions[-1], status="evidence", doubts=doubts)
    return questions, asked


def test_examples_are_the_questions_whose_refusals_have_features():
    questions, asked = world(2)
    asked |= {questions[0].id: answered(questions[0])}
    examples = refusal_examples(questions, asked)
    assert [one.id for one in examples.questions] == ["0 False", "1 True", "1 False"]
    assert examples.features.shape == (3, 4) and examples.unanswerable.tolist() == [1.0, 0.0, 1.0]
    assert examples.documents == ["0.pdf", "1.pdf", "1.pdf"]


def test_what_tells_them_apart_refuses_all_of_one_kind_and_none_of_the_other():
    questions, asked = world()
    scored, notes = score_refusals(questions, {"flow": asked})
    assert notes == ()
    means = dict(scored.group_by("metric").agg(pl.col("value").mean()).rows())
    assert means[f"{REFUSED_AT}50%"] == means[f"{REFUSED_AT}90%"] == means[REFUSED_WRONGLY + OUT_OF_FOLD] == 0.0
    assert means[REFUSED_RIGHTLY + OUT_OF_FOLD] > 0.3 and len(means) == 11
    assert scored.filter(pl.col("metric") == f"{REFUSED_AT}50%").height == 10


def test_what_is_fitted_refuses_half_of_the_unanswerable_and_nothing_where_all_have_an_answer():
    questions, asked = world()
    fitted = fitted_refusal(questions, asked)
    examples = refusal_examples(questions, asked)
    refused = probabilities(examples.features, fitted.logistic) >= fitted.threshold
    assert refused[examples.unanswerable == 1].sum() == 5 and not refused[examples.unanswerable == 0].any()
    assert fitted_refusal([one for one in questions if one.answerable], asked) is None


def test_of_too_few_documents_there_is_no_curve_and_a_note_says_why():
    questions, asked = world(1)
    scored, notes = score_refusals(questions, {"flow": asked})
    assert scored.is_empty() and "no refusals out of fold for flow: all 0 examples are alike" in notes[0]
    answerable = [one for one in questions if one.answerable]
    assert "none of the 1 questions is without an answer" in summed(answerable, asked).notes[0]
    assert score_refusals(questions, {"flow": {one.id: answered(one) for one in questions}})[1] == (), "a model read"


def summed(questions, asked):
    judged = {one.id: Judged(one.id, False, BY_RULES, MatchKind.UNREAD) for one in questions}
    plan = plan_by_hand(*questions, what="answers", readers=("flow",))
    return sum_up(plan, Results({"flow": asked}, {"flow": judged}), run_id="r", started="2026-01-01T00:00")


def test_the_curve_stands_in_a_table_of_its_own():
    questions, asked = world(apart=False)
    (rows,) = [table.cells.rows() for table in tables_of(summed(questions, asked)) if table.kind == "refusals"]
    assert [row[0] for row in rows] == [f"{REFUSED_AT}{share}% (%)" for share in range(10, 100, 10)]
