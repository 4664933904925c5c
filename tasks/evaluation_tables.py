"""An evaluation in tables that fit a terminal of 80 columns, and as one page of Markdown: every mean with its interval."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from storage.evaluation_records import Evaluation, Figure
from tasks.answer_scoring import JUDGE_CALLS, JUDGE_COST
from tasks.evaluation_figures import ALL, FEWEST_DOCUMENTS, difference_of, more_than_luck
from tasks.evaluation_scoring import BASELINE, CUTS, GAIN, OWN, PERFECT, RETURNED, SAME_NUMBER, found_by, gain_over

FEW_QUESTIONS = 10
FEW_DOCUMENTS = 5
FEW_MARK = "*"
FEW_SAID = f"fewer than {FEW_QUESTIONS} questions or {FEW_DOCUMENTS} documents"
MISSING = "-"
INTERVALS_SAID = f"95 % intervals, by drawing documents anew ({MISSING} where there is one document only)"
BEYOND_LUCK = "!"
SHORT = {
    ("recall@1", ALL): "R@1",
    ("recall@5", ALL): "R@5",
    (PERFECT, ALL): "whole",
    (PERFECT, "several pages"): "several",
    (RETURNED, ALL): "pages",
    (gain_over(OWN, SAME_NUMBER), ALL): "gain",
}
"""What ablations are compared by where there is little room."""
BRIEF_NOTE = (
    "whole: all evidence is in the returned set, several: of questions that need several pages, gain: over the own ranking cut to "
    f"as many pages; {BEYOND_LUCK} more than luck: the 95 % interval, by drawing documents anew, leaves out zero, and there are "
    f"several documents; {FEW_MARK} {FEW_SAID}"
)

RANKED = re.compile(r"(recall|precision|ndcg|mrr)@(\d+)")
FAMILIES = {"recall": "Recall", "precision": "Precision", "ndcg": "nDCG, to the number of evidence pages at most,", "mrr": "MRR"}
DIFFERENCE = difference_of("")
RIVALS = tuple((ranking, cut) for ranking in (OWN, BASELINE) for cut in CUTS)


@dataclass(frozen=True, slots=True)
class Unit:
    """How a metric is told: its value times `factor`, with so many decimals; a metric whose name says its unit has none here."""

    factor: float
    decimals: int
    name: str = ""


SHARE, POINTS = Unit(100.0, 1, "%"), Unit(100.0, 1, "points")
UNITS = {
    RETURNED: Unit(1.0, 1),
    "seconds": Unit(1.0, 2),
    "calls": Unit(1.0, 1),
    "input tokens": Unit(1.0, 0),
    "output tokens": Unit(1.0, 0),
    "cost": Unit(1.0, 4, "in the currency of the prices"),
    JUDGE_CALLS: Unit(1.0, 1),
    JUDGE_COST: Unit(1.0, 4, "in the currency of the prices"),
}
"""The metrics that are no shares; every other one is told in percent."""


@dataclass(frozen=True, slots=True)
class EvaluationTable:
    """Words in rows; the first column names what a row is about, the others hold numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Figures:
    """Figures by arm, group and metric: arms and metrics as they were measured, groups of one kind together."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        """Take them; of two with the same name the last counts."""
        self._by_name = {(one.arm, one.group, one.metric): one for one in figures}
        self.arms = tuple(dict.fromkeys(one.arm for one in figures))
        self.groups = tuple(sorted({one.group for one in figures}, key=lambda group: (":" in group, group)))
        self.metrics = tuple(dict.fromkeys(one.metric for one in figures if one.group == ALL))
        self.grouped = tuple(dict.fromkeys(one.metric for one in figures if one.group != ALL))

    def of(self, metric: str, arms: Sequence[str] = (), groups: Sequence[str] = (ALL,)) -> list[Figure]:
        """Return the figures of a metric, of all arms where none is named."""
        names = [(arm, group, metric) for group in groups for arm in arms or self.arms]
        return [self._by_name[name] for name in names if name in self._by_name]

    def text(self, arm: str, metric: str, group: str = ALL) -> str:
        """Return "57.0 (50.1-63.8)", or a dash where it was not measured."""
        figure = self._by_name.get((arm, group, metric))
        return figure_text(figure) if figure else MISSING


def unit_of(metric: str) -> Unit:
    """Return how a metric, or the difference of one, is told."""
    return UNITS.get(metric.removesuffix(DIFFERENCE), POINTS if is_difference(metric) else SHARE)


def named_with_unit(metric: str) -> str:
    """Return "recall@1 (%)", "seconds"."""
    unit = unit_of(metric).name
    return f"{metric} ({unit})" if unit else metric


def is_difference(metric: str) -> bool:
    """Say whether a metric is told with its sign: it compares two."""
    return metric.endswith(DIFFERENCE) or metric.startswith(GAIN)


def is_few(figure: Figure) -> bool:
    """Say whether so few questions or documents were measured that the interval itself is not to be trusted."""
    return figure.questions < FEW_QUESTIONS or figure.documents < FEW_DOCUMENTS


def figure_text(figure: Figure) -> str:
    """Return the mean and its interval, "57.0 (50.1-63.8)" or "-1.6 (-3.0 to +0.2)", marked where it is made of few.

    One document has no interval: "57.0 (-)*".
    """
    if not all(map(math.isfinite, (figure.value, figure.low, figure.high))):
        return MISSING
    unit, sign, to = unit_of(figure.metric), "", "-"
    if is_difference(figure.metric):
        sign, to = "+", " to "
    value, low, high = (f"{number * unit.factor:{sign}z,.{unit.decimals}f}" for number in (figure.value, figure.low, figure.high))
    interval = f"{low}{to}{high}" if figure.documents >= FEWEST_DOCUMENTS else MISSING
    return f"{value} ({interval}){_few_mark(figure)}"


def brief_text(figure: Figure) -> str:
    """Return the mean alone, marked where it is made of few; of a difference with a mark where it is more than luck."""
    unit = unit_of(figure.metric)
    if not is_difference(figure.metric):
        return f"{figure.value * unit.factor:,.{unit.decimals}f}{_few_mark(figure)}"
    sure = more_than_luck(low=figure.low, high=figure.high, documents=figure.documents)
    return f"{figure.value * unit.factor:+z,.{unit.decimals}f}{BEYOND_LUCK if sure else ' '}{_few_mark(figure)}"


def _few_mark(figure: Figure) -> str:
    return FEW_MARK if is_few(figure) else ""


def _told(figures: Sequence[Figure], tell: Callable[[Figure], str]) -> str:
    return tell(figures[0]) if figures else MISSING


def evaluation_tables(evaluation: Evaluation, *, brief: bool) -> tuple[EvaluationTable, ...]:
    """Return the tables that people want of what was measured; `brief` are those for a narrow terminal.

    Only ablations have so many numbers side by side that their intervals have no room there.
    """
    figures = Figures(evaluation.figures)
    if evaluation.what == "probe":
        return tuple(probe_tables(figures))
    if evaluation.what == "ablations":
        return tuple(ablation_tables(figures, brief=brief))
    makers = (retrieval_tables, evidence_tables, gain_tables, measure_tables, group_tables)
    return tuple(table for make in makers for table in make(figures))


def ablation_tables(figures: Figures, *, brief: bool) -> Iterator[EvaluationTable]:
    """Yield one table: what the whole method measures, and below it what each ablation changes of that.

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
        (arm, *(_told(figures.of(difference_of(metric) if number else metric, [arm], [group]), tell) for metric, group in compared))
        for number, arm in enumerate(figures.arms)
    )
    heads = (SHORT[one] if brief else _long_name(*one) for one in compared)
    counted = _counted(figures.of(figures.metrics[0]))
    title = f"{_capital(figures.arms[0])}, and what each ablation changes of it (points, pages), {counted} questions"
    yield EvaluationTable(title, ("arm", *heads), rows)


