"""The command `lineage`: the tree of one answer, document or run, or the table that a query of the runs gives."""

import argparse
import json

from flows.display.output import Output
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.text import printable_path
from tasks.lineage.query import QueriedRows, ask_runs
from tasks.views.runs import LineageView, lineage_context, lineage_json, view_lineage

ROWS_SHOWN = 100
"""Of `lineage --sql`, at most: --json has all."""


def lineage(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.sql is not None:
        show_result(ask_runs(corpus_location(arguments.corpus), arguments.sql), output)
        return 0
    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        found = view_lineage(snapshot, printable_path(arguments.named))
    show_lineage(found, output)
    return 0


def show_lineage(found: LineageView, output: Output) -> None:
    if output.as_json:
        output.data(lineage_json(found))
    else:
        output.show("lineage.j2", **lineage_context(found))


def show_result(result: QueriedRows, output: Output) -> None:
    for run_id, reason in result.unreadable.items():
        output.side.print(f"the file of run {run_id} cannot be read: {reason}", markup=False, style="yellow", soft_wrap=True)
    if output.as_json:
        output.data([dict(zip(result.columns, row, strict=True)) for row in result.rows])
        return
    shown = result.rows[:ROWS_SHOWN]
    numbers = [name for place, name in enumerate(result.columns) if any(isinstance(row[place], int | float) for row in shown)]
    output.table(result.columns, [[format_cell(value) for value in row] for row in shown], right=numbers)
    if more := len(result.rows) - len(shown):
        output.line(f"and {more:,} more; --json has all")


def format_cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
