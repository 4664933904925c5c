"""Tables say what the figures say: each mean with its interval, in 80 columns."""

from rich.console import Console

from flows.showing import Output
from tasks.evaluation_figures import difference_of
from tasks.evaluation_scoring import BASELINE, OWN, PERFECT, RETURNED, SAME_MEAN, SAME_NUMBER, found_by, gain_over
from tasks.evaluation_tables import (
    ablation_tables,
    evaluation_tables,
    evidence_tables,
    gain_tables,
    group_tables,
    measure_tables,
    probe_tables,
    retrieval_tables,
)
from tasks.evaluation_wording import Figures, brief_text
from tests.tasks.evaluation_worlds import evaluation, figure, readers_evaluation


def test_rankings_have_a_table_for_each_metric_with_its_cut_offs_in_their_order():
    figures = [
        figure(f"{family}@{cutoff}", arm) for family in ("recall", "mrr") for cutoff in (10, 1, 5) for arm in ("flow", "top-k")
    ]
    recall, mrr = retrieval_tables(Figures(figures[:-1]))
    assert (recall.title, mrr.title) == ("Recall of the ranking (%), 611 questions", "MRR of the ranking (%), 611 questions")
    assert recall.columns == ("arm", "@1", "@5", "@10")
    assert [row[0] for row in recall.rows] == ["flow", "top-k"]
    assert mrr.rows[1] == ("top-k", "50.0 (40.0-60.0)", "-", "50.0 (40.0-60.0)")


def test_the_returned_set_stands_above_the_cut_rankings_with_its_gain_over_each():
    figures = [
        figure(PERFECT, value=0.6, low=0.5, high=0.7),
        figure(found_by(OWN, SAME_NUMBER), value=0.65),
        figure(gain_over(OWN, SAME_NUMBER), value=-0.05, low=-0.1, high=0.0),
        figure(PERFECT, "top-k", value=0.4),
    ]
    (table,) = evidence_tables(Figures(figures))
    assert table.rows == (
        ("flow: returned set", "60.0 (50.0-70.0)", ""),
        ("own ranking, same number", "65.0 (40.0-60.0)", "-5.0 (-10.0 to +0.0)"),
        ("top-k: returned set", "40.0 (40.0-60.0)", ""),
    )
    assert not list(evidence_tables(Figures([figure("recall@1")])))


def test_gains_are_told_by_the_pages_that_a_question_needs():
    gain, numbers = gain_over(OWN, SAME_NUMBER), {"all": 90, "several pages": 30, "source: Table": 40}
    figures = [
        figure(gain, arm, group, value=0.5, questions=number) for group, number in numbers.items() for arm in ("flow", "top-k")
    ]
    (table,) = gain_tables(Figures([*figures, figure(gain_over(BASELINE, SAME_NUMBER)), figure("recall@1", group="one page")]))
    assert table.columns == ("over, of flow", "all (90)", "several pages (30)")
    assert table.rows == (
        ("own ranking, same number", "+50.0 (+40.0 to +60.0)", "+50.0 (+40.0 to +60.0)"),
        ("top-k, same number", "+50.0 (+40.0 to +60.0)", "-"),
    )


def test_what_has_no_table_of_its_own_stands_in_one_together():
    told = ["recall@1", PERFECT, gain_over(OWN, SAME_NUMBER), difference_of("correct"), "correct", "calls"]
    (table,) = measure_tables(Figures([figure(metric) for metric in told]))
    assert [row[0] for row in table.rows] == ["correct (%)", "calls"]
    assert not list(measure_tables(Figures([figure("recall@1")])))


def test_ablations_are_one_table_of_what_each_changes_of_the_whole():
    figures = [
        figure("recall@1", "full"),
        figure("recall@1", "without propagation", value=0.45),
        figure("recall@3", "full"),
        figure(difference_of("recall@1"), "without propagation", value=-0.05, low=-0.1, high=0.01),
        figure(PERFECT, "full", "several pages", questions=107),
        figure(difference_of(PERFECT), "without propagation", "several pages", value=0.02, low=0.01, high=0.03, questions=107),
    ]
    figures += [figure(PERFECT, "full"), figure(difference_of(PERFECT), "without propagation", value=0.0, low=0.0, high=0.0)]
    (table,) = ablation_tables(Figures(figures), brief=False)
    assert table.title == "Full, and what each ablation changes of it (points, pages), 611 questions"
    assert table.columns == ("arm", "recall@1", PERFECT, f"{PERFECT}, several pages")
    assert table.rows == (
        ("full", "50.0 (40.0-60.0)", "50.0 (40.0-60.0)", "50.0 (40.0-60.0)"),
        ("without propagation", "-5.0 (-10.0 to +1.0)", "+0.0 (+0.0 to +0.0)", "+2.0 (+1.0 to +3.0)"),
    )


