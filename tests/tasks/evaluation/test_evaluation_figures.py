"""What an evaluation comes to: scores and figures of what was asked, by hand."""

from dataclasses import replace

import polars as pl
import pytest

from storage.records.evaluations import BenchmarkQuestion
from tasks.algorithms.metrics.answers import MatchKind
from tasks.algorithms.metrics.benchmark_scores import Rules
from tasks.asking.deciding import code_identity
from tasks.evaluation.arms import FULL
from tasks.evaluation.comparing import compare
from tasks.evaluation.figures import (
    ABLATED,
    GAINS_OF_SIZES,
    figures_of,
    groups_of,
    more_than_luck,
    names_its_document,
    sum_up,
)
from tasks.evaluation.plan import Results
from tasks.evaluation.scoring import (
    ALL,
    ANLS,
    AT_FLOW,
    BASELINE,
    BY_RULES,
    CORRECT,
    CUTS,
    OWN,
    PERFECT,
    PROVEN,
    REFUSED_RIGHTLY,
    REFUSED_WRONGLY,
    SAME_EACH,
    SHOWN,
    SHOWN_FIRST,
    WORDS_SHOWN,
    Judged,
    accuracy_by,
    deviation_of,
    difference_of,
    f1_by,
    gain_over,
)
from tasks.evaluation.tables.published import find_table
from tasks.evaluation.units import figures_in, write_figure
from tasks.settings.ask import AllSettings
from tasks.views.evaluations import context_of, tables_of, view_evaluation
from tasks.views.render import TEXT, draw
from tests.evaluation_plans import answered, plan_by_hand
from tests.storage.evaluation_worlds import scored

ONE = BenchmarkQuestion("one", "How deep?", ("a.pdf",), "Report", evidence=(("a.pdf", 1),), evidence_sources=("Text",))
TWO = BenchmarkQuestion("two", "How wide?", ("b.pdf",), "Manual", evidence=(("b.pdf", 1), ("b.pdf", 2)))
GAINS = [gain_over(ranking, cut) for ranking in (OWN, BASELINE) for cut in CUTS]


READ = AllSettings.model_validate({"ask": {"reading": {"by": "model"}}})


def summed(plan, found):
    return sum_up(plan, found, run_id="today", started="2026-01-01T00:00:00+00:00")


def values(evaluation, group=ALL):
    return {(one.arm, one.metric): one.value for one in figures_in(evaluation.figures) if one.group == group}


def retrieved(**arms):
    """Results by hand: for each arm the rankings and the sets of both questions."""
    return Results(
        {
            arm.replace("_", "-"): {one.id: answered(one, *pages, reader=arm) for one, pages in zip((ONE, TWO), shown, strict=True)}
            for arm, shown in arms.items()
        },
        {},
    )


FOUND = retrieved(flow=[([1, 2], [1]), ([2, 3, 1], [2, 1])], top_k=[([2, 1], [2]), ([1, 2, 3], [1, 2])])


def test_an_evaluation_says_what_was_measured_where_and_by_which_code():
    plan = plan_by_hand(ONE, TWO, scope="corpus")
    shown = {"snapshot": 3, "models": {"reader": "extractive"}, "notes": ("one was left out",)}
    evaluation = summed(plan, FOUND.merge(Results(**shown)))
    assert {name: getattr(evaluation, name) for name in shown} == shown
    assert (evaluation.what, evaluation.corpus, evaluation.scope) == ("retrieval", "default", "corpus")
    assert (evaluation.benchmark, evaluation.benchmark_hash) == ("reports", "b" * 64)
    assert evaluation.code == code_identity()
    assert evaluation.settings == plan.request.settings.model_dump(mode="json")


def test_figures_are_the_means_over_the_questions_of_each_arm():
    evaluation = summed(plan_by_hand(ONE, TWO), FOUND)
    shown = values(evaluation)
    assert (shown["flow", "recall@1"], shown["top-k", "recall@1"]) == (0.75, 0.25)
    assert (shown["flow", PERFECT], shown["top-k", PERFECT]) == (1.0, 0.5)
    # Of question two, flow needs three pages of its ranking for what its set has in two.
    assert (shown["flow", gain_over(OWN, SAME_EACH)], shown["flow", gain_over(BASELINE, SAME_EACH)]) == (0.5, 0.5)
    assert evaluation.scored.select("arm", "question_id").unique(maintain_order=True).rows() == [
        ("flow", "one"),
        ("flow", "two"),
        ("top-k", "one"),
        ("top-k", "two"),
    ]


