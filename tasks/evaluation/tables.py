"""The tables of an evaluation, for a terminal or a page of Markdown."""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from storage.records.evaluations import FIGURES, Evaluation
from tasks.evaluation.figures import GAIN_AT_NOISE, ORDER_PAGES, PAGES_FOR_RECALL, SUMMARY
from tasks.evaluation.fitting import USUAL_SIZE
from tasks.evaluation.refusals import OUT_OF_FOLD, REFUSED_AT
from tasks.evaluation.scoring import ALL, AT_FLOW, BASELINE, CUTS, FLOW, GAIN, OVERLAP, OWN, PERFECT, RETURNED, found_by, gain_over
from tasks.evaluation.sizing import BY_FOLDS, BY_PROBABILITY, CALIBRATION, OVER_CONST, SIZED, THREE_TO_EIGHT, at_mean
from tasks.evaluation.wording import (
    BEYOND_LUCK,
    DIFFERENCE,
    FEW_MARK,
    FEW_MEANS,
    INTERVALS_MEAN,
    MISSING,
    ON_THESE,
    ORDER_MEANS,
    brief_text,
    capital,
    figure_text,
    figures_in,
    fitted_mark,
    fitted_on_these,
    is_difference,
    named_with_unit,
)

SHORT = {
    ("recall@1", ALL): "R@1",
    ("recall@5", ALL): "R@5",
    (PERFECT, ALL): "whole",
    (PERFECT, "several pages"): "several",
    (RETURNED, ALL): "pages",
    (at_mean(BY_PROBABILITY, THREE_TO_EIGHT), ALL): "sized",
    (at_mean(OVER_CONST, THREE_TO_EIGHT), ALL): "const",
}
BRIEF_NOTE = (
    "whole: all evidence is in the returned set, several: of questions that need several pages; sized: all evidence is in sets by "
    f"probability of 3 to 8 pages, {BY_FOLDS}, const: its gain over the ranking cut at one number; {BEYOND_LUCK} more "
    "than luck: the 95 % interval, by drawing documents anew, leaves out zero, and there are "
    f"several documents; {FEW_MARK} {FEW_MEANS}"
)

CUT = {"retrieval", "fit", "transfer"}
CUTS_MEAN = "; const: a ranking cut at one number with the set's mean; same each: cut to the set's number question by question"
SCOPES = {
    "corpus": "all documents of the benchmark",
    "document": "its own documents",
    "document and corpus": "its own documents, and of all documents of the benchmark",
}
RANKED = r"^(recall|precision|ndcg|mrr)@(\d+)$"
FAMILIES = {"recall": "Recall", "precision": "Precision", "ndcg": "nDCG, to the number of evidence pages at most,", "mrr": "MRR"}
WHOLE_AFTER = rf"^{PERFECT}@(\d+)(.*)$"
AFTER_SHOWN = ("1", "2", "3", "4", "5", "6", "8", "10", "12")
OF_PAIRS = {
    GAIN_AT_NOISE: "What a set gains over the order of another reader, cut where it is as noisy (points)",
    PAGES_FOR_RECALL: f"Pages of another reader's order that are whole as often ({ORDER_PAGES + 1}: more than {ORDER_PAGES})",
    OVERLAP: "Overlap of the returned sets (%, mean Jaccard)",
}
RIVALS = tuple((ranking, cut) for ranking in (OWN, BASELINE) for cut in CUTS)
Mark = Callable[[str], str]
"""Returns what is to be known of a metric's weights."""
OF_ALL, METRIC, GROUP = pl.col("group") == ALL, pl.col("metric"), pl.col("group")


@dataclass(frozen=True, slots=True)
class EvaluationTable:
    """Words in cells; the first column names what a row is about, the others hold numbers."""

    title: str
    cells: pl.DataFrame


@dataclass(frozen=True, slots=True)
class EvaluationPage:
    """What is shown of an evaluation: what was asked of what, when and by which code, its tables, and what their signs mean."""

    title: str
    about: str
    notes: tuple[str, ...]
    tables: tuple[EvaluationTable, ...]
    legend: str