def test_in_brief_a_difference_is_marked_where_it_is_more_than_luck():
    figures = [
        *(figure(metric, "full") for metric in ("recall@1", "recall@3", RETURNED)),
        figure(difference_of("recall@1"), "mixing 0", value=-0.05, low=-0.1, high=0.01),
        figure(difference_of("recall@3"), "mixing 0", value=0.0, low=0.0, high=0.0),
        figure(difference_of(RETURNED), "mixing 0", value=1.26, low=0.5, high=2.0),
    ]
    (table,) = evaluation_tables(evaluation(*figures, what="ablations"), brief=True)
    assert table.columns == ("arm", "R@1", "pages")
    assert table.rows == (("full", "50.0", "0.5"), ("mixing 0", "-5.0 ", "+1.3!"))


def test_in_brief_few_documents_are_marked_and_one_is_never_more_than_luck():
    gained = {"value": 0.08, "low": 0.08, "high": 0.08}
    change = difference_of("recall@1")
    assert [brief_text(figure(change, documents=number, **gained)) for number in (1, 2, 5)] == ["+8.0 *", "+8.0!*", "+8.0!"]
    assert [brief_text(figure("recall@1", documents=number)) for number in (4, 5)] == ["50.0*", "50.0"]
    assert brief_text(figure(change, questions=9, value=0.0, low=-0.1, high=0.1)) == "+0.0 *"


def test_probes_are_told_by_kind():
    figures = [
        figure(f"recall@{cutoff}", "flow", group, questions=20)
        for cutoff in (1, 5)
        for group in ("all", "one page", "source: caption")
    ]
    (table,) = probe_tables(Figures(figures))
    assert table.columns == ("probes", "number", "@1", "@5")
    assert table.rows == (
        ("all", "20", "50.0 (40.0-60.0)", "50.0 (40.0-60.0)"),
        ("caption", "20", "50.0 (40.0-60.0)", "50.0 (40.0-60.0)"),
    )
    assert evaluation_tables(evaluation(*figures, what="probe"), brief=True) == (table,)


def test_groups_are_sorted_by_kind_and_told_with_their_number_of_questions():
    groups = {"type: Report": 5, "source: Table": 40, "all": 90, "several pages": 30, "one page": 60}
    figures = [figure("recall@1", arm, group, questions=number) for group, number in groups.items() for arm in ("flow", "top-k")]
    (table,) = group_tables(Figures([*figures[1:], figure(gain_over(OWN, SAME_MEAN), group="one page")]))
    assert [row[:2] for row in table.rows] == [
        ("all", "90"),
        ("one page", "60"),
        ("several pages", "30"),
        ("source: Table", "40"),
        ("type: Report", "5"),
    ]
    assert table.columns == ("questions", "number", "top-k", "flow")
    assert table.rows[-1][2:] == ("50.0 (40.0-60.0)*", "-")


def test_tables_fit_eighty_columns():
    tables = evaluation_tables(readers_evaluation(), brief=False)
    console = Console(width=80, highlight=False, soft_wrap=True, record=True)
    output = Output(as_json=False)
    output.__dict__["console"] = console
    for table in tables:
        output.table(table.columns, table.rows, right=table.columns[1:])
    assert len(console.export_text().splitlines()) == sum(1 + len(table.rows) for table in tables), "a row took two lines"


def test_one_question_is_not_several():
    (table,) = retrieval_tables(Figures([figure("recall@1", questions=1)]))
    assert table.title.endswith(", 1 question")
    (mixed,) = retrieval_tables(Figures([figure("recall@1", questions=1), figure("recall@1", "top-k", questions=2000)]))
    assert mixed.title.endswith(", 1 to 2,000 questions")
