"""An evaluation as people read it: each mean in its unit with its interval, marked where it is made of few; no name is markup."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from storage.records.evaluations import Figure
from tasks.evaluation.figures import GAIN_AT_NOISE, PAGES_FOR_RECALL
from tasks.evaluation.scoring import (
    AT_FLOW,
    BASELINE,
    BY_ITSELF,
    CONST,
    CORRECT,
    IRRELEVANT,
    OVERLAP,
    OWN,
    PERFECT,
    RETURNED,
    SAME_EACH,
    difference_of,
    found_by,
    gain_over,
    whole_after,
)
from tasks.evaluation.sizing import BY_PROBABILITY, CALIBRATION, MEANS, OVER_CONST, at_mean
from tasks.evaluation.tables import evaluation_markdown, evaluation_page
from tasks.evaluation.wording import brief_text, figure_text, named_with_unit
from tests.storage.evaluation_worlds import evaluation as kept

GOLDEN = Path(__file__).with_name("evaluation_pages.md")


def figure(metric, arm="flow", group="all", value=0.5, low=0.4, high=0.6, questions=611, documents=38):
    return Figure(arm, group, metric, value, low, high, questions, documents)


def evaluation(*figures, what="retrieval", **other):
    head = {"run_id": "0123456789abcdef", "what": what, "started": "2026-01-02T03:04:05+00:00", "benchmark": "reports"}
    head |= {"benchmark_hash": "ab" * 32, "corpus": "reports-1", "snapshot": 7, "scope": "document", "code": "0.1.0"}
    return kept(head.pop("run_id"), settings={}, figures=figures, **(head | other))


def retrieval():
    own, baseline = (OWN, SAME_EACH), (BASELINE, SAME_EACH)
    metrics = ["recall@10", "recall@1", "mrr@1", PERFECT, found_by(*own), gain_over(*own), "irrelevant pages", "seconds"]
    both = [figure(metric, arm) for metric in metrics for arm in ("flow", "top-k")]
    gain = {"value": -0.05, "low": -0.1, "high": 0.0}
    groups = {"type: Report": 5, "source: Table": 1200, "one page": 60, "several pages": 30}
    return evaluation(
        *both,
        figure(found_by(*baseline), value=0.65),
        *(figure(gain_over(*baseline), group=group, questions=30, **gain) for group in ("all", "several pages", "source: Table")),
        *(
            figure(at_mean(what, mean), group=group, questions=count)
            for what in (BY_PROBABILITY, OVER_CONST)
            for mean in MEANS
            for group, count in (("all", 239), ("several pages", 107))
            if group == "all" or what == OVER_CONST
        ),
        *(figure(metric, value=0.0472, low=0.035, high=0.077, questions=239) for metric in CALIBRATION),
        *(figure("recall@1", arm, group, questions=count) for arm in ("flow", "top-k") for group, count in groups.items()),
        figure(PERFECT, group="one page", value=1 / 3, low=1 / 3, high=1 / 3, questions=9, documents=1),
        scope="corpus",
        notes=("a.pdf could not be read",),
        models={"embedder": "mini_lm", "chat": "qwen|3", "judge": "", "weights": "reports"},
    )


def readers():
    """An evaluation of three readers."""
    arms, less = ("flow", "top-k", "plan"), {"value": -0.05, "low": -0.1, "high": 0.01}
    metrics = ("recall@1", "recall@3", "recall@5", PERFECT, IRRELEVANT, RETURNED, "seconds", *map(whole_after, (1, 7, 12)), AT_FLOW)
    pairs = [(arm, other) for arm in arms for other in arms if arm != other]
    return evaluation(
        *(figure(metric, arm) for metric in metrics for arm in arms),
        *(figure(PERFECT, arm, "several pages", value=0.3, questions=107) for arm in arms),
        *(figure(whole_after(pages, BY_ITSELF), arm, value=0.6) for pages in (1, 7, 12) for arm in ("flow", "top-k")),
        *(figure(difference_of(AT_FLOW), arm, group, **less) for arm in arms[1:] for group in ("all", "surveys")),
        *(figure(f"{OVERLAP}{other}", arm) for arm, other in pairs),
        *(figure(f"{GAIN_AT_NOISE}{other}", arm, **less) for arm, other in pairs),
        *(figure(f"{PAGES_FOR_RECALL}{other}", arm, value=7, low=4, high=101) for arm, other in pairs),
    )


def answers():
    figures = [figure(CORRECT, arm, questions=count) for arm, count in (("flow", 1), ("top-k", 2000))]
    cost = [figure("input tokens", value=12345.6, low=9000.0, high=15000.0), figure("cost", value=0.00021, low=0.0, high=1.0)]
    return evaluation(*figures, *cost, figure(CORRECT, group="one page"), what="answers")


def ablations():
    less = "without propagation"
    return evaluation(
        *(figure(metric, "full") for metric in ("recall@1", "recall@3", RETURNED, PERFECT)),
        figure(PERFECT, "full", "several pages", questions=107),
        figure("recall@1", less, value=0.45),
        figure(difference_of("recall@1"), less, value=-0.05, low=-0.1, high=0.01),
        figure(difference_of("recall@3"), less, value=0.0, low=0.0, high=0.0),
        figure(difference_of(RETURNED), less, value=1.26, low=0.5, high=2.0),
        figure(difference_of(PERFECT), less, "several pages", value=0.02, low=0.01, high=0.03, questions=107),
        figure(difference_of(PERFECT), less, value=-0.0001, low=-0.02, high=0.0),
        what="ablations",
    )


def transfer():
    gains = [figure(at_mean(OVER_CONST, mean), value=0.031, low=0.004, high=0.061) for mean in MEANS]
    return evaluation(*gains, what="transfer", models={"weights": "manuals"})


def probe():
    groups = ("all", "one page", "source: caption")
    return evaluation(
        *(figure(f"recall@{cutoff}", "flow", group, questions=20) for cutoff in (1, 5) for group in groups), what="probe"
    )


def test_the_pages_are_as_they_were_agreed():
    pages = "".join(map(evaluation_markdown, (retrieval(), readers(), answers(), ablations(), probe(), transfer())))
    assert pages == GOLDEN.read_text("utf-8"), "where this is wanted, write the new pages into the file and read them"


def test_a_row_for_each_reader_stands_first_where_others_than_flow_and_top_k_were_asked():
    titles = [[table.title for table in evaluation_page(each, brief=False).tables] for each in (readers(), retrieval())]
    assert titles[0][0] == "The readers, 611 questions" and titles[1][0].startswith("Recall of the ranking")
    assert evaluation_page(readers(), brief=False).tables[0].cells.columns[:3] == ["reader", "recall@1 (%)", "recall@3 (%)"]


HERE, ELSEWHERE = "ab" * 6, "cd" * 6
"""The benchmark of these evaluations, as heads show its hash, and another."""


@pytest.mark.parametrize(
    ("models", "here"),
    [
        ({"weights": "reports"}, True),
        ({"weights": "manuals"}, False),
        ({"weights": "manuals", "fitted on": HERE}, True),
        ({"weights": "reports", "fitted on": ELSEWHERE}, False),
        ({}, False),
    ],
)
def test_the_hash_says_where_weights_were_fitted_and_the_name_where_there_is_none(models, here):
    for one in (retrieval(), answers(), ablations()):
        page = evaluation_markdown(replace(one, models=models))
        assert ("fitted on these documents" in page) == here, one.what
    page = evaluation_markdown(replace(transfer(), models=models))
    assert ("weights fitted on these documents" in page) == here


def test_each_table_with_figures_of_weights_says_that_they_were_fitted_here_and_no_other_does():
    moved = {"weights": "moved", "fitted on": HERE}
    pages = [evaluation_page(replace(one, models=moved), brief=True) for one in (retrieval(), answers(), ablations())]
    tables = [table for page in pages for table in page.tables]
    by_title = {table.title.partition(",")[0]: f"{table.title} {table.cells.rows()}" for table in tables}
    found = {title for title, words in by_title.items() if ", fitted on these documents" in words}
    assert found == {
        "How often all evidence is there",
        "What the returned set gains (points)",
        "Also measured",
        "Perfect recall (%) by group",
        "Measured",
        "Accuracy (%) by group",
        "Full",
    }
    (measured,) = (table for table in tables if table.title.startswith("Also measured"))
    assert measured.cells["metric"].to_list() == ["irrelevant pages (%), fitted on these documents", "seconds"]


def test_on_a_narrow_terminal_ablations_have_short_names_and_marks_in_place_of_intervals():
    page = evaluation_page(ablations(), brief=True)
    (table,) = page.tables
    assert table.cells.columns == ["arm", "R@1", "pages", "whole", "several"]
    assert table.cells.rows() == [
        ("full", "50.0", "0.5", "50.0", "50.0"),
        ("without propagation", "-5.0 ", "+1.3!", "+0.0 ", "+2.0!"),
    ]
    assert "! more than luck" in page.legend and "--markdown has the intervals" in page.legend
    for brief in (True, False):
        assert "40.0-60.0" in str(evaluation_page(retrieval(), brief=brief).tables[0].cells["@1"][0])


@pytest.mark.parametrize(
    ("metric", "numbers", "shown", "brief"),
    [
        ("recall@1", {"value": 0.5704, "low": 0.501, "high": 0.6379}, "57.0 (50.1-63.8)", "57.0"),
        (RETURNED, {"value": 6.25, "low": 5.0, "high": 7.0}, "6.2 (5.0-7.0)", "6.2"),
        (difference_of("recall@1"), {"value": -0.016, "low": -0.03, "high": 0.002}, "-1.6 (-3.0 to +0.2)", "-1.6 "),
        (gain_over(OWN, CONST), {"value": -0.0001, "low": -0.02, "high": 0.0}, "+0.0 (-2.0 to +0.0)", "+0.0 "),
        ("recall@1", {"questions": 9}, "50.0 (40.0-60.0)*", "50.0*"),
        ("recall@1", {"questions": 10, "documents": 5}, "50.0 (40.0-60.0)", "50.0"),
        ("recall@1", {"documents": 4}, "50.0 (40.0-60.0)*", "50.0*"),
        ("recall@1", {"documents": 1}, "50.0 (-)*", "50.0*"),
        (difference_of("recall@1"), {"low": 0.5, "documents": 1}, "+50.0 (-)*", "+50.0 *"),
        (difference_of("recall@1"), {"low": 0.5, "documents": 2}, "+50.0 (+50.0 to +60.0)*", "+50.0!*"),
    ],
)
def test_a_figure_is_shown_in_its_unit_with_its_interval_and_marks(metric, numbers, shown, brief):
    one = figure(metric, **numbers)
    assert (figure_text(one), brief_text(one)) == (shown, brief)


def test_a_metric_is_named_with_its_unit():
    assert named_with_unit("recall@1") == "recall@1 (%)" and named_with_unit("seconds") == "seconds"
    assert named_with_unit("recall@1, difference") == "recall@1, difference (points)"


def shown_by_markdown(page):
    inline = [token for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page) if token.type == "inline"]
    assert all(child.type in {"text", "text_special"} for token in inline for child in token.children)
    return ["".join(child.content for child in token.children) for token in inline]


@given(name=st.text(st.sampled_from("ab |*_~`[]()<>!\\&;#$\n-"), max_size=12))
def test_no_name_becomes_markup(name):
    page = evaluation_markdown(evaluation(figure("recall@1", group=f"x{name}x"), benchmark=f"x{name}x"))
    plain = re.sub(r"\s+", " ", f"x{name}x")
    assert plain in shown_by_markdown(page) and shown_by_markdown(page)[0] == f"Evaluation of retrieval: {plain}"
