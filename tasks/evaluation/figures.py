"""From questions to figures: means with intervals over documents, for all questions and for parts of them."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from storage.records.evaluations import FIGURES, BenchmarkQuestion, Evaluation, Figure
from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.metrics.benchmark_scores import Rules
from tasks.algorithms.metrics.bootstrap import Interval, bootstrap_interval
from tasks.algorithms.probability import Logistic
from tasks.algorithms.questions.kinds import collects
from tasks.asking.deciding import code_identity
from tasks.evaluation.arms import FULL
from tasks.evaluation.plan import EvaluationPlan, Results, weights_named
from tasks.evaluation.refusals import score_refusals
from tasks.evaluation.scoring import (
    ALL,
    AT_FLOW,
    BASELINE,
    CITED,
    CONFIDENCE,
    CORRECT,
    CUTOFFS,
    CUTS,
    OWN,
    PERFECT,
    PROVEN,
    REFUSED_RIGHTLY,
    REFUSED_WRONGLY,
    RETURNED,
    SEED,
    SHOWN,
    SHOWN_FIRST,
    WORDS_SHOWN,
    accuracy_by,
    deviation_of,
    difference_of,
    gain_over,
    score_answers,
    score_at_flow,
    score_by_benchmarks,
    score_retrieval,
    score_shown,
)
from tasks.evaluation.sizing import BY_PROBABILITY, MEANS, OVER_CONST, OVER_SAME_EACH, THREE_TO_EIGHT, at_mean, score_sizes
from tasks.evaluation.tables.published import PublishedTable

FEWEST_DOCUMENTS = 2
"""One document, drawn anew, is always itself: its interval is a point, and that is no certainty."""

FORMATS = {"Str": "string", "Int": "integer", "Float": "float", "List": "list"}


NAME_WORD = re.compile(r"[^\W\d_]{4,}")
"""What of a file name is a name: not its numbers, nor the short words."""


def groups_of(question: BenchmarkQuestion) -> tuple[str, ...]:
    pages = {0: (), 1: ("one page",)}.get(len(set(question.evidence)), ("several pages",))
    sources = tuple(f"source: {source}" for source in dict.fromkeys(question.evidence_sources))
    surveys = ("surveys",) if collects(question.text) else ()
    formats = (f"answer: {FORMATS[question.answer_format]}",) if question.answer_format in FORMATS else ()
    types = (f"type: {question.document_type}",) if question.document_type else ()
    tasks = (f"task: {question.task}",) if question.task else ()
    return (ALL, *pages, *surveys, *formats, *sources, *types, *tasks)


def names_its_document(question: BenchmarkQuestion, documents: Collection[str]) -> bool:
    """Say whether a word of the file name of the question's document, and of no other's, stands in the question."""
    own = {word for name in question.documents for word in name_words(Path(name).stem)}
    others = {word for name in documents if name not in question.documents for word in name_words(Path(name).stem)}
    return not (own - others).isdisjoint(name_words(question.text))


def name_words(text: str) -> set[str]:
    return {word.casefold() for word in NAME_WORD.findall(text)}


def figures_of(
    scored: pl.DataFrame, groups: Mapping[str, Sequence[str]], *, resamples: int, in_groups: Collection[str]
) -> pl.DataFrame:
    """Return the mean of each metric for each arm, and of those that are named `in_groups` also for each part of the questions.

    `groups` are the parts of each question, by its id, `ALL` first. A metric that a question lacks is not measured on it.
    """
    parts = pl.DataFrame({"question_id": list(groups), "group": list(map(list, groups.values()))}).explode("group")
    measured = scored.join(parts, on="question_id", maintain_order="left_right").filter(
        (pl.col("group") == ALL) | pl.col("metric").is_in(list(in_groups))
    )
    figures = []
    for name, found in measured.group_by("arm", "group", "metric", maintain_order=True):
        interval, documents = mean_with_interval(found["value"].to_numpy(), found["document"], resamples)
        figures.append((*name, *interval, found.height, documents))
    return pl.DataFrame(figures, schema=FIGURES, orient="row")


def mean_with_interval(values: FloatArray, documents: pl.Series, resamples: int) -> tuple[Interval, int]:
    """Return the mean of values that stand in documents, drawn anew `resamples` times, and how many documents there are."""
    clusters = documents.rank("dense").to_numpy().astype(np.int64)
    interval = bootstrap_interval(values=values, clusters=clusters, resamples=resamples, confidence=CONFIDENCE, seed=SEED)
    return interval, documents.n_unique()


def more_than_luck(*, low: float, high: float, documents: int) -> bool:
    """Say whether a mean difference with this interval is no luck: it leaves out zero, and several documents were drawn from."""
    return documents >= FEWEST_DOCUMENTS and (low > 0.0 or high < 0.0)


RANKED, SIZED = {"retrieval", "ablations", "table", "probe"}, {"retrieval", "ablations", "fit", "transfer"}
"""Where rankings and returned sets are measured, and where sets by probability."""
ABLATED = (
    "recall@1",
    "recall@3",
    "recall@5",
    PERFECT,
    RETURNED,
    at_mean(BY_PROBABILITY, THREE_TO_EIGHT),
    at_mean(OVER_CONST, THREE_TO_EIGHT),
)
JUDGED = (
    CORRECT,
    PROVEN,
    CITED,
    SHOWN,
    SHOWN_FIRST,
    accuracy_by(Rules.MMLONGBENCH),
    "calls",
    "input tokens",
    "output tokens",
)
GAINS_OF_SIZES = tuple(at_mean(gain, mean) for gain in (OVER_CONST, OVER_SAME_EACH) for mean in MEANS)
IN_GROUPS: Mapping[str, tuple[str, ...]] = {
    "retrieval": (
        *("recall@1", "recall@3", "recall@5", PERFECT, *(gain_over(ranking, cut) for ranking in (OWN, BASELINE) for cut in CUTS)),
        *(difference_of(AT_FLOW), *GAINS_OF_SIZES),
    ),
    "fit": GAINS_OF_SIZES,
    "transfer": GAINS_OF_SIZES,
    "answers": (CORRECT, PROVEN, CITED, SHOWN, SHOWN_FIRST, WORDS_SHOWN, REFUSED_RIGHTLY, REFUSED_WRONGLY),
    "ablations": tuple(name for metric in (PERFECT, CORRECT, PROVEN) for name in (metric, difference_of(metric))),
    "probe": tuple(f"recall@{cutoff}" for cutoff in CUTOFFS),
}
"""Metrics that are shown for parts of the questions, too; the others would only make the tables long."""


def sum_up(plan: EvaluationPlan, results: Results, *, run_id: str, started: str, weights: Logistic | None = None) -> Evaluation:
    """Return what an evaluation comes to; `weights` are those of a transfer."""
    what, models = plan.request.what, results.models
    scored, apart, notes = _answers(plan, results) if plan.request.of_answers else _pages(plan, results, weights)
    if what == "ablations":
        scored = with_differences(scored)
    if table := plan.request.published:
        lacking = _what_a_table_lacks(plan, table, models) if results.asked else ()
        notes = (*lacking, *notes, *table.remarks(plan.benchmark.name))
    if plan.fitted_on:
        models = {**models, **weights_named(plan.fitted_on.benchmark.name, plan.fitted_on.benchmark.hash)}
    return Evaluation(
        run_id=run_id,
        what=plan.request.table or what,
        started=started,
        benchmark=plan.benchmark.name,
        benchmark_hash=plan.benchmark.hash,
        corpus=next(plan.by_corpus())[0],
        snapshot=results.snapshot,
        scope=plan.scope,
        code=code_identity(),
        settings=plan.request.settings.model_dump(mode="json"),
        figures=pl.concat([_figures(plan, scored), pl.DataFrame(apart, schema=FIGURES, orient="row")]),
        scored=scored,
        models=models,
        notes=notes,
    )


def _what_a_table_lacks(plan: EvaluationPlan, table: PublishedTable, models: Mapping[str, str]) -> tuple[str, ...]:
    """Say what keeps figures here from being the paper's: no model that reads, and parts that no question is of."""
    asked = {group for question in plan.questions for group in groups_of(question)}
    unasked = [column.of for column in table.columns if column.of not in asked]
    return (
        *(["no chat model reads: what the paper has a model do, rules do here"] if not models.get("chat") else []),
        *([f"no question that was asked is of {', '.join(dict.fromkeys(unasked))}"] if unasked else []),
    )