def evaluation_page(evaluation: Evaluation, *, brief: bool) -> EvaluationPage:
    """Return what is shown; `brief` is for a narrow terminal, where the intervals of ablations have no room."""
    asked_of = SCOPES.get(evaluation.scope, evaluation.scope)
    models = ", ".join(f"{does} {name or 'none'}" for does, name in evaluation.models.items())
    fitted_on = f", with weights fitted on {evaluation.models.get('weights')}" if evaluation.what == "transfer" else ""
    legend = f"in brackets: {INTERVALS_MEAN}; {FEW_MARK} {FEW_MEANS}"
    brief = brief and evaluation.what == "ablations"
    cuts, orders = CUTS_MEAN if evaluation.what in CUT else "", f"; {ORDER_MEANS}" if evaluation.what == "retrieval" else ""
    return EvaluationPage(
        title=f"{evaluation.what}: {evaluation.benchmark}{fitted_on}",
        about=(
            f"{minute(evaluation)} UTC, run {evaluation.run_id[:8]}, code {evaluation.code[:12]}, benchmark "
            f"{evaluation.benchmark_hash[:12]}, corpus {evaluation.corpus}, snapshot {evaluation.snapshot}; each question is asked "
            f"of {asked_of}{f'; models: {models}' if models else ''}"
        ),
        notes=evaluation.notes,
        tables=tuple(_tables(evaluation, brief=brief)),
        legend=f"{BRIEF_NOTE}; --markdown has the intervals" if brief else f"{legend}{cuts}{orders}",
    )


