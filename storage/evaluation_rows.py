"""An evaluation as rows of the tables of evaluations.sql, and back."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence

import duckdb

from storage.codec import canonical_json
from storage.evaluation_records import Evaluation, Figure, Scored
from storage.wording import storable


def require_numbers(evaluation: Evaluation) -> None:
    """Raise ValueError where something is said to be measured and is no number."""
    figures = (
        (each.metric, f"group {each.group!r}", each.arm, number)
        for each in evaluation.figures
        for number in (each.value, each.low, each.high)
    )
    scored = (
        (name, f"question {each.question_id!r}", each.arm, number)
        for each in evaluation.scored
        for name, number in each.values.items()
    )
    for metric, where, arm, number in itertools.chain(figures, scored):
        if not math.isfinite(number):
            raise ValueError(f"{metric!r} of {where} under arm {arm!r} is {number}; leave out what could not be measured")


def write_evaluation(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, settings: str) -> None:
    """Insert the evaluation, in place of one with the same id; `settings` are its settings in JSON."""
    for table in ("evaluations", "figures", "scored"):
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [evaluation.run_id])
    _write_head(connection, evaluation, settings)
    _write_figures(connection, evaluation.run_id, evaluation.figures)
    _write_scored(connection, evaluation.run_id, evaluation.scored)


def read_heads(connection: duckdb.DuckDBPyConnection) -> list[Evaluation]:
    """Return all evaluations with their figures, the newest first; what each question was worth is left out."""
    figures: dict[str, list[Figure]] = {}
    for run_id, _position, *figure in connection.execute("SELECT * FROM figures ORDER BY run_id, position").fetchall():
        figures.setdefault(run_id, []).append(Figure(*figure))
    rows = connection.execute("SELECT * FROM evaluations ORDER BY started DESC, run_id").fetchall()
    told = (
        [*head, json.loads(settings), tuple(figures.get(head[0], ())), (), json.loads(models), tuple(notes)]
        for *head, settings, models, notes in rows
    )
    return [Evaluation(*values) for values in told]


def read_scored(connection: duckdb.DuckDBPyConnection, run_id: str) -> tuple[Scored, ...]:
    """Return what each question of an evaluation was worth."""
    rows = connection.execute("SELECT * EXCLUDE (run_id, position) FROM scored WHERE run_id = ? ORDER BY position", [run_id])
    return tuple(Scored(*row) for row in rows.fetchall())


def _write_head(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, settings: str) -> None:
    connection.execute(
        "INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            evaluation.run_id,
            evaluation.what,
            evaluation.started,
            storable(evaluation.benchmark),
            evaluation.benchmark_hash,
            evaluation.corpus,
            evaluation.snapshot,
            storable(evaluation.scope),
            evaluation.code,
            settings,
            canonical_json({name: storable(model) for name, model in evaluation.models.items()}).decode(),
            [storable(note) for note in evaluation.notes],
        ],
    )


def _write_figures(connection: duckdb.DuckDBPyConnection, run_id: str, figures: Sequence[Figure]) -> None:
    """Insert the figures, a column at a time: row by row DuckDB takes a second a thousand."""
    connection.execute(
        f"INSERT INTO figures SELECT ?, {', '.join(['unnest(?)'] * 9)}",
        [
            run_id,
            list(range(len(figures))),
            _texts(figure.arm for figure in figures),
            _texts(figure.group for figure in figures),
            _texts(figure.metric for figure in figures),
            [float(figure.value) for figure in figures],
            [float(figure.low) for figure in figures],
            [float(figure.high) for figure in figures],
            [figure.questions for figure in figures],
            [figure.documents for figure in figures],
        ],
    )


def _write_scored(connection: duckdb.DuckDBPyConnection, run_id: str, scored: Sequence[Scored]) -> None:
    """Insert what the questions were worth, a column at a time."""
    connection.execute(
        f"INSERT INTO scored SELECT ?, {', '.join(['unnest(?)'] * 4)}, map(unnest(?::VARCHAR[][]), unnest(?::DOUBLE[][]))",
        [
            run_id,
            list(range(len(scored))),
            _texts(each.arm for each in scored),
            _texts(each.question_id for each in scored),
            _texts(each.document for each in scored),
            [list(each.values) for each in scored],
            [[float(value) for value in each.values.values()] for each in scored],
        ],
    )


def _texts(column: Iterable[str]) -> list[str]:
    return [storable(text) for text in column]
