"""Figures are means over the questions that have a number, with intervals by document."""

import pytest

from storage.evaluation_records import BenchmarkQuestion, Scored
from tasks.evaluation_figures import ALL, difference_of, differences, figures_of, groups_of, more_than_luck


def scored(arm, name, document="a.pdf", **values):
    return Scored(arm, name, document, values)


def test_a_question_belongs_to_all_to_its_number_of_pages_to_its_sources_and_to_its_type():
    pages = (("a.pdf", 1), ("a.pdf", 2))
    sources = ("Table", "Chart", "Table")
    question = BenchmarkQuestion("q", "?", ("a.pdf",), document_type="Report", evidence=pages, evidence_sources=sources)
    assert groups_of(question) == (ALL, "several pages", "source: Table", "source: Chart", "type: Report")
    assert groups_of(BenchmarkQuestion("q", "?", ("a.pdf",), evidence=(("a.pdf", 1), ("a.pdf", 1)))) == (ALL, "one page")
    assert groups_of(BenchmarkQuestion("q", "?", ("a.pdf",))) == (ALL,)


def test_the_mean_of_each_part_is_over_its_own_questions_and_other_metrics_are_told_of_all_only():
    found = figures_of(
        [scored("flow", "q", hit=1.0, seconds=2.0), scored("flow", "r", "b.pdf", hit=0.0, seconds=4.0)],
        {"q": (ALL, "one page"), "r": (ALL,)},
        resamples=100,
        in_groups=lambda metric: metric == "hit",
    )
    assert {(one.group, one.metric): (one.value, one.questions) for one in found} == {
        (ALL, "hit"): (0.5, 2),
        ("one page", "hit"): (1.0, 1),
        (ALL, "seconds"): (3.0, 2),
    }


def test_a_metric_that_a_question_lacks_is_not_measured_on_it():
    told = [scored("flow", "q", hit=1.0), scored("flow", "r", right=1.0)]
    found = figures_of(told, {"q": (ALL,), "r": (ALL,)}, resamples=100, in_groups=bool)
    assert [(one.metric, one.questions) for one in found] == [("hit", 1), ("right", 1)]


def test_the_interval_is_wide_where_documents_disagree_and_a_point_where_there_is_one():
    spread = [scored("flow", f"q{n}", f"{n % 10}.pdf", hit=float(n % 10 < 5)) for n in range(40)]
    groups = {one.question_id: (ALL,) for one in spread}
    (wide,) = figures_of(spread, groups, resamples=1000, in_groups=bool)
    assert wide.low <= 0.25 < 0.5 == wide.value < 0.75 <= wide.high
    (point,) = figures_of([scored("flow", "q1", hit=1.0), scored("flow", "q2", hit=0.0)], groups, resamples=1000, in_groups=bool)
    assert (point.low, point.high) == (0.5, 0.5)
    assert (wide.documents, wide.questions, point.documents, point.questions) == (10, 40, 1, 2)


@pytest.mark.parametrize(
    ("low", "high", "documents", "sure"),
    [
        (0.01, 0.2, 2, True),
        (-0.2, -0.01, 2, True),
        (0.08, 0.08, 1, False),
        (-0.08, -0.08, 1, False),
        (0.0, 0.2, 9, False),
        (-0.2, 0.0, 9, False),
        (-0.1, 0.1, 9, False),
        (0.0, 0.0, 9, False),
    ],
)
def test_it_is_more_than_luck_where_the_interval_leaves_out_zero_and_documents_were_drawn_from(low, high, documents, sure):
    assert more_than_luck(low=low, high=high, documents=documents) is sure


def test_differences_are_taken_question_by_question_to_the_reference():
    told = [scored("full", "q", hit=1.0), scored("less", "q", hit=0.25), scored("less", "r", hit=1.0)]
    (one,) = differences(told, reference="full", metrics=["hit"])
    assert (one.arm, one.question_id, one.values) == ("less", "q", {difference_of("hit"): pytest.approx(-0.75)})