def evaluation_markdown(evaluation: Evaluation) -> str:
    """Return the evaluation as one page of Markdown; names are never markup."""
    page = evaluation_page(evaluation, brief=False)
    lines = [f"# Evaluation of {_cell(page.title)}", "", _cell(page.about), "", _cell(page.legend)]
    lines += [f"\n- {_cell(note)}" for note in page.notes]
    for table in page.tables:
        lines += ["", f"## {_cell(table.title)}", "", _row(table.cells.columns), "|---|" + "--:|" * (table.cells.width - 1)]
        lines += map(_row, table.cells.iter_rows())
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return text as Markdown shows it literally, on one line: a benchmark's names are data."""
    return re.sub(r"([\\`*_~\[\]|])", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def minute(evaluation: Evaluation) -> str:
    return evaluation.started[:16].replace("T", " ")


def _tables(evaluation: Evaluation, *, brief: bool) -> Iterator[EvaluationTable]:
    """Yield the tables; the figures come with the `text` that is shown of each, groups of one kind together."""
    write = brief_text if brief else figure_text
    texts = pl.Series("text", map(write, figures_in(evaluation.figures)), pl.String)
    mark = partial(fitted_mark, evaluation)
    shown = evaluation.figures.with_columns(texts).sort(GROUP.str.contains(":", literal=True), GROUP, maintain_order=True)
    if evaluation.what == "probe":
        yield from probe_tables(shown)
    elif evaluation.what == "ablations":
        yield ablation_table(shown, brief=brief, sets=mark(PERFECT))
    else:
        if evaluation.what == "retrieval" and not set(shown["arm"]) <= {FLOW, BASELINE}:
            yield summary_table(shown, sets=mark(PERFECT))
        yield from retrieval_tables(shown)
        yield from evidence_tables(shown, sets=mark(PERFECT))
        yield from gain_tables(shown, sets=mark(PERFECT))
        yield from order_tables(shown, sets=mark(PERFECT))
        yield from sized_tables(shown, _weights_of_sets(evaluation))
        yield from measure_tables(shown, mark)
        yield from refusal_tables(shown)
        yield from group_tables(shown, mark)


def _weights_of_sets(evaluation: Evaluation) -> str:
    if evaluation.what != "transfer":
        return BY_FOLDS
    here = fitted_on_these(evaluation)
    return f"weights {ON_THESE}" if here else f"weights fitted on {evaluation.models.get('weights')}"


def _pivoted(shown: pl.DataFrame, rows: str, columns: str) -> pl.DataFrame:
    return shown.pivot(on=columns, index=rows, values="text", maintain_order=True).fill_null(MISSING)


def ablation_table(shown: pl.DataFrame, *, brief: bool, sets: str) -> EvaluationTable:
    """Return what the whole method measures, and below it what each ablation changes of that; `sets` marks what is returned.

    In brief some metrics under short names, and in place of the interval of a difference a mark where that leaves out zero.
    """
    whole = shown["arm"][0]
    changes = shown.filter(METRIC.str.ends_with(DIFFERENCE)).with_columns(METRIC.str.strip_suffix(DIFFERENCE))
    compared = pl.concat([shown.filter(pl.col("arm") == whole), changes]).join(changes, on=["metric", "group"], how="semi")
    names = {
        (metric, group): SHORT.get((metric, group), "") if brief else metric if group == ALL else f"{metric}, {group}"
        for metric, group in compared.select("metric", "group").rows()
    }
    in_order = pl.Enum(compared["metric"].unique(maintain_order=True))
    named = compared.with_columns(pl.Series("name", map(names.__getitem__, compared.select("metric", "group").rows()), pl.String))
    cells = _pivoted(named.filter(pl.col("name") != "").sort(METRIC.cast(in_order), maintain_order=True), "arm", "name")
    counted = _counted(shown.filter(OF_ALL, shown["metric"][0] == METRIC))
    title = f"{capital(whole)}, and what each ablation changes of it (points, pages), {counted} questions"
    return EvaluationTable(f"{title}; {PERFECT} and {RETURNED}{sets}" if sets else title, cells)


def probe_tables(shown: pl.DataFrame) -> Iterator[EvaluationTable]:
    """Yield a table for each reader: how many probes of each kind brought their page back among the first so many."""
    found = shown.filter(METRIC.str.starts_with("recall@"), OF_ALL | GROUP.str.starts_with("source: "))
    found = found.with_columns(METRIC.str.strip_prefix("recall"), GROUP.str.strip_prefix("source: "))
    for (arm,), of_arm in found.group_by("arm", maintain_order=True):
        cells = _by_group(of_arm, "metric").rename({"group": "probes"})
        yield EvaluationTable(f"Their page comes back among the first so many (%), {arm}", cells)


def summary_table(shown: pl.DataFrame, *, sets: str) -> EvaluationTable:
    """Return a row for each reader; of flow and top-k alone it would only repeat other tables. `sets` marks what flow returns."""
    found = shown.filter(METRIC.is_in(SUMMARY), OF_ALL | ((METRIC == PERFECT) & (GROUP == "several pages")))
    found = found.sort(METRIC.cast(pl.Enum(SUMMARY)), maintain_order=True)
    figures = figures_in(found.select(FIGURES.keys()))
    texts = [figure_text(one) if is_difference(one.metric) else brief_text(one) for one in figures]
    names = [f"{named_with_unit(one.metric)}{'' if one.group == ALL else f', {one.group}'}" for one in figures]
    cells = _pivoted(found.with_columns(text=pl.Series(texts), name=pl.Series(names)), "arm", "name")
    title = f"{_titled('The readers', found.filter(OF_ALL))}{f'; the set of {FLOW}{sets}' if sets else ''}"
    return EvaluationTable(title, cells.rename({"arm": "reader"}))


def retrieval_tables(shown: pl.DataFrame) -> Iterator[EvaluationTable]:
    ranked = shown.filter(OF_ALL).with_columns(family=METRIC.str.extract(RANKED, 1), cutoff=METRIC.str.extract(RANKED, 2))
    for family, title in FAMILIES.items():
        found = ranked.filter(pl.col("family") == family).sort(pl.col("cutoff").cast(int), maintain_order=True)
        if found.height:
            cells = _pivoted(found.with_columns(cutoff="@" + pl.col("cutoff")), "arm", "cutoff")
            yield EvaluationTable(_titled(f"{title} of the ranking (%)", found), cells)


def evidence_tables(shown: pl.DataFrame, *, sets: str) -> Iterator[EvaluationTable]:
    """Yield the table of the returned sets: how often whole, next to rankings cut to as many pages, and the gain over each.

    `sets` is what is to be known of the weights that decide how many pages are returned.
    """
    whole = shown.filter(OF_ALL, METRIC == PERFECT)
    texts = {(arm, metric): text for arm, metric, text in shown.filter(OF_ALL).select("arm", "metric", "text").rows()}
    rows = []
    for arm in whole["arm"]:
        rows.append((f"{arm}: returned set{sets if arm == FLOW else ''}", texts[arm, PERFECT], ""))
        for rival in RIVALS:
            if (arm, found_by(*rival)) in texts:
                rows.append((", ".join(rival), texts[arm, found_by(*rival)], texts.get((arm, gain_over(*rival)), MISSING)))
    if rows:
        cells = pl.DataFrame(rows, schema=["pages", "whole (%)", "gain of the set (points)"], orient="row")
        yield EvaluationTable(_titled("How often all evidence is there", whole), cells)


def gain_tables(shown: pl.DataFrame, *, sets: str) -> Iterator[EvaluationTable]:
    """Yield, for each arm, what its returned set gains over cut rankings, by how many pages a question needs."""
    over_cuts = METRIC.str.starts_with(GAIN) & ~METRIC.str.ends_with(DIFFERENCE) & ~METRIC.str.contains(SIZED)
    gains = shown.filter(over_cuts, ~GROUP.str.contains(":", literal=True))
    for (arm,), found in gains.filter(pl.col("arm") != BASELINE).group_by("arm", maintain_order=True):
        counts = found.unique("group", keep="first").select("group", "questions").rows()
        names = {group: f"{group} ({count:,})" for group, count in counts} | {"metric": f"over, of {arm}"}
        cells = _pivoted(found.with_columns(METRIC.str.strip_prefix(GAIN)), "metric", "group").rename(names)
        yield EvaluationTable(f"What the returned set gains (points){sets if arm == FLOW else ''}", cells)


def order_tables(shown: pl.DataFrame, *, sets: str) -> Iterator[EvaluationTable]:
    """Yield how often all evidence is in the first pages of the arms' orders, and what the arms come to pair by pair.

    An order begins with the returned set; `sets` marks that of flow.
    """
    mark = f"; the set of {FLOW}{sets}" if sets else ""
    of_all, arms = shown.filter(OF_ALL), shown["arm"].unique(maintain_order=True)
    whole = of_all.with_columns(pages=METRIC.str.extract(WHOLE_AFTER, 1)).filter(pl.col("pages").is_in(AFTER_SHOWN))
    if whole.height:
        named = whole.with_columns(order=pl.col("arm") + METRIC.str.extract(WHOLE_AFTER, 2))
        cells = _pivoted(named, "pages", "order").rename({"pages": "first pages"})
        yield EvaluationTable(_titled("All evidence is in the first pages of the order (%)", whole) + mark, cells)
    for prefix, title in OF_PAIRS.items():
        found = of_all.filter(METRIC.str.starts_with(prefix)).with_columns(METRIC.str.strip_prefix(prefix))
        if found.height:
            cells = _pivoted(found, "arm", "metric").select("arm", *arms).rename({"arm": "set of"})
            yield EvaluationTable(_titled(title, found) + mark, cells)


def sized_tables(shown: pl.DataFrame, how: str) -> Iterator[EvaluationTable]:
    """Yield what sets of the most probable pages are worth at so many pages on average, and how calibrated their pages are."""
    found = shown.filter(METRIC.str.contains(SIZED), OF_ALL | (GROUP == "several pages"))
    for (arm,), of_arm in found.group_by("arm", maintain_order=True):
        counted = [
            name if group == ALL else f"{name}, {group} ({number:,})"
            for name, group, number in of_arm.select(METRIC.str.extract(SIZED, 1), "group", "questions").rows()
        ]
        named = of_arm.with_columns(pl.Series("mean pages", counted), mean=METRIC.str.extract(SIZED, 2))
        cells = _pivoted(named, "mean pages", "mean")
        yield EvaluationTable(_titled(f"Sets by probability (%, points), {arm}, {how}", of_arm.filter(OF_ALL)), cells)
    calibrated = shown.filter(METRIC.is_in(CALIBRATION))
    if calibrated.height:
        title = f"The probabilities of pages in sets of {USUAL_SIZE:g} on average, {how}"
        yield EvaluationTable(_titled(title, calibrated), _pivoted(calibrated, "metric", "arm"))


def measure_tables(shown: pl.DataFrame, mark: Mark) -> Iterator[EvaluationTable]:
    """Yield the table of all else that was measured, answers and cost among it: a row for each metric, a column for each arm."""
    of_all, ranked = shown.filter(OF_ALL), METRIC.str.contains(RANKED)
    elsewhere = [PERFECT, *CALIBRATION, *(name(*rival) for name in (found_by, gain_over) for rival in RIVALS)]
    of_orders = f"{WHOLE_AFTER}|^{AT_FLOW}$|^({'|'.join(OF_PAIRS)})"
    of_others = METRIC.str.contains(f"{SIZED}|{of_orders}") | METRIC.str.ends_with(DIFFERENCE) | METRIC.str.starts_with(REFUSED_AT)
    found = of_all.filter(~METRIC.is_in(elsewhere), ~ranked, ~of_others)
    if found.height:
        named = found.with_columns(pl.Series("metric", [named_with_unit(metric) + mark(metric) for metric in found["metric"]]))
        title = "Also measured" if of_all.filter(ranked).height else "Measured"
        yield EvaluationTable(_titled(title, found), _pivoted(named, "metric", "arm"))


def refusal_tables(shown: pl.DataFrame) -> Iterator[EvaluationTable]:
    """Yield how many questions that have an answer are refused where so many are that have none, fitted without their documents."""
    found = shown.filter(OF_ALL, METRIC.str.starts_with(REFUSED_AT))
    if found.height:
        cells = _pivoted(found.with_columns(METRIC.str.strip_prefix(REFUSED_AT)), "metric", "arm")
        title = _titled(f"Refused though there is an answer (%){OUT_OF_FOLD}", found)
        yield EvaluationTable(title, cells.rename({"metric": "of the unanswerable are refused"}))


def group_tables(shown: pl.DataFrame, mark: Mark) -> Iterator[EvaluationTable]:
    """Yield a table for each metric that is measured on parts of the questions: a row for each part, a column for each arm.

    What is gained over cut rankings has a table of its own.
    """
    for metric in shown.filter(~OF_ALL, ~METRIC.str.starts_with(GAIN))["metric"].unique(maintain_order=True):
        cells = _by_group(shown.filter(metric == METRIC), "arm").rename({"group": "questions"})
        yield EvaluationTable(f"{capital(named_with_unit(metric))} by group{mark(metric)}", cells)


def _by_group(found: pl.DataFrame, columns: str) -> pl.DataFrame:
    """Return a row for each group, with the number of its questions."""
    numbers = [(group, _counted(of_group)) for (group,), of_group in found.group_by("group", maintain_order=True)]
    counted = pl.DataFrame(numbers, schema=["group", "number"], orient="row")
    return counted.join(_pivoted(found, "group", columns), on="group", maintain_order="left")


def _titled(title: str, figures: pl.DataFrame) -> str:
    counted = _counted(figures)
    return f"{title}, {counted} {'question' if counted == '1' else 'questions'}"


def _counted(figures: pl.DataFrame) -> str:
    numbers = set(figures["questions"])
    return f"{min(numbers):,}" if len(numbers) == 1 else f"{min(numbers):,} to {max(numbers):,}"
