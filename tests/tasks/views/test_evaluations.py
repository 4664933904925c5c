"""An evaluation as people read it: each mean in its unit with its interval, marked where it is made of few; no name is markup."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from storage.records.evaluations import BenchmarkQuestion, Figure
from tasks.evaluation.comparing import MetricChange
from tasks.evaluation.refusals import REFUSED_AT
from tasks.evaluation.scoring import AT_FLOW, CONST, CORRECT, OWN, PERFECT, RETURNED, SHOWN, WORDS_SHOWN, difference_of, gain_over
from tasks.evaluation.sizing import BY_PROBABILITY, CALIBRATION, MEANS, OVER_CONST, at_mean
from tasks.evaluation.units import write_figure
from tasks.views.evaluations import ComparisonView, context_of, evaluation_markdown, rows_moved
from tasks.views.render import TEXT, draw
from tests.storage.evaluation_worlds import evaluation as kept
from tests.storage.evaluation_worlds import scored

HERE = "ab" * 6
"""The benchmark of these evaluations, as heads show its hash."""
GOLDEN = Path(__file__).with_name("evaluation_pages.md")


def figure(metric, arm="flow", group="all", value=0.5, low=0.4, high=0.6, questions=611, documents=38):
    return Figure(arm, group, metric, value, low, high, questions, documents)


def evaluation(*figures, what="retrieval", **other):
    head = {"run_id": "0123456789abcdef", "what": what, "started": "2026-01-02T03:04:05+00:00", "benchmark": "reports"}
    head |= {"benchmark_hash": HERE * 5, "corpus": "reports-1", "snapshot": 7, "scope": "document", "code": "0.1.0"}
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
        models={"embedder": "mini_lm", "chat": "qwen|3", "judge": "", "weights": "reports", "fitted on": HERE},
    )


def answers():
    figures = [figure(CORRECT, arm, questions=count) for arm, count in (("flow", 1), ("top-k", 2000))]
    cost = [figure("input tokens", value=12345.6, low=9000.0, high=15000.0), figure("cost", value=0.00021, low=0.0, high=1.0)]
    refused = [figure(f"{REFUSED_AT}{share}", questions=80) for share in ("10%", "50%")]
    words = {"value": 150.44, "low": 148.0, "high": 152.0}
    shown = [
        figure(SHOWN),
        figure(WORDS_SHOWN, **words),
        figure(SHOWN, group="answer: string"),
        figure(WORDS_SHOWN, group="answer: string", **words),
    ]
    return evaluation(*figures, *cost, *refused, figure(CORRECT, group="one page"), *shown, what="answers")


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


@pytest.mark.parametrize(("models", "here"), [({"fitted on": HERE}, True), ({"fitted on": "cd" * 6}, False), ({}, False)])
def test_the_hash_of_their_questions_says_where_weights_were_fitted(models, here):
    for one in (retrieval(), answers(), ablations(), transfer()):
        page = evaluation_markdown(replace(one, models={"weights": "manuals"} | models))
        assert ("fitted on these documents" in page) == here, one.what


def test_where_intervals_have_no_room_marks_stand_in_their_place():
    wide, narrow = (context_of(ablations(), width=width) for width in (200, 80))
    assert not wide["brief"] and "(-10.0 to +1.0)" in str(wide["tables"][0].cells.rows())
    assert narrow["brief"] and narrow["tables"][0].cells.rows() == [
        ("full", "50.0", "0.5", "50.0"),
        ("without propagation", "-5.0", "+1.3!", "+0.0"),
    ]
    assert "! more than luck" in draw(TEXT, "evaluation.j2", **narrow)


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
        ("input tokens", {"value": 12345.6, "low": 9000.0, "high": 15000.0}, "12,346 (9,000-15,000)", "12,346"),
        (difference_of("recall@1"), {"low": 0.5, "documents": 1}, "+50.0 (-)*", "+50.0*"),
        (difference_of("recall@1"), {"low": 0.5, "documents": 2}, "+50.0 (+50.0 to +60.0)*", "+50.0!*"),
    ],
)
def test_a_figure_is_shown_in_its_unit_with_its_interval_and_marks(metric, numbers, shown, brief):
    one = figure(metric, **numbers)
    assert (write_figure(one), write_figure(one, brief=True)) == (shown, brief)


def shown_by_markdown(page):
    inline = [token for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page) if token.type == "inline"]
    assert all(child.type in {"text", "text_special"} for token in inline for child in token.children)
    return ["".join(child.content for child in token.children) for token in inline]


@given(name=st.text(st.sampled_from("ab |*_~`[]()<>!\\&;#$\n-"), max_size=12))
def test_no_name_becomes_markup(name):
    page = evaluation_markdown(evaluation(figure("recall@1", group=f"x{name}x"), benchmark=f"x{name}x"))
    plain = re.sub(r"\s+", " ", f"x{name}x")
    assert f"{plain} (611)" in shown_by_markdown(page) and shown_by_markdown(page)[0] == f"Evaluation of retrieval: {plain}"


def changed(arm, metric, *numbers, documents=6, beyond_luck=False, fitted_here=False):
    return MetricChange(arm, metric, 40, *numbers, documents, beyond_luck, fitted_here)


def test_of_two_evaluations_only_what_moved_is_shown_in_its_unit_and_marked():
    changes = (
        changed("flow", "recall@5", 0.5, 0.625, 0.125, 0.05, 0.2, beyond_luck=True),
        changed("flow", PERFECT, 0.5, 0.625, 0.125, 0.125, 0.125, documents=1, fitted_here=True),
        changed("flow", "seconds", 0.1, 0.1, -0.001, -0.002, 0.0),
        changed("top-k", "recall@5", 0.5, 0.5, 0.0, 0.0, 0.0),
    )
    comparison = ComparisonView("a" * 12, "b" * 12, changes, (), "reports", "2026-01-01T00:00", "2026-01-02T00:00")
    assert rows_moved(comparison) == [
        ("flow", "recall@5 (%)", "50.0", "62.5", "+12.5 (+5.0 to +20.0)", "more than luck"),
        ("flow", "perfect recall (%), fitted on these documents", "50.0", "62.5", "+12.5 (-)*", ""),
        ("flow", "seconds", "0.10", "0.10", "+0.00 (+0.00 to +0.00)", ""),
    ]
    shown = draw(TEXT, "comparison.j2", comparison=comparison, moved=3)
    assert "4 metrics compared, 1 the same" in shown and "nothing else differs" in shown


def asked(number):
    text = f"Which page says word {number}?"
    return BenchmarkQuestion(f"p{number}", text, ("a.pdf",), evidence=(("a.pdf", number),), evidence_sources=("caption",))


def test_probes_whose_page_did_not_come_back_are_shown_once_for_all_readers_the_first_ten_of_them():
    came = {number: float(number % 2) for number in range(1, 27)}
    scores = [
        scored(arm, f"p{number}", "a.pdf", **{"recall@5": share}) for number, share in came.items() for arm in ("flow", "top-k")
    ]
    printed = kept("r" * 12, *scores)
    lines = draw(TEXT, "evaluation.j2", **context_of(printed, map(asked, came))).split("\n")
    assert "bold| 13 probes whose page is not among the first five" in lines
    assert "|   caption on page 2 of a.pdf: Which page says word 2?" in lines
    assert sum("caption on page" in line for line in lines) == 10 and "dim|   and 3 more; --out FILE.jsonl has all" in lines
    assert "probes" not in draw(TEXT, "evaluation.j2", **context_of(printed))