def test_only_the_main_metrics_are_measured_on_parts_of_the_questions():
    evaluation = summed(plan_by_hand(ONE, TWO), FOUND)
    assert {one.group for one in figures_in(evaluation.figures)} == {
        ALL,
        "one page",
        "several pages",
        "source: Text",
        "type: Report",
        "type: Manual",
    }
    in_parts = {one.metric for one in figures_in(evaluation.figures) if one.group != ALL}
    assert in_parts == {"recall@1", "recall@3", "recall@5", PERFECT, *GAINS, *GAINS_OF_SIZES}
    assert in_parts < {one.metric for one in figures_in(evaluation.figures) if one.group == ALL}
    assert values(evaluation, "several pages")["flow", "recall@1"] == 0.5


def test_the_orders_of_more_readers_are_compared_at_flows_number_and_by_groups():
    found = FOUND.merge(retrieved(plan=[([2, 1], [2]), ([1, 2, 3], [1, 2])]))
    evaluation = summed(plan_by_hand(ONE, TWO), found)
    shown = values(evaluation)
    assert (shown["flow", AT_FLOW], shown["plan", AT_FLOW], shown["plan", difference_of(AT_FLOW)]) == (1.0, 0.5, -0.5)
    assert values(evaluation, "one page")["plan", difference_of(AT_FLOW)] == -1.0
    assert values(evaluation, "several pages")["plan", difference_of(AT_FLOW)] == 0.0


def test_each_ablation_has_its_differences_to_the_whole_method_and_that_has_none():
    plan = plan_by_hand(ONE, TWO, what="ablations", only=("BM25 only",), readers=("flow",))
    found = retrieved(**{FULL: [([1, 2], [1]), ([2, 3, 1], [2, 1])], "BM25 only": [([2, 1], [2, 1]), ([2, 3, 1], [2])]})
    evaluation = summed(plan, found)
    shown = values(evaluation)
    assert shown["BM25 only", difference_of("recall@1")] == -0.5
    assert shown["BM25 only", difference_of(PERFECT)] == -0.5
    assert shown["BM25 only", difference_of("pages returned")] == 0.0
    assert {metric for arm, metric in shown if arm == "BM25 only"} >= {difference_of(metric) for metric in ABLATED}
    assert not [metric for arm, metric in shown if arm == FULL and "difference" in metric]
    assert values(evaluation, "one page")["BM25 only", difference_of(PERFECT)] == 0.0
    assert values(evaluation, "several pages")["BM25 only", difference_of(PERFECT)] == -1.0
    assert {one.group for one in figures_in(evaluation.figures)} == {ALL, "one page", "several pages"}


def test_ablations_of_answers_differ_in_what_is_right_and_what_it_costs():
    one = BenchmarkQuestion("one", "How deep?", ("a.pdf",), answers=("20 m",))
    plan = plan_by_hand(one, what="ablations", answers=True, only=("without pictures",), readers=("flow",), settings=READ)
    asked = {FULL: answered(one, answer="20 m", calls=3), "without pictures": answered(one, answer="9 m", calls=1)}
    kinds = {FULL: MatchKind.EXACT, "without pictures": MatchKind.WRONG}
    judged = {arm: {"one": Judged("one", kind is MatchKind.EXACT, BY_RULES, kind)} for arm, kind in kinds.items()}
    evaluation = summed(plan, Results({arm: {"one": found} for arm, found in asked.items()}, judged))
    shown = values(evaluation)
    assert (shown[FULL, CORRECT], shown["without pictures", difference_of(CORRECT)]) == (1.0, -1.0)
    assert shown["without pictures", difference_of("calls")] == -2.0 and evaluation.what == "ablations"
    ((_kind, _metric, cells, _questions),) = [table for table in tables_of(evaluation) if table.kind == "changes"]
    assert cells.row(1, named=True)["accuracy"].startswith("-100.0")