Scores = tuple[pl.DataFrame, tuple[Figure, ...], tuple[str, ...]]
"""What each question was worth, figures apart from these, and notes."""


def _answers(plan: EvaluationPlan, results: Results) -> Scores:
    by_model = plan.request.settings.ask.reading.by == "model"
    scored = score_answers(plan.questions, results.asked, results.judged, by_model=by_model)
    refused, unfitted = score_refusals(plan.questions, results.asked)
    scored, notes = pl.concat([scored, refused]), (*results.notes, *unfitted)
    if not by_model:
        return pl.concat([scored, score_shown(plan.questions, results.asked)]), (), notes
    by_benchmarks, apart = score_by_benchmarks(plan.questions, results.asked, results.judged)
    return (*over_repeats(plan, pl.concat([scored, by_benchmarks]), apart), notes)


def _pages(plan: EvaluationPlan, results: Results, weights: Logistic | None) -> Scores:
    what, notes = plan.request.what, results.notes
    apart: tuple[Figure, ...] = ()
    scored = score_retrieval(plan.questions if what in RANKED else (), results.asked)
    if what == "retrieval":
        at_flow = score_at_flow(plan.with_evidence, results.asked)
        shown = () if plan.request.settings.ask.reading.by == "model" else (score_shown(plan.questions, results.asked),)
        scored = pl.concat([scored, *shown, at_flow])
    if what in SIZED:
        sized, apart, unsized = score_sizes(plan, results, weights)
        scored, notes = pl.concat([scored, sized]), (*notes, *unsized)
    return scored, apart, notes


