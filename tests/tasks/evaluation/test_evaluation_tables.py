"""An evaluation as people read it: each mean in its unit with its interval, marked where it is made of few; no name is markup."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from storage.records.evaluations import Figure
from tasks.evaluation.refusals import REFUSED_AT
from tasks.evaluation.scoring import AT_FLOW, CONST, CORRECT, OWN, PERFECT, RETURNED, difference_of, gain_over
from tasks.evaluation.sizing import BY_PROBABILITY, CALIBRATION, MEANS, OVER_CONST, at_mean
from tasks.evaluation.tables import evaluation_markdown, evaluation_page, figure_text
from tests.storage.evaluation_worlds import evaluation as kept

GOLDEN = Path(__file__).with_name("evaluation_pages.md")


def figure(metric, arm="flow", group="all", value=0.5, low=0.4, high=0.6, questions=611, documents=38):
    return Figure(arm, group, metric, value, low, high, questions, documents)


def evaluation(*figures, what="retrieval", **other):
    head = {"run_id": "0123456789abcdef", "what": what, "started": "2026-01-02T03:04:05+00:00", "benchmark": "reports"}
    head |= {"benchmark_hash": "ab" * 32, "corpus": "reports-1", "snapshot": 7, "scope": "document", "code": "0.1.0"}
    return kept(head.pop("run_id"), settings={}, figures=figures, **(head | other))


def retrieval():
    metrics = ("recall@1", "mrr@10", PERFECT, gain_over(OWN, CONST), AT_FLOW, at_mean(BY_PROBABILITY, "5"), *CALIBRATION, "seconds")
    groups = {"type: Report": 5, "source: Table": 1200, "several pages": 30}
    gained = (gain_over(OWN, CONST), difference_of(AT_FLOW))
    return evaluation(
        *(figure(metric, arm) for metric in metrics for arm in ("flow", "top-k")),
        figure(difference_of(AT_FLOW), "top-k", value=-0.05, low=-0.1, high=0.01),
        *(figure("recall@1", arm, group, questions=count) for arm in ("flow", "top-k") for group, count in groups.items()),
        *(figure(metric, "top-k", group, value=-0.05, low=-0.1, high=0.0) for metric in gained for group in groups),
        figure(PERFECT, group="several pages", value=1 / 3, low=1 / 3, high=1 / 3, questions=9, documents=1),
        scope="corpus",
        notes=("a.pdf could not be read",),
        models={"embedder": "mini_lm", "chat": "qwen|3", "judge": "", "weights": "reports"},
    )


def answers():
    figures = [figure(CORRECT, arm, questions=count) for arm, count in (("flow", 1), ("top-k", 2000))]
    cost = [figure("input tokens", value=12345.6, low=9000.0, high=15000.0), figure("cost", value=0.00021, low=0.0, high=1.0)]
    refused = [figure(f"{REFUSED_AT}{share}", questions=80) for share in ("10%", "50%")]
    return evaluation(*figures, *cost, *refused, figure(CORRECT, group="one page"), what="answers")


def ablations():
    less = "without propagation"
    return evaluation(
        *(figure(metric, "full") for metric in ("recall@1", "mrr@1", RETURNED, PERFECT)),
        *(figure(PERFECT, "full", group, questions=107) for group in ("one page", "several pages")),
        figure("recall@1", less, value=0.45),
        figure(difference_of("recall@1"), less, value=-0.05, low=-0.1, high=0.01),
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
    pages = "".join(map(evaluation_markdown, (retrieval(), answers(), ablations(), probe(), transfer())))
    assert pages == GOLDEN.read_text("utf-8"), "where this is wanted, write the new pages into the file and read them"


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


def test_where_intervals_have_no_room_marks_stand_in_their_place():
    wide, narrow = (evaluation_page(ablations(), width=width) for width in (200, 80))
    shown, briefly = (next(iter(page.tables.values())) for page in (wide, narrow))
    assert "(-10.0 to +1.0)" in str(shown.rows()) and "in brackets" in wide.legend
    assert briefly.columns == ["arm", "recall@1", RETURNED, PERFECT]
    assert briefly.rows() == [
        ("full", "50.0", "0.5", "50.0"),
        ("without propagation", "-5.0", "+1.3!", "+0.0"),
    ]
    assert "! more than luck" in narrow.legend and "--markdown has the intervals" in narrow.legend


@pytest.mark.parametrize(
    ("metric", "numbers", "shown", "brief"),
    [
        ("recall@1", {"value": 0.5704, "low": 0.501, "high": 0.6379}, "57.0 (50.1-63.8)", "57.0"),
        (RETURNED, {"value": 6.25, "low": 5.0, "high": 7.0}, "6.2 (5.0-7.0)", "6.2"),
        (difference_of("recall@1"), {"value": -0.016, "low": -0.03, "high": 0.002}, "-1.6 (-3.0 to +0.2)", "-1.6"),
        (gain_over(OWN, CONST), {"value": -0.0001, "low": -0.02, "high": 0.0}, "+0.0 (-2.0 to +0.0)", "+0.0"),
        ("recall@1", {"questions": 9}, "50.0 (40.0-60.0)*", "50.0*"),
        ("recall@1", {"questions": 10, "documents": 5}, "50.0 (40.0-60.0)", "50.0"),
        ("recall@1", {"documents": 4}, "50.0 (40.0-60.0)*", "50.0*"),
        (difference_of("recall@1"), {"low": 0.5, "documents": 1}, "+50.0 (-)*", "+50.0*"),
        (difference_of("recall@1"), {"low": 0.5, "documents": 2}, "+50.0 (+50.0 to +60.0)*", "+50.0!*"),
    ],
)
def test_a_figure_is_shown_in_its_unit_with_its_interval_and_marks(metric, numbers, shown, brief):
    one = figure(metric, **numbers)
    assert (figure_text(one), figure_text(one, brief=True)) == (shown, brief)


def shown_by_markdown(page):
    inline = [token for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page) if token.type == "inline"]
    assert all(child.type in {"text", "text_special"} for token in inline for child in token.children)
    return ["".join(child.content for child in token.children) for token in inline]


@given(name=st.text(st.sampled_from("ab |*_~`[]()<>!\\&;#$\n-"), max_size=12))
def test_no_name_becomes_markup(name):
    page = evaluation_markdown(evaluation(figure("recall@1", group=f"x{name}x"), benchmark=f"x{name}x"))
    plain = re.sub(r"\s+", " ", f"x{name}x")
    assert f"{plain} (611)" in shown_by_markdown(page) and shown_by_markdown(page)[0] == f"Evaluation of retrieval: {plain}"
