"""What an evaluation looks like on a terminal, and to programs."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import polars as pl

from flows.display.output import Output
from storage.records.evaluations import BenchmarkQuestion, Evaluation, Figure
from storage.text import minute
from tasks.evaluation.comparing import Difference, MetricChange
from tasks.evaluation.scoring import ALL, difference_of
from tasks.evaluation.tables import evaluation_page, figure_text, fitted_mark, named_with_unit, unit_of

WANTED = "recall@5"
MISSED_SHOWN = 10


def evaluation_json(evaluation: Evaluation, pictures: Sequence[Path]) -> dict[str, Any]:
    kept = {each.name: getattr(evaluation, each.name) for each in fields(evaluation) if each.name != "scored"}
    return kept | {"figures": evaluation.figures.to_dicts(), "pictures": [str(path) for path in pictures]}


def show_evaluation(evaluation: Evaluation, pictures: Sequence[Path], output: Output) -> None:
    page = evaluation_page(evaluation, width=output.console.width)
    output.line(page.title, style="bold")
    output.paragraph(page.about)
    for note in page.notes:
        output.paragraph(note, style="yellow")
    for title, cells in page.tables.items():
        output.line()
        output.line(title, style="bold")
        output.table(cells.columns, cells.rows(), right=cells.columns[1:])
    output.line()
    output.paragraph(page.legend, style="dim")
    for path in pictures:
        output.line(f"picture: {path}", style="dim")
    output.line(f"run {evaluation.run_id[:8]}; again: flowreader evaluate show {evaluation.run_id[:8]}", style="dim")


def show_missed(questions: Sequence[BenchmarkQuestion], evaluation: Evaluation, output: Output) -> None:
    """Show probes whose page did not come back among the first five: there to look for what went wrong."""
    failed = set(evaluation.scored.filter(pl.col("metric") == WANTED, pl.col("value") < 1)["question_id"])
    missed = [question for question in questions if question.id in failed]
    if not missed:
        return
    output.line()
    output.line(f"{len(missed)} probes whose page is not among the first five", style="bold")
    for question in missed[:MISSED_SHOWN]:
        document, page = question.evidence[0]
        output.paragraph(f"{question.evidence_sources[0]} on page {page} of {document}: {question.text}", first="  ")
    if len(missed) > MISSED_SHOWN:
        output.line(f"  and {len(missed) - MISSED_SHOWN} more; --out FILE.jsonl has all", style="dim")


def compare_json(
    before: Evaluation, after: Evaluation, changes: Sequence[MetricChange], differences: Sequence[Difference]
) -> dict[str, Any]:
    return {
        "before": before.run_id,
        "after": after.run_id,
        "changes": [asdict(change) | {"beyond_luck": change.beyond_luck} for change in changes],
        "differs": [asdict(difference) for difference in differences],
    }


def show_changes(
    before: Evaluation, after: Evaluation, changes: Sequence[MetricChange], differences: Sequence[Difference], output: Output
) -> None:
    output.line(
        f"{before.run_id[:8]} ({minute(before.started)}) -> {after.run_id[:8]} ({minute(after.started)}), {after.benchmark}"
    )
    moved = [change for change in changes if change.difference or change.low or change.high]
    if moved:
        columns = ("arm", "metric", "before", "after", "difference (95 %)", "")
        marks = [fitted_mark(after, change.metric) or fitted_mark(before, change.metric) for change in moved]
        output.table(columns, list(map(_row, moved, marks)), right=columns[2:5])
    output.line(f"{len(changes) - len(moved)} of {len(changes)} metrics are the same", style="dim")
    output.line(f"of {len(changes)} compared metrics some 5 % move beyond luck by chance", style="dim")
    for difference in differences:
        output.line(f"{difference.name}: {difference.before} -> {difference.after}", style="dim")
    if not differences:
        output.line("nothing else differs: same models, settings, corpus and code", style="dim")


def _row(change: MetricChange, mark: str) -> tuple[str, ...]:
    unit = unit_of(change.metric)
    before, after = (f"{value * unit.factor:.{unit.decimals}f}" for value in (change.before, change.after))
    interval = (change.difference, change.low, change.high)
    by = Figure(change.arm, ALL, difference_of(change.metric), *interval, change.questions, change.documents)
    verdict = "more than luck" if change.beyond_luck else ""
    return change.arm, named_with_unit(change.metric) + mark, before, after, figure_text(by), verdict