def test_a_papers_table_is_kept_by_its_name_and_shows_each_figure_beside_the_printed_one():
    one = BenchmarkQuestion("one", "How deep?", ("a.pdf",), answers=("20 m",))
    plan = plan_by_hand(one, what="table", table="g2-3")
    plan = replace(plan, benchmark=replace(plan.benchmark, name="visdombench-spiqa"))
    rows = [arm.name for arm in plan.arms]
    assert [arm.ask.plan.rounds for arm in plan.arms] == list(range(6)) and {arm.reader for arm in plan.arms} == {"plan"}
    judged = {name: {"one": Judged("one", name == "R = 3", BY_RULES, MatchKind.EXACT)} for name in rows}
    read = replace(plan, request=plan.request.model_copy(update={"settings": READ}))
    evaluation = summed(read, Results({name: {"one": answered(one, answer="20 m")} for name in rows}, judged))
    (table,) = tables_of(evaluation)
    assert evaluation.what == "g2-3" and table.cells.rows()[3] == ("R = 3", "100.0 (-)* / 80.0")
    assert table.cells.rows()[0] == ("R = 0", "0.0 (-)* / 76.0") and "the printed answers are of" in str(evaluation.notes)
    assert view_evaluation(evaluation).printed["R = 3"] == {"accuracy": 80.0}
    narrow = draw(TEXT, "evaluation.j2", **context_of(evaluation, width=20))
    assert "--markdown` has the intervals; * fewer" in narrow and "more than luck" not in narrow
    elsewhere = replace(evaluation, benchmark="mine")
    assert tables_of(elsewhere)[0].cells.rows()[0] == ("R = 0", "0.0 (-)* / -")
    assert "prints no figures on 'mine'" in str(find_table("g2-3").remarks("mine"))
    assert "no chat model reads" not in str(summed(read, Results()).notes), "no row was asked, and none by rules"
    assert "no chat model reads" in evaluation.notes[0] and "no question that was asked" not in str(evaluation.notes)


def test_a_papers_table_names_the_parts_that_no_question_is_of():
    one = BenchmarkQuestion("one", "How deep?", ("a.pdf",), answers=("20 m",), document_type="Guidebook")
    plan = plan_by_hand(one, what="table", table="lad-5")
    judged = {arm.name: {"one": Judged("one", True, BY_RULES, MatchKind.EXACT)} for arm in plan.arms}
    asked = {arm.name: {"one": answered(one, answer="20 m")} for arm in plan.arms}
    notes = summed(plan, Results(asked, judged, models={"chat": "scripted"})).notes
    assert notes[0].startswith("no question that was asked is of type: ") and "Guidebook" not in notes[0]
    assert "no chat model reads" not in str(notes)


def test_a_papers_table_may_have_rows_of_another_and_its_figures_on_a_dataset_are_those_of_its_columns():
    table, other = find_table("flowreader-1"), find_table("flowreader-7")
    assert table.rows[-len(other.rows) :] == other.rows and table.rows[0].name == "GPT-5"
    assert list(find_table("molorag-2").printed_on("longdocurl")["MoLoRAG"].values()) == ["-", 51.71, "-"]


def test_a_probe_measures_its_rankings_by_kind():
    plan = plan_by_hand(ONE, TWO, what="probe")
    evaluation = summed(plan, FOUND)
    assert {one.metric for one in figures_in(evaluation.figures) if one.group == "source: Text"} == {
        f"recall@{n}" for n in (1, 3, 5, 10)
    }


def test_answers_are_measured_by_accuracy_and_by_right_and_wrong_refusals():
    right = BenchmarkQuestion("right", "How deep?", ("a.pdf",), answers=("20 m",), evidence=(("a.pdf", 1),))
    nothing = BenchmarkQuestion("nothing", "Who won?", ("b.pdf",), answerable=False)
    asked = {one.id: answered(one, answer="20 m") for one in (right, nothing)}
    judged = {
        "right": Judged("right", True, BY_RULES, MatchKind.EXACT),
        "nothing": Judged("nothing", False, BY_RULES, MatchKind.WRONG),
    }
    plan = plan_by_hand(right, nothing, what="answers", readers=("flow",), settings=READ)
    evaluation = summed(plan, Results({"flow": asked}, {"flow": judged}))
    shown = values(evaluation)
    assert (shown["flow", CORRECT], shown["flow", REFUSED_RIGHTLY], shown["flow", REFUSED_WRONGLY]) == (0.5, 0.0, 0.0)
    counted = {one.metric: one.questions for one in figures_in(evaluation.figures) if one.group == ALL}
    assert (counted[CORRECT], counted[REFUSED_RIGHTLY], counted[REFUSED_WRONGLY]) == (2, 1, 1)
    assert values(evaluation, "one page")["flow", CORRECT] == 1.0
    assert (counted[ANLS], shown["flow", ANLS]) == (1, 1.0)
    assert {"recall@1", SHOWN, f1_by(Rules.MMLONGBENCH)}.isdisjoint(counted)


