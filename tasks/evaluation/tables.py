"""The tables of an evaluation, for a terminal or a page of Markdown, and how its figures are written.

Each is in its unit, with its interval, and marked where it is made of few.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from storage.records.evaluations import Evaluation, Figure
from storage.text import minute
from tasks.evaluation.figures import FEWEST_DOCUMENTS, more_than_luck
from tasks.evaluation.plan import FITTED_ON
from tasks.evaluation.refusals import OUT_OF_FOLD, REFUSED_AT
from tasks.evaluation.scoring import ALL, BY_WEIGHTS, GAIN, JUDGE_CALLS, JUDGE_COST, difference_of
from tasks.evaluation.sizing import BY_FOLDS, CALIBRATION, SIZED

FEW_QUESTIONS = 10
FEW_DOCUMENTS = 5
FEW_MARK = "*"
FEW_MEANS = f"fewer than {FEW_QUESTIONS} questions or {FEW_DOCUMENTS} documents"
MISSING = "-"
BEYOND_LUCK = "!"
DIFFERENCE = difference_of("")
ON_THESE = "fitted on these documents"
INTERVALS_MEAN = f"in brackets: 95 % intervals, by drawing documents anew ({MISSING} where there is one document only)"
BRIEF_MEANS = (
    f"{BEYOND_LUCK} more than luck: the 95 % interval, by drawing documents anew, leaves out zero; --markdown has the intervals"
)
CUTS_MEAN = "; const: a ranking cut at one number with the set's mean; same each: cut to the set's number question by question"
SCOPES = {
    "corpus": "all documents of the benchmark",
    "document": "its own documents",
    "document and corpus": "its own documents, and of all documents of the benchmark",
}
NAME_SIGNS, FIGURE_SIGNS = 40, 20
"""So wide are the name of a metric and a figure with its interval: where they have no room, figures are brief."""
RANKED = r"^(recall|precision|ndcg|mrr)@\d+$"
METRIC, GROUP = pl.col("metric"), pl.col("group")


@dataclass(frozen=True, slots=True)
class Unit:
    """How a metric is written: its value times `factor`, with so many decimals; `name` is empty where the metric names its unit."""

    factor: float
    decimals: int
    name: str = ""


SHARE, POINTS = Unit(100.0, 1, "%"), Unit(100.0, 1, "points")
COUNT, MONEY = Unit(1.0, 1), Unit(1.0, 4, "in the currency of the prices")
UNITS = {
    "seconds": Unit(1.0, 2),
    **dict.fromkeys(("calls", JUDGE_CALLS), COUNT),
    **dict.fromkeys(("input tokens", "output tokens"), Unit(1.0, 0)),
    **dict.fromkeys(("cost", JUDGE_COST), MONEY),
    **dict.fromkeys(CALIBRATION, Unit(1.0, 3)),
}


def figures_in(frame: pl.DataFrame) -> list[Figure]:
    return [Figure(**row) for row in frame.iter_rows(named=True)]


def unit_of(metric: str) -> Unit:
    usual = COUNT if metric.startswith("pages") else POINTS if is_difference(metric) else SHARE
    return UNITS.get(metric.removesuffix(DIFFERENCE), usual)


def named_with_unit(metric: str) -> str:
    unit = unit_of(metric).name
    return f"{metric} ({unit})" if unit else metric


def fitted_mark(evaluation: Evaluation, metric: str) -> str:
    """Return what marks a metric that depends on weights fitted on the evaluation's own documents, "" for any other."""
    by_weights = metric.removesuffix(DIFFERENCE) in BY_WEIGHTS
    return f", {ON_THESE}" if by_weights and fitted_on_these(evaluation) else ""


def fitted_on_these(evaluation: Evaluation) -> bool:
    """Say whether the weights were, by the hash of their benchmark, which no new name changes; by the name where there is none."""
    benchmark = evaluation.models.get(FITTED_ON)
    if benchmark is None:
        return evaluation.models.get("weights") == evaluation.benchmark
    return evaluation.benchmark_hash.startswith(benchmark)


