"""An evaluation as it is shown, and two beside each other: their JSON, and the tables of figures in words that templates show."""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
from pydantic import ConfigDict, Field, PlainSerializer
from pydantic.dataclasses import dataclass

from storage.locations import evaluations_folder
from storage.records.evaluations import BenchmarkQuestion, Evaluation, Figure
from tasks.evaluation import units
from tasks.evaluation.comparing import Difference, MetricChange, compare, list_differences
from tasks.evaluation.refusals import REFUSED_AT
from tasks.evaluation.scoring import ALL, CUTS, GAIN, difference_of
from tasks.evaluation.sizing import CALIBRATION, SIZED
from tasks.evaluation.tables.published import Column, PublishedTable, table_of
from tasks.views.render import MARKDOWN, draw

NAME_SIGNS, FIGURE_SIGNS = 40, 20
"""So wide are the name of a metric and a figure with its interval: where they have no room, figures are brief."""
MOST_COLUMNS = 6
"""Of a published table; one that has more is turned."""
METRIC, GROUP = pl.col("metric"), pl.col("group")
IN_SMALL_GROUPS = GROUP.str.contains(":", literal=True)
KINDS = {
    "ranking": r"^(recall|precision|ndcg|mrr)@\d+$",
    "refusals": f"^{REFUSED_AT}",
    "sets": "|".join((SIZED, *CALIBRATION)),
}
"""Which metrics have a table together; the others are "measured"."""
KIND = pl.coalesce(*(pl.when(METRIC.str.contains(names)).then(pl.lit(kind)) for kind, names in KINDS.items()), pl.lit("measured"))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, config=ConfigDict(arbitrary_types_allowed=True))
class EvaluationView(Evaluation):
    """`printed` are the figures of a paper's table, by row and column."""

    figures: Annotated[pl.DataFrame, PlainSerializer(pl.DataFrame.to_dicts)]
    scored: Annotated[pl.DataFrame, Field(exclude=True)]
    printed: Mapping[str, Mapping[str, float | str]]
    pictures: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """How each metric moved from one run, by its id, to another, and what else differs."""

    before: str
    after: str
    changes: tuple[MetricChange, ...]
    differs: tuple[Difference, ...]
    benchmark: str
    started_before: str
    started_after: str


class Table(NamedTuple):
    """Figures in words: the first column names what a row is about, the others hold numbers.

    `questions` is how many they rest on: "611", "1 to 2,000"; `metric` is that of a table of one metric by groups.
    """

    kind: str
    metric: str
    cells: pl.DataFrame
    questions: str


def view_evaluation(evaluation: Evaluation) -> EvaluationView:
    pictures = tuple(sorted((evaluations_folder() / evaluation.run_id).glob("*.png")))
    printed = table.printed_on(evaluation.benchmark) if (table := table_of(evaluation.what)) else {}
    own = {each.name: getattr(evaluation, each.name) for each in fields(Evaluation)}
    return EvaluationView(**own, printed=printed, pictures=pictures)


def view_comparison(before: Evaluation, after: Evaluation) -> ComparisonView:
    """Raise RequestError as `compare` does."""
    changes, differs = tuple(compare(before, after)), tuple(list_differences(before, after))
    return ComparisonView(before.run_id, after.run_id, changes, differs, after.benchmark, before.started, after.started)


def context_of(evaluation: Evaluation, probes: Iterable[BenchmarkQuestion] = (), *, width: int | None = None) -> dict[str, Any]:
    """Return what the templates draw; where the terminal is too narrow for intervals, marks stand in their place."""
    columns = evaluation.figures["metric" if evaluation.what == "ablations" else "arm"].n_unique()
    if table := table_of(evaluation.what):
        columns = len(table.columns if len(table.columns) <= MOST_COLUMNS else table.rows)
    brief = width is not None and NAME_SIGNS + columns * FIGURE_SIGNS > width
    missed = set(evaluation.scored.filter(METRIC == "recall@5", pl.col("value") < 1)["question_id"])
    return {
        "evaluation": evaluation,
        "tables": tables_of(evaluation, brief=brief),
        "missed": [probe for probe in probes if probe.id in missed],
        "brief": brief,
        "cuts": any(cut in metric for metric in evaluation.figures["metric"] for cut in CUTS),
        "few": units.FEW_MEANS,
        "fitted_here": units.is_fitted_here(evaluation),
    }


def evaluation_markdown(evaluation: Evaluation, pictures: Iterable[Path] = ()) -> str:
    """Return one page with the tables, and with pictures inside it: as artifacts of their own Prefect shows their bytes, too."""
    drawn = {path.stem: base64.b64encode(path.read_bytes()).decode() for path in pictures}
    return draw(MARKDOWN, "evaluation.j2", pictures=drawn, **context_of(evaluation))