def test_of_repeats_the_mean_is_told_with_its_deviation_and_compared_like_a_single_one():
    one = BenchmarkQuestion("one", "How deep?", ("a.pdf",), answers=("20",), answer_format="Int", evidence=(("a.pdf", 1),))
    two = BenchmarkQuestion("two", "How wide?", ("b.pdf",), answers=("9",), answer_format="Int", evidence=(("b.pdf", 1),))

    def evaluated(*rights, status="answered"):
        plan = plan_by_hand(one, two, what="answers", readers=("flow",), settings=READ, repeats=len(rights))
        kinds = {True: MatchKind.EXACT, False: MatchKind.WRONG}
        judged = {
            arm.name: {q.id: Judged(q.id, right, BY_RULES, kinds[right]) for q, right in zip((one, two), each, strict=True)}
            for arm, each in zip(plan.arms, rights, strict=True)
        }
        asked = {arm.name: {q.id: answered(q, answer=q.answers[0], status=status) for q in (one, two)} for arm in plan.arms}
        return summed(plan, Results(asked, judged))

    repeated, single = evaluated((True, True), (True, False), (True, False)), evaluated((True, False))
    shown = values(repeated)
    assert {arm for arm, _metric in shown} == {"flow"}
    assert shown["flow", CORRECT] == shown["flow", PROVEN] == pytest.approx(2 / 3)
    assert shown["flow", deviation_of(CORRECT)] == pytest.approx(12**-0.5)  # of 1, 0.5 and 0.5
    assert shown["flow", accuracy_by(Rules.MMLONGBENCH)] == 1.0 and shown["flow", f1_by(Rules.MMLONGBENCH)] == 1.0
    assert values(evaluated((True, True), (True, True), status="unverified"))["flow", PROVEN] == 0.0
    assert ("flow", deviation_of(CORRECT)) not in values(single)
    (change,) = [each for each in compare(single, repeated) if each.metric == CORRECT]
    assert (change.before, change.after, change.questions) == (0.5, pytest.approx(2 / 3), 2)
    (written,) = [write_figure(each) for each in figures_in(repeated.figures) if each.metric == deviation_of(CORRECT)]
    assert written == "28.9*"


def test_a_benchmark_that_has_formats_of_answers_has_its_own_accuracy_and_f1_too():
    right = BenchmarkQuestion("right", "How deep?", ("a.pdf",), answers=("20",), answer_format="Int", evidence=(("a.pdf", 1),))
    judged = {"right": Judged("right", True, BY_RULES, MatchKind.EXACT)}
    plan = plan_by_hand(right, what="answers", readers=("flow",), settings=READ)
    shown = values(summed(plan, Results({"flow": {"right": answered(right, answer="20")}}, {"flow": judged})))
    assert [shown["flow", metric] for metric in (*map(accuracy_by, Rules), f1_by(Rules.MMLONGBENCH))] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("what", ["answers", "retrieval"])
def test_without_a_model_it_is_measured_whether_the_quotes_show_the_answer(what):
    known = {"answers": ("20",), "evidence": (("a.pdf", 1),)}
    deep = BenchmarkQuestion("deep", "How deep?", ("a.pdf",), answer_format="Int", evidence_sources=("Table",), **known)
    wide = BenchmarkQuestion("wide", "How wide?", ("a.pdf",), answer_format="Float", evidence_sources=("Chart",), **known)
    worth = {"deep": (True, True, 100), "wide": (True, False, 51)}
    asked = {
        one.id: answered(one, [1], [1], **dict(zip(("answer_shown", "answer_first", "words_shown"), worth[one.id], strict=True)))
        for one in (deep, wide)
    }
    judged = {one.id: Judged(one.id, False, BY_RULES, MatchKind.UNREAD) for one in (deep, wide)}
    evaluation = summed(plan_by_hand(deep, wide, what=what, readers=("flow",)), Results({"flow": asked}, {"flow": judged}))
    metrics = (SHOWN, SHOWN_FIRST, WORDS_SHOWN)
    assert [values(evaluation)["flow", metric] for metric in metrics] == [1.0, 0.5, 75.5]
    assert ANLS not in {metric for _arm, metric in values(evaluation)}
    if what == "answers":
        for group, expected in {
            "answer: integer": [1.0, 1.0, 100.0],
            "answer: float": [1.0, 0.0, 51.0],
            "source: Table": [1.0, 1.0, 100.0],
            "source: Chart": [1.0, 0.0, 51.0],
        }.items():
            assert [values(evaluation, group)["flow", metric] for metric in metrics] == expected, group


