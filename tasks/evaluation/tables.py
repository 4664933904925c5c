"""An evaluation as people read it, on a terminal or as a page of Markdown: one structure, worded here alone."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storage.records.evaluations import Evaluation, Figure
from tasks.evaluation.figures import ALL, difference_of
from tasks.evaluation.scoring import BASELINE, CUTS, GAIN, OWN, PERFECT, RETURNED, SAME_NUMBER, found_by, gain_over
from tasks.evaluation.wording import (
    BEYOND_LUCK,
    DIFFERENCE,
    FEW_MARK,
    FEW_SAID,
    INTERVALS_SAID,
    Figures,
    brief_text,
    capital,
    figure_text,
    named_with_unit,
)

SHORT = {
    ("recall@1", ALL): "R@1",
    ("recall@5", ALL): "R@5",
    (PERFECT, ALL): "whole",
    (PERFECT, "several pages"): "several",
    (RETURNED, ALL): "pages",
    (gain_over(OWN, SAME_NUMBER), ALL): "gain",
}
BRIEF_NOTE = (
    "whole: all evidence is in the returned set, several: of questions that need several pages, gain: over the own ranking cut to "
    f"as many pages; {BEYOND_LUCK} more than luck: the 95 % interval, by drawing documents anew, leaves out zero, and there are "
    f"several documents; {FEW_MARK} {FEW_SAID}"
)

RANKED = re.compile(r"(recall|precision|ndcg|mrr)@(\d+)")
FAMILIES = {"recall": "Recall", "precision": "Precision", "ndcg": "nDCG, to the number of evidence pages at most,", "mrr": "MRR"}
RIVALS = tuple((ranking, cut) for ranking in (OWN, BASELINE) for cut in CUTS)


@dataclass(frozen=True, slots=True)
class EvaluationTable:
    """Words in rows; the first column names what a row is about, the others hold numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


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
    asked_of = "all documents of the benchmark" if evaluation.scope == "corpus" else "its own documents"
    models = ", ".join(f"{does} {name or 'none'}" for does, name in evaluation.models.items())
    brief = brief and evaluation.what == "ablations"
    return EvaluationPage(
        title=f"{evaluation.what}: {evaluation.benchmark}",
        about=(
            f"{minute(evaluation)} UTC, run {evaluation.run_id[:8]}, code {evaluation.code[:12]}, benchmark "
            f"{evaluation.benchmark_hash[:12]}, corpus {evaluation.corpus}, snapshot {evaluation.snapshot}; each question is asked "
            f"of {asked_of}{f'; models: {models}' if models else ''}"
        ),
        notes=evaluation.notes,
        tables=tuple(_tables(evaluation.what, Figures(evaluation.figures), brief=brief)),
        legend=f"{BRIEF_NOTE}; --markdown has the intervals" if brief else f"in brackets: {INTERVALS_SAID}; {FEW_MARK} {FEW_SAID}",
    )