def with_differences(scored: pl.DataFrame) -> pl.DataFrame:
    """Return the scores and, for each ablation, what a question was worth more, or less, than under the whole method."""
    whole = scored.filter(pl.col("arm") == FULL).select("question_id", "metric", whole="value")
    compared = (
        scored.filter(pl.col("arm") != FULL, pl.col("metric").is_in([*ABLATED, *JUDGED]))
        .join(whole, on=["question_id", "metric"], maintain_order="left")
        .with_columns(pl.col("metric") + difference_of(""), pl.col("value") - pl.col("whole"))
    )
    places = scored.select("arm", "question_id").unique(maintain_order=True).with_row_index("place")
    both = pl.concat([scored, compared.drop("whole")]).join(places, on=["arm", "question_id"], maintain_order="left")
    return both.sort("place", maintain_order=True).drop("place")


def over_repeats(plan: EvaluationPlan, scored: pl.DataFrame, apart: Sequence[Figure]) -> tuple[pl.DataFrame, tuple[Figure, ...]]:
    """Return means over the repeats: what each question was worth, and the figures apart with their intervals.

    Among the figures apart is the standard deviation, of a sample, of what is right in a single repeat.
    """
    if plan.request.repeats == 1:
        return scored, tuple(apart)
    readers = {arm.name: arm.name_once for arm in plan.arms}
    scored = scored.with_columns(repeat="arm", arm=pl.col("arm").replace(readers))
    of_questions = scored.group_by("arm", "question_id", "document", "metric", maintain_order=True).agg(pl.col("value").mean())
    single = scored.filter(pl.col("metric").is_in([CORRECT, PROVEN])).group_by("arm", "metric", "repeat", maintain_order=True)
    means = single.agg(pl.col("value").mean(), questions=pl.len(), documents=pl.col("document").n_unique())
    of_arms = means.group_by("arm", "metric", maintain_order=True)
    spread = of_arms.agg(pl.col("value").std(), pl.col("questions", "documents").first())
    deviations = [
        Figure(arm, ALL, deviation_of(metric), value, value, value, *counts) for arm, metric, value, *counts in spread.rows()
    ]
    figures = pl.DataFrame(apart, schema=FIGURES, orient="row").with_columns(pl.col("arm").replace(readers))
    alike = figures.group_by("arm", "group", "metric", maintain_order=True)
    apart = [
        Figure(*row) for row in alike.agg(pl.col("value", "low", "high").mean(), pl.col("questions", "documents").first()).rows()
    ]
    return of_questions, (*deviations, *apart)


def _figures(plan: EvaluationPlan, scored: pl.DataFrame) -> pl.DataFrame:
    groups = {question.id: groups_of(question) for question in plan.questions}
    names = {one.id: names_its_document(one, plan.benchmark.documents) for one in plan.questions}
    if any(names.values()):
        groups = {name: (*found, "names its document" if names[name] else "does not name it") for name, found in groups.items()}
    what = plan.request.what
    if what == "ablations":
        # thirty arms with a column for each source and type, and for surveys, are too much to read
        few = (ALL, "one page", "several pages")
        groups = {name: tuple(group for group in found if group in few) for name, found in groups.items()}
    in_groups = {column.metric for column in table.columns} if (table := plan.request.published) else IN_GROUPS[what]
    return figures_of(scored, groups, resamples=plan.request.resamples, in_groups=in_groups)