def is_difference(metric: str) -> bool:
    return metric.endswith(DIFFERENCE) or metric.startswith(GAIN)


def is_few(figure: Figure) -> bool:
    """Say whether so few questions or documents were measured that the interval itself is not to be trusted."""
    return figure.questions < FEW_QUESTIONS or figure.documents < FEW_DOCUMENTS


def figure_text(figure: Figure, *, brief: bool = False) -> str:
    """Return the mean and its interval, "57.0 (50.1-63.8)" or "-1.6 (-3.0 to +0.2)", marked where it is made of few.

    One document has no interval: "57.0 (-)*". In brief a mark stands for the interval of a difference that leaves out zero.
    """
    unit, difference = unit_of(figure.metric), is_difference(figure.metric)
    sign, to = ("+", " to ") if difference else ("", "-")
    value, low, high = (f"{number * unit.factor:{sign}z,.{unit.decimals}f}" for number in (figure.value, figure.low, figure.high))
    few = FEW_MARK if is_few(figure) else ""
    if brief:
        sure = difference and more_than_luck(low=figure.low, high=figure.high, documents=figure.documents)
        return f"{value}{BEYOND_LUCK if sure else ''}{few}"
    return f"{value} ({f'{low}{to}{high}' if figure.documents >= FEWEST_DOCUMENTS else MISSING}){few}"


@dataclass(frozen=True, slots=True)
class EvaluationPage:
    """What is shown of an evaluation: what was asked of what, when and by which code, its tables, and what their signs mean.

    The tables are of words, by their titles; the first column names what a row is about, the others hold numbers.
    """

    title: str
    about: str
    notes: tuple[str, ...]
    tables: Mapping[str, pl.DataFrame]
    legend: str


def evaluation_page(evaluation: Evaluation, *, width: int | None = None) -> EvaluationPage:
    """Return what is shown; where a terminal of so many signs has no room for the intervals, marks stand in their place."""
    asked_of = SCOPES.get(evaluation.scope, evaluation.scope)
    models = ", ".join(f"{does} {name or 'none'}" for does, name in evaluation.models.items())
    fitted_on = f", with weights fitted on {evaluation.models.get('weights')}" if evaluation.what == "transfer" else ""
    figures = len(evaluation.figures["arm" if evaluation.what != "ablations" else "metric"].unique())
    brief = width is not None and NAME_SIGNS + figures * FIGURE_SIGNS > width
    gains = evaluation.what != "probe" and evaluation.figures["metric"].str.starts_with(GAIN).any()
    return EvaluationPage(
        title=f"{evaluation.what}: {evaluation.benchmark}{fitted_on}",
        about=(
            f"{minute(evaluation.started)} UTC, run {evaluation.run_id[:8]}, code {evaluation.code[:12]}, benchmark "
            f"{evaluation.benchmark_hash[:12]}, corpus {evaluation.corpus}, snapshot {evaluation.snapshot}; each question is asked "
            f"of {asked_of}{f'; models: {models}' if models else ''}"
        ),
        notes=evaluation.notes,
        tables=dict(_tables(evaluation, brief=brief)),
        legend=f"{BRIEF_MEANS if brief else INTERVALS_MEAN}; {FEW_MARK} {FEW_MEANS}{CUTS_MEAN if gains else ''}",
    )