def rows_moved(comparison: ComparisonView) -> list[tuple[str, ...]]:
    """Return a row of words for each metric that moved, or may have."""
    return [
        (
            one.arm,
            units.name_with_unit(one.metric) + (units.FITTED_HERE if one.fitted_here else ""),
            units.write_value(one.metric, one.before),
            units.write_value(one.metric, one.after),
            units.write_figure(
                Figure(one.arm, ALL, difference_of(one.metric), one.difference, one.low, one.high, one.questions, one.documents)
            ),
            "more than luck" if one.beyond_luck else "",
        )
        for one in comparison.changes
        if one.difference or one.low or one.high
    ]


def tables_of(evaluation: Evaluation, *, brief: bool = False) -> list[Table]:
    """Return a table for each kind of metric, of all questions, then one for each metric that is measured on parts of them.

    Columns are arms; of ablations, which are many, the arms are rows.
    """
    if table := table_of(evaluation.what):
        return [_beside_the_paper(evaluation, table, brief=brief)]
    ablated = evaluation.what == "ablations"
    figures = _in_words(evaluation, brief=brief)
    whole = figures.filter(GROUP == ALL, evaluation.what != "probe")
    whole = whole.with_columns(kind=pl.lit("changes") if ablated else KIND, of=pl.lit(""), metric="name")
    whole = whole.sort("kind", maintain_order=True)
    # What is gained over cut rankings depends on how many pages a question needs, and is too much to read by each source and type
    parts = figures.filter(~(METRIC.str.starts_with(GAIN) & IN_SMALL_GROUPS)).filter((GROUP != ALL).any().over("metric"))
    parts = parts.with_columns(kind=pl.lit("part"), of="name")
    tables = []
    for name, found in (("metric", whole), ("part", parts)):
        rows, columns = ("arm", name) if ablated else (name, "arm")
        for (kind, metric), of_table in found.group_by("kind", "of", maintain_order=True):
            cells = of_table.pivot(on=columns, index=rows, values="text", maintain_order=True).fill_null(units.MISSING)
            tables.append(Table(kind, metric, cells, _span(of_table["questions"])))
    return tables


def _beside_the_paper(evaluation: Evaluation, table: PublishedTable, *, brief: bool) -> Table:
    """Return a table of a paper: in each cell the figure measured here, and the one that is printed there.

    Rows are the paper's, or its columns where these are many.
    """
    figures = {(one.arm, one.metric, one.group): one for one in units.figures_in(evaluation.figures)}
    printed = table.printed_on(evaluation.benchmark)
    names = [column.name for column in table.columns]
    rows = []
    for row in table.rows:
        here = [_measured(figures, row.name, column, brief=brief) for column in table.columns]
        there = [printed.get(row.name, {}).get(name, units.MISSING) for name in names]
        rows.append((row.name, *(f"{own} / {paper}" for own, paper in zip(here, there, strict=True))))
    cells = pl.DataFrame(rows, schema=["row", *names], orient="row")
    if len(names) > MOST_COLUMNS:
        cells = cells.transpose(include_header=True, header_name="", column_names="row")
    counts = evaluation.figures.filter(GROUP == ALL)["questions"]
    return Table("published", table.title, cells, _span(counts) if len(counts) else "0")


def _measured(figures: Mapping[tuple[str, str, str], Figure], row: str, column: Column, *, brief: bool) -> str:
    """Return what a row measured in a column, `-` where nothing is; a quotient of two means has no interval."""
    found = figures.get((row, column.metric, column.of))
    if found is None:
        return units.MISSING
    if not column.over:
        return units.write_figure(found, brief=brief)
    over = figures.get((row, column.over, column.of))
    return f"{found.value / over.value:.3f}" if over and over.value else units.MISSING


def _in_words(evaluation: Evaluation, *, brief: bool) -> pl.DataFrame:
    """Return the figures with their `text`, and what a row or column of them is called; groups of one kind together."""
    texts = [units.write_figure(figure, brief=brief) for figure in units.figures_in(evaluation.figures)]
    figures = evaluation.figures.with_columns(text=pl.Series(texts, dtype=pl.String))
    ablated = evaluation.what == "ablations"
    figures = _changes(figures) if ablated else figures
    # Of ablations values and differences stand in one column.
    name = str if ablated else units.name_with_unit
    names = [name(metric) + units.mark_of_fit(evaluation, metric) for metric in figures["metric"]]
    counts = figures.select(pl.col("questions").over("metric", "group", mapping_strategy="join")).to_series()
    parts = [f"{group} ({_span(questions)})" for group, questions in zip(figures["group"], counts, strict=True)]
    figures = figures.with_columns(pl.Series("name", names, pl.String), pl.Series("part", parts, pl.String))
    return figures.sort(IN_SMALL_GROUPS, GROUP, maintain_order=True)


def _span(questions: pl.Series) -> str:
    fewest, most = min(questions), max(questions)
    return f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"


def _changes(figures: pl.DataFrame) -> pl.DataFrame:
    """Return what each ablation changes, and of the same metrics what the whole method, the first arm, measures."""
    changes = figures.filter(METRIC.str.ends_with(units.DIFFERENCE)).with_columns(METRIC.str.strip_suffix(units.DIFFERENCE))
    whole = figures.filter(pl.col("arm") == pl.col("arm").first())
    return pl.concat([whole.join(changes, on=["metric", "group"], how="semi"), changes])
