"""An evaluation as one page of Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from storage.evaluation_records import Evaluation
from tasks.evaluation_tables import evaluation_tables
from tasks.evaluation_wording import FEW_MARK, FEW_SAID, INTERVALS_SAID


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


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return text as Markdown shows it literally, on one line: a benchmark's names are data."""
    return re.sub(r"([\\`*_~\[\]|])", r"\\\1", html.escape(" ".join(text.split()), quote=False))