def evaluation_markdown(evaluation: Evaluation) -> str:
    """Return the evaluation as one page of Markdown; names are never markup."""
    page = evaluation_page(evaluation, brief=False)
    lines = [f"# Evaluation of {_cell(page.title)}", "", _cell(page.about), "", _cell(page.legend)]
    lines += [f"\n- {_cell(note)}" for note in page.notes]
    for table in page.tables:
        lines += ["", f"## {_cell(table.title)}", "", _row(table.columns), "|---|" + "--:|" * (len(table.columns) - 1)]
        lines += map(_row, table.rows)
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return text as Markdown shows it literally, on one line: a benchmark's names are data."""
    return re.sub(r"([\\`*_~\[\]|])", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def minute(evaluation: Evaluation) -> str:
    return evaluation.started[:16].replace("T", " ")


def _tables(what: str, figures: Figures, *, brief: bool) -> Iterator[EvaluationTable]:
    if what == "probe":
        yield from probe_tables(figures)
    elif what == "ablations":
        yield ablation_table(figures, brief=brief)
    else:
        for make in (retrieval_tables, evidence_tables, gain_tables, measure_tables, group_tables):
            yield from make(figures)


def ablation_table(figures: Figures, *, brief: bool) -> EvaluationTable:
    """Return what the whole method measures, and below it what each ablation changes of that.

    In brief some metrics under short names, and in place of the interval of a difference a mark where that leaves out zero.
    """
    compared = [
        (metric, group)
        for metric in figures.metrics
        for group in figures.groups
        if figures.of(difference_of(metric), groups=[group]) and figures.of(metric, groups=[group])
        if not brief or (metric, group) in SHORT
    ]
    tell = brief_text if brief else figure_text
    rows = tuple(
        (arm, *(figures.text(arm, difference_of(metric) if number else metric, group, tell) for metric, group in compared))
        for number, arm in enumerate(figures.arms)
    )
    long = (metric if group == ALL else f"{metric}, {group}" for metric, group in compared)
    heads = (SHORT[one] for one in compared) if brief else long
    counted = _counted(figures.of(figures.metrics[0]))
    title = f"{capital(figures.arms[0])}, and what each ablation changes of it (points, pages), {counted} questions"
    return EvaluationTable(title, ("arm", *heads), rows)


def probe_tables(figures: Figures) -> Iterator[EvaluationTable]:
    """Yield a table for each reader: how many probes of each kind brought their page back among the first so many."""
    metrics = [metric for metric in figures.metrics if metric.startswith("recall@")]
    kinds = [group for group in figures.groups if group == ALL or group.startswith("source: ")]
    for arm in figures.arms:
        rows = tuple(
            (
                kind.removeprefix("source: "),
                _counted(figures.of(metrics[0], [arm], [kind])),
                *(figures.text(arm, metric, kind) for metric in metrics),
            )
            for kind in kinds
        )
        columns = ("probes", "number", *(f"@{metric.partition('@')[2]}" for metric in metrics))
        yield EvaluationTable(f"Their page comes back among the first so many (%), {arm}", columns, rows)


def retrieval_tables(figures: Figures) -> Iterator[EvaluationTable]:
    ranked = [found for metric in figures.metrics if (found := RANKED.fullmatch(metric))]
    for family, title in FAMILIES.items():
        cutoffs = sorted(int(found[2]) for found in ranked if found[1] == family)
        metrics = [f"{family}@{cutoff}" for cutoff in cutoffs]
        if metrics:
            rows = tuple((arm, *(figures.text(arm, metric) for metric in metrics)) for arm in figures.arms)
            columns = ("arm", *(f"@{cutoff}" for cutoff in cutoffs))
            yield EvaluationTable(_titled(f"{title} of the ranking (%)", figures.of(metrics[0])), columns, rows)


def evidence_tables(figures: Figures) -> Iterator[EvaluationTable]:
    """Yield the table of the returned sets: how often whole, beside rankings cut to as many pages, and the gain over each."""
    if PERFECT not in figures.metrics:
        return
    rows = []
    for arm in figures.arms:
        rows.append((f"{arm}: returned set", figures.text(arm, PERFECT), ""))
        for rival in RIVALS:
            if figures.of(found_by(*rival), [arm]):
                rows.append((", ".join(rival), figures.text(arm, found_by(*rival)), figures.text(arm, gain_over(*rival))))
    columns = ("pages", "whole (%)", "gain of the set (points)")
    yield EvaluationTable(_titled("How often all evidence is there", figures.of(PERFECT)), columns, tuple(rows))


def gain_tables(figures: Figures) -> Iterator[EvaluationTable]:
    """Yield, for each arm, what its returned set gains over cut rankings, by how many pages a question needs."""
    for arm in figures.arms:
        rivals = [rival for rival in RIVALS if figures.of(gain_over(*rival), [arm])]
        if rivals and arm != BASELINE:
            found = {group: figures.of(gain_over(*rivals[0]), [arm], [group]) for group in figures.groups if ":" not in group}
            groups = [group for group in found if found[group]]
            columns = (f"over, of {arm}", *(f"{group} ({_counted(found[group])})" for group in groups))
            rows = tuple((", ".join(rival), *(figures.text(arm, gain_over(*rival), group) for group in groups)) for rival in rivals)
            yield EvaluationTable("What the returned set gains (points)", columns, rows)


def measure_tables(figures: Figures) -> Iterator[EvaluationTable]:
    """Yield the table of all else that was measured, answers and cost among it: a row for each metric, a column for each arm."""
    elsewhere = {PERFECT, *(name(*rival) for name in (found_by, gain_over) for rival in RIVALS)}
    metrics = [
        metric
        for metric in figures.metrics
        if metric not in elsewhere and not RANKED.fullmatch(metric) and not metric.endswith(DIFFERENCE)
    ]
    if metrics:
        rows = tuple((named_with_unit(metric), *(figures.text(arm, metric) for arm in figures.arms)) for metric in metrics)
        measured = [figure for metric in metrics for figure in figures.of(metric)]
        title = "Also measured" if any(map(RANKED.fullmatch, figures.metrics)) else "Measured"
        yield EvaluationTable(_titled(title, measured), ("metric", *figures.arms), rows)


def group_tables(figures: Figures) -> Iterator[EvaluationTable]:
    """Yield a table for each metric told of parts of the questions: a row for each part, a column for each arm.

    What is gained over cut rankings has a table of its own.
    """
    for metric in figures.grouped:
        if metric.startswith(GAIN):
            continue
        arms = [arm for arm in figures.arms if figures.of(metric, [arm], figures.groups)]
        rows = tuple(
            (group, _counted(found), *(figures.text(arm, metric, group) for arm in arms))
            for group in figures.groups
            if (found := figures.of(metric, arms, [group]))
        )
        yield EvaluationTable(f"{capital(named_with_unit(metric))} by group", ("questions", "number", *arms), rows)


def _titled(title: str, figures: Sequence[Figure]) -> str:
    counted = _counted(figures)
    return f"{title}, {counted} {'question' if counted == '1' else 'questions'}"


def _counted(figures: Sequence[Figure]) -> str:
    numbers = {figure.questions for figure in figures}
    return f"{min(numbers):,}" if len(numbers) == 1 else f"{min(numbers):,} to {max(numbers):,}"