def test_a_question_belongs_to_all_to_its_number_of_pages_to_its_format_to_its_sources_and_to_its_type():
    pages = (("a.pdf", 1), ("a.pdf", 2))
    sources = ("Table", "Chart", "Table")
    question = BenchmarkQuestion(
        "q", "?", ("a.pdf",), document_type="Report", answer_format="Str", evidence=pages, evidence_sources=sources
    )
    assert groups_of(question) == (ALL, "several pages", "answer: string", "source: Table", "source: Chart", "type: Report")
    assert groups_of(BenchmarkQuestion("q", "?", ("a.pdf",), answerable=False, answer_format="None")) == (ALL,)
    assert groups_of(BenchmarkQuestion("q", "?", ("a.pdf",), evidence=(("a.pdf", 1), ("a.pdf", 1)))) == (ALL, "one page")
    assert groups_of(BenchmarkQuestion("q", "?", ("a.pdf",))) == (ALL,)
    assert groups_of(BenchmarkQuestion("q", "How many charts are there?", ("a.pdf",), "Report")) == (ALL, "surveys", "type: Report")


def test_a_mean_is_over_the_questions_that_have_the_metric_and_of_parts_where_that_is_asked_for():
    found = figures_of(
        pl.concat(
            [
                scored("flow", "q", "a.pdf", hit=1.0, seconds=2.0),
                scored("flow", "r", "b.pdf", hit=0.0, seconds=4.0),
                scored("flow", "s", "a.pdf", right=1.0),
            ]
        ),
        {"q": (ALL, "one page"), "r": (ALL,), "s": (ALL,)},
        resamples=100,
        in_groups=("hit",),
    )
    assert {(one.group, one.metric): (one.value, one.questions, one.documents) for one in figures_in(found)} == {
        (ALL, "hit"): (0.5, 2, 2),
        ("one page", "hit"): (1.0, 1, 1),
        (ALL, "seconds"): (3.0, 2, 2),
        (ALL, "right"): (1.0, 1, 1),
    }


def test_the_interval_is_wide_where_documents_disagree_and_a_point_where_there_is_one():
    spread = [scored("flow", f"q{n}", f"{n % 10}.pdf", hit=float(n % 10 < 5)) for n in range(40)]
    groups = {f"q{n}": (ALL,) for n in range(40)}
    (wide,) = figures_in(figures_of(pl.concat(spread), groups, resamples=1000, in_groups=("hit",)))
    assert wide.low <= 0.25 < 0.5 == wide.value < 0.75 <= wide.high
    alone = pl.concat([scored("flow", f"q{n}", "a.pdf", hit=float(n)) for n in (0, 1)])
    (point,) = figures_in(figures_of(alone, groups, resamples=1000, in_groups=("hit",)))
    assert (point.low, point.high, point.documents) == (0.5, 0.5, 1)


@pytest.mark.parametrize(
    ("low", "high", "documents", "sure"),
    [(0.01, 0.2, 2, True), (-0.2, -0.01, 2, True), (0.08, 0.08, 1, False), (0.0, 0.2, 9, False), (-0.1, 0.0, 9, False)],
)
def test_it_is_more_than_luck_where_the_interval_leaves_out_zero_and_documents_were_drawn_from(low, high, documents, sure):
    assert more_than_luck(low=low, high=high, documents=documents) is sure


@pytest.mark.parametrize(
    ("text", "document", "named"),
    [
        ("What did BestBuy earn in 2023?", "BESTBUY_2023_10K.pdf", True),
        ("What did Nike earn?", "NIKE_2021_10K.pdf", False),  # two have that name
        ("Which shoes?", "Nike-shoes.pdf", True),
        ("What did the 10K say?", "NIKE_2021_10K.pdf", False),
    ],
)
def test_a_question_names_its_document_by_a_word_that_only_its_file_name_has(text, document, named):
    names = {"NIKE_2021_10K.pdf", "BESTBUY_2023_10K.pdf", "Nike-shoes.pdf"}
    assert names_its_document(BenchmarkQuestion("q", text, (document,)), names) is named
