"""Comparing: question by question, over what both scored, and silent about nothing that differs."""

import pytest

from storage.errors import RequestError
from storage.records.evaluations import Evaluation
from tasks.evaluation.comparing import Difference, compare, list_differences
from tests.storage.evaluation_worlds import evaluation, scored


def compared(before: Evaluation, after: Evaluation):
    return {(change.arm, change.metric): change for change in compare(before, after)}


def many(run_id, arm, values, documents, **other):
    pairs = enumerate(zip(values, documents, strict=True))
    return evaluation(run_id, *(scored(arm, f"q{place}", name, recall=value) for place, (value, name) in pairs), **other)


def test_an_example_by_hand():
    # Only q1 and q2 have a recall in both: 0.2 and 0.4 became 0.5 and 0.9. Two documents: resamples are (+0.3, +0.4, +0.5).
    before = evaluation(
        "before",
        scored("flow", "q1", "a.pdf", recall=0.2, mrr=1.0),
        scored("flow", "q2", "b.pdf", recall=0.4),
        scored("flow", "q3", "b.pdf", recall=1.0),
        scored("flow", "q4", "b.pdf", recall=1.0),
    )
    after = evaluation(
        "after",
        scored("flow", "q2", "b.pdf", recall=0.9),
        scored("flow", "q1", "a.pdf", recall=0.5, mrr=0.5),
        scored("flow", "q3", "b.pdf", mrr=0.0),
        scored("flow", "q5", "b.pdf", recall=0.0),
    )
    recall, mrr = compare(before, after)
    assert (recall.arm, recall.metric, recall.questions) == ("flow", "recall", 2)
    assert (recall.before, recall.after, recall.difference) == pytest.approx((0.3, 0.7, 0.4))
    assert (recall.low, recall.high) == pytest.approx((0.3, 0.5)) and recall.beyond_luck
    assert (mrr.metric, mrr.questions, mrr.before, mrr.after, mrr.low, mrr.high) == ("mrr", 1, 1.0, 0.5, -0.5, -0.5)
    assert (recall.documents, mrr.documents) == (2, 1) and not mrr.beyond_luck


def test_a_change_of_what_was_fitted_on_these_documents_before_or_after_says_so():
    one = scored("flow", "q1", "a.pdf", **{"perfect recall": 0.5, "recall@5": 0.5})
    here, elsewhere = evaluation("here", one, models={"fitted on": "a" * 12}), evaluation("elsewhere", one)
    for pair in ((here, elsewhere), (elsewhere, here)):
        assert {change.metric: change.fitted_here for change in compare(*pair)} == {"perfect recall": True, "recall@5": False}


def test_documents_not_questions_are_drawn():
    # Ten questions of one document all gained, ten of another all lost: as questions that is sure to be nothing, as documents not.
    documents = ["a.pdf"] * 10 + ["b.pdf"] * 10
    before, after = many("before", "flow", [0.5] * 20, documents), many("after", "flow", [0.9] * 10 + [0.3] * 10, documents)
    change = compared(before, after)["flow", "recall"]
    assert (change.difference, change.low, change.high) == pytest.approx((0.1, -0.2, 0.4)) and not change.beyond_luck


def test_an_evaluation_differs_from_itself_by_nothing():
    same = many("same", "flow", [0.1, 0.9, 0.4], ["a.pdf", "b.pdf", "c.pdf"])
    change = compared(same, same)["flow", "recall"]
    assert (change.difference, change.low, change.high, change.beyond_luck) == (0.0, 0.0, 0.0, False)
    assert list_differences(same, same) == []


def test_only_arms_of_the_same_name_are_compared_in_the_order_of_the_later_evaluation():
    before = evaluation("before", *(scored(arm, "q", "a.pdf", recall=0.5, mrr=0.5) for arm in ("top-k", "old", "flow")))
    after = evaluation("after", *(scored(arm, "q", "a.pdf", mrr=0.5, recall=0.5, f1=1.0) for arm in ("flow", "new", "top-k")))
    assert list(compared(before, after)) == [("flow", "mrr"), ("flow", "recall"), ("top-k", "mrr"), ("top-k", "recall")]


def test_other_questions_cannot_be_compared():
    before, after = (many(name, "flow", [1.0], ["a.pdf"], benchmark_hash=name[0] * 64) for name in ("before", "after"))
    with pytest.raises(RequestError, match=r"'before' .*'bbbbbbbbbbbb'\) and 'after' .*'aaaaaaaaaaaa'\) asked different questions"):
        compare(before, after)


@pytest.mark.parametrize(
    "after",
    [
        evaluation("after"),
        evaluation("after", scored("new", "q", "a.pdf", recall=1.0)),
        evaluation("after", scored("flow", "q2", "a.pdf", recall=1.0)),
        evaluation("after", scored("flow", "q", "a.pdf", mrr=1.0)),
    ],
)
def test_evaluations_that_share_nothing_cannot_be_compared(after):
    with pytest.raises(RequestError, match=r"'before' \(arms 'flow'\) and 'after' \(arms .*\) scored no question"):
        compare(evaluation("before", scored("flow", "q", "a.pdf", recall=1.0)), after)


def test_whatever_else_differs_is_named_with_both_values_models_before_the_settings():
    read = {"embedder": "minilm", "reader": "extractive", "chat": ""}
    before = evaluation("before", models=read)
    after = evaluation(
        "after",
        snapshot=4,
        code="0.2.0",
        models=read | {"reader": "model", "judge": "qwen"},
        settings={"routing": {"demand": 6.0, "sources": 12, "only": ["text"]}, "gate": {"saturation": 0.6}, "model": "not set"},
    )
    assert list_differences(before, after) == [
        Difference("snapshot", "3", "4"),
        Difference("code", "0.1.0", "0.2.0"),
        Difference("models.judge", "not set", '"qwen"'),
        Difference("models.reader", '"extractive"', '"model"'),
        Difference("gate", "true", "not set"),
        Difference("gate.saturation", "not set", "0.6"),
        Difference("model", "not set", '"not set"'),
        Difference("routing.only", '["text", "table"]', '["text"]'),
        Difference("routing.sources", "8", "12"),
    ]
    assert list_differences(before, before) == []