def evaluation_markdown(evaluation: Evaluation) -> str:
    """Return the evaluation as one page of Markdown; names are never markup."""
    page = evaluation_page(evaluation)
    lines = [f"# Evaluation of {_cell(page.title)}", "", _cell(page.about), "", _cell(page.legend)]
    lines += [f"\n- {_cell(note)}" for note in page.notes]
    for title, cells in page.tables.items():
        lines += ["", f"## {_cell(title)}", "", _row(cells.columns), "|---|" + "--:|" * (cells.width - 1)]
        lines += map(_row, cells.iter_rows())
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return text as Markdown shows it literally, on one line, and numbers as they are: a benchmark's names are data."""
    return re.sub(r"([\\`*_~\[\]|])", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def _tables(evaluation: Evaluation, *, brief: bool) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield a table for each kind of metric, of all questions, then one for each metric that is measured on parts of them.

    Columns are arms; of ablations, which are many, the arms are rows.
    """
    of_ablations = evaluation.what == "ablations"
    shown = _changed(_shown(evaluation, brief=brief)) if of_ablations else _shown(evaluation, brief=brief)
    for title, kind in _kinds(evaluation).items() if evaluation.what != "probe" else ():
        found = shown.filter(GROUP == ALL, kind)
        if found.height:
            title = f"{title}, {_counted(found)} question{'' if set(found['questions']) == {1} else 's'}"
            yield title, _pivoted(found, *(("arm", "name") if of_ablations else ("name", "arm")))
    # what is gained over cut rankings depends on how many pages a question needs, and is too much to read by each source and type
    parts = shown.filter(~(METRIC.str.starts_with(GAIN) & GROUP.str.contains(":", literal=True)))
    for metric in parts.filter(GROUP != ALL)["metric"].unique(maintain_order=True):
        found = parts.filter(metric == METRIC)
        counted = {group: f"{group} ({_counted(of_group)})" for (group,), of_group in found.group_by("group", maintain_order=True)}
        found = found.with_columns(part=GROUP.replace(counted))
        yield f"{found['name'][0]}, by group", _pivoted(found, *(("arm", "part") if of_ablations else ("part", "arm")))


def _shown(evaluation: Evaluation, *, brief: bool) -> pl.DataFrame:
    """Return the figures with their `text` and the `name` of their metric, groups of one kind together."""
    texts = [figure_text(figure, brief=brief) for figure in figures_in(evaluation.figures)]
    names = [
        # of ablations values and differences stand in one column
        (metric.removesuffix(DIFFERENCE) if evaluation.what == "ablations" else named_with_unit(metric))
        + fitted_mark(evaluation, metric)
        for metric in evaluation.figures["metric"]
    ]
    shown = evaluation.figures.with_columns(pl.Series("text", texts, pl.String), pl.Series("name", names, pl.String))
    return shown.sort(GROUP.str.contains(":", literal=True), GROUP, maintain_order=True)


def _changed(shown: pl.DataFrame) -> pl.DataFrame:
    """Return what each ablation changes, and of the same metrics what the whole method, the first arm, measures."""
    changes = shown.filter(METRIC.str.ends_with(DIFFERENCE)).with_columns(METRIC.str.strip_suffix(DIFFERENCE))
    whole = shown.filter(pl.col("arm") == pl.col("arm").first())
    return pl.concat([whole.join(changes, on=["metric", "group"], how="semi"), changes])


def _kinds(evaluation: Evaluation) -> dict[str, pl.Expr]:
    """Return which metrics have a table together, by its title."""
    if evaluation.what == "ablations":
        return {"What the whole method measures, and what each ablation changes of it (points, pages)": pl.lit(value=True)}
    how = BY_FOLDS
    if evaluation.what == "transfer":
        how = f"weights {ON_THESE}" if fitted_on_these(evaluation) else f"weights fitted on {evaluation.models.get('weights')}"
    ranked, refused = METRIC.str.contains(RANKED), METRIC.str.starts_with(REFUSED_AT)
    sized = METRIC.str.contains(SIZED) | METRIC.is_in(CALIBRATION)
    return {
        "Measured": ~(ranked | sized | refused),
        "The ranking": ranked,
        f"Sets by probability, {how}": sized,
        f"Refused though there is an answer{OUT_OF_FOLD}": refused,
    }


def _pivoted(shown: pl.DataFrame, rows: str, columns: str) -> pl.DataFrame:
    return (
        shown.pivot(on=columns, index=rows, values="text", maintain_order=True)
        .fill_null(MISSING)
        .rename({"name": "metric"}, strict=False)
    )


def _counted(figures: pl.DataFrame) -> str:
    numbers = set(figures["questions"])
    return f"{min(numbers):,}" if len(numbers) == 1 else f"{min(numbers):,} to {max(numbers):,}"