def _long_name(metric: str, group: str) -> str:
    return metric if group == ALL else f"{metric}, {group}"


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
    """Yield a table for each metric of rankings: a row for each arm, a column for each cut-off."""
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
        yield EvaluationTable(f"{_capital(named_with_unit(metric))} by group", ("questions", "number", *arms), rows)


def evaluation_markdown(evaluation: Evaluation) -> str:
    """Return the evaluation as a page: what was asked of what, when and by which code, then its tables; names are never markup."""
    tables = evaluation_tables(evaluation, brief=False)
    asked_of = "all documents of the benchmark" if evaluation.scope == "corpus" else "its own documents"
    started = evaluation.started.replace("T", " ")[:16]
    lines = [
        f"# Evaluation of {_cell(evaluation.what)}: {_cell(evaluation.benchmark)}",
        "",
        f"{_cell(started)} UTC, run {_cell(evaluation.run_id[:8])}, code {_cell(evaluation.code[:12])}. "
        f"Benchmark {_cell(evaluation.benchmark_hash[:12])}, corpus {_cell(evaluation.corpus)}, snapshot {evaluation.snapshot}; "
        f"each question is asked of {asked_of}.{_models_said(evaluation.models)}",
        "",
        f"In brackets: {INTERVALS_SAID}.",
        *(f"\n- {_cell(note)}" for note in evaluation.notes),
    ]
    for table in tables:
        lines += ["", f"## {_cell(table.title)}", "", _row(table.columns), "|---|" + "--:|" * (len(table.columns) - 1)]
        lines += map(_row, table.rows)
    if any(cell.endswith(FEW_MARK) for table in tables for row in table.rows for cell in row[1:]):
        lines += ["", rf"\{FEW_MARK} {FEW_SAID}."]
    return "\n".join(lines) + "\n"


def _models_said(models: Mapping[str, str]) -> str:
    said = ", ".join(f"{_cell(does)} {_cell(name) or 'none'}" for does, name in models.items())
    return f" Models: {said}." if said else ""


def _titled(title: str, figures: Sequence[Figure]) -> str:
    counted = _counted(figures)
    return f"{title}, {counted} {'question' if counted == '1' else 'questions'}"


def _counted(figures: Sequence[Figure]) -> str:
    numbers = {figure.questions for figure in figures}
    return f"{min(numbers):,}" if len(numbers) == 1 else f"{min(numbers):,} to {max(numbers):,}"


def _capital(metric: str) -> str:
    return metric[:1].upper() + metric[1:]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return text as Markdown shows it literally, on one line: a benchmark's names are data."""
    return re.sub(r"([\\`*_~\[\]|])", r"\\\1", html.escape(" ".join(text.split()), quote=False))
