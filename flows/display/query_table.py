"""What the result of `lineage --sql` looks like: a table for people, a list of objects for programs."""

import json

from flows.display.output import Output
from tasks.lineage.query import QueriedRows

SHOWN = 100
"""Rows, at most: --json has all."""


def show_result(result: QueriedRows, output: Output) -> None:
    for run_id, reason in result.unreadable.items():
        output.side.print(f"the file of run {run_id} cannot be read: {reason}", markup=False, style="yellow", soft_wrap=True)
    if output.as_json:
        output.data([dict(zip(result.columns, row, strict=True)) for row in result.rows])
        return
    shown = result.rows[:SHOWN]
    numbers = [name for place, name in enumerate(result.columns) if any(isinstance(row[place], int | float) for row in shown)]
    output.table(result.columns, [[in_words(value) for value in row] for row in shown], right=numbers)
    if more := len(result.rows) - len(shown):
        output.line(f"and {more:,} more; --json has all")


def in_words(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
