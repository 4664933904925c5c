"""What `lineage --sql` may ask of: a corpus's runs, their steps and model calls, and the answers, as tables in memory.

They hold no word and no name of a document: of an error its kind alone. Times are UTC; what a line does not have is NULL.
As a program, `python -m tasks.lineage.operator_tables`, it answers one query, which comes as JSON on standard input.
"""

# DuckDB complains at the end of a process of types that are still named: annotations stay words.
from __future__ import annotations

import json
import math
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from decimal import Decimal
from itertools import chain, count
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from storage.catalog.catalog import LOCKED_DOWN
from storage.runs.views import MEMORY, THREADS, opened_runs
from tasks.lineage.runs import KILLED, STILL_GOING
from tasks.progress import STOPPED

REPLY_BYTES = 20_000_000
READ_AT_ONCE = 1_000

TIME = "CAST(TRY_CAST({0} AS TIMESTAMPTZ) AS TIMESTAMP) AS {0}"
ERROR = "nullif(split_part(error, ':', 1), '') AS error"
USED = "TRY_CAST(line->>'$.usage.{0}' AS {1}) AS {0}"
TABLES = {
    "runs": f"""SELECT run_id, CASE WHEN starts_with(run_id, 'ask-') THEN 'ask'
            WHEN json_exists(parameters, '$.stages') THEN 'evolve' WHEN json_exists(parameters, '$.paths') THEN 'ingest'
            WHEN json_exists(parameters, '$.what') THEN 'evaluate'
            ELSE 'unknown' END AS kind,
        {TIME.format("began")}, coalesce(outcome, if(list_contains($at_work, run_id), '{STILL_GOING}', '{KILLED}')) AS outcome,
        snapshot, code_version, unreadable_lines
        FROM runs LEFT JOIN (SELECT run_id, min(started) AS began FROM steps GROUP BY run_id) USING (run_id)""",
    "steps": f"""SELECT run_id, step, version, subject, {TIME.format("started")}, seconds, attempts, cache_hit,
        CASE WHEN split_part(error, ':', 1) = '{STOPPED}' THEN 'stopped' WHEN error <> '' THEN 'failed'
            WHEN cache_hit THEN 'remembered' ELSE 'done' END AS outcome, {ERROR} FROM steps""",
    "model_calls": f"""SELECT run_id, purpose, subject, answer_id, model, input_tokens, output_tokens, cost, seconds, attempts,
        outcome, {ERROR} FROM model_calls""",
    "answers": f"""SELECT answer_id, {TIME.format("asked")}, question, status, reader, snapshot, {USED.format("calls", "BIGINT")},
        {USED.format("input_tokens", "BIGINT")}, {USED.format("output_tokens", "BIGINT")}, {USED.format("cost", "DOUBLE")},
        list_sum(TRY_CAST(json_extract(line, '$.usage.seconds.*') AS DOUBLE[])) AS seconds, run_id FROM answers""",
}


class NoQueryError(ValueError):
    """What is asked is not one SELECT."""


class TooMuchError(ValueError):
    """The result does not fit a reply."""


def main() -> None:
    asked = json.loads(sys.stdin.read())
    limit(seconds=asked["seconds"], more_memory=asked["memory"])
    try:
        reply = answered(Path(asked["runs"]), asked["query"])
    except (duckdb.Error, MemoryError, NoQueryError, TooMuchError) as error:
        reply = json.dumps({"kind": type(error).__name__, "error": str(error)})
    sys.stdout.write(reply)


def limit(*, seconds: int, more_memory: int) -> None:
    """Bound the CPU, the memory and the files of this process: DuckDB's own limits do not bind every function."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    now = pages * resource.getpagesize() + more_memory
    for what, most in (
        (resource.RLIMIT_CPU, seconds * THREADS),
        (resource.RLIMIT_AS, now),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def answered(folder: Path, query: str) -> str:
    """Return the names of the columns and the rows of the query, as JSON, and the runs whose files cannot be read."""
    require_select(query)
    copied, unreadable = copies(folder, query.lower())
    with locked_with(copied) as connection:
        asked = connection.execute(query)
        columns = unlike([name for name, *_ in asked.description or ()])
        parts: list[str] = []
        size = 0
        while rows := asked.fetchmany(READ_AT_ONCE):
            parts += [json.dumps([plain(value) for value in row]) for row in rows]
            size += sum(map(len, parts[-len(rows) :]))
            if size > REPLY_BYTES:
                raise TooMuchError(f"{len(parts):,} rows and more")
    return f'{{"columns": {json.dumps(columns)}, "unreadable": {json.dumps(unreadable)}, "rows": [{", ".join(parts)}]}}'


def require_select(query: str) -> None:
    """Raise NoQueryError for what is not one SELECT; DuckDB counts DESCRIBE and SHOW as one, too."""
    statements = [statement.type for statement in duckdb.extract_statements(query)]
    if statements != [duckdb.StatementType.SELECT]:
        raise NoQueryError(", ".join(kind.name for kind in statements) or "nothing")


def copies(folder: Path, query: str) -> tuple[dict[str, pa.Table], dict[str, str]]:
    """Return the tables that the query names, of the others the columns alone; and why the files of some runs cannot be read."""
    copied = {}
    with opened_runs(folder) as runs:
        for name, columns in TABLES.items():
            parameters = {"at_work": list(runs.at_work)} if "$at_work" in columns else {}
            copied[name] = runs.connection.sql(f"FROM ({columns}) WHERE {name in query}", params=parameters).to_arrow_table()
        return copied, dict(runs.unreadable)


@contextmanager
def locked_with(copied: dict[str, pa.Table]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that holds these tables, and from which nothing leads out."""
    with closing(duckdb.connect()) as connection:
        settings = {
            "memory_limit": f"'{MEMORY}'",
            "threads": min(THREADS, os.cpu_count() or 1),
            "temp_directory": "''",
            "TimeZone": "'UTC'",
            "python_enable_replacements": "false",
        }
        for name, table in copied.items():
            connection.register("copied", table)
            connection.execute(f"CREATE TABLE {name} AS FROM copied")
            connection.unregister("copied")
        for name, value in (settings | LOCKED_DOWN).items():
            connection.execute(f"SET {name} = {value}")
        yield connection


def unlike(names: Sequence[str]) -> list[str]:
    """Return the names, those that were there before with a number behind them: each is a field of its own in JSON."""
    found: list[str] = []
    for name in names:
        found.append(next(each for each in chain([name], map(f"{name}_{{}}".format, count(2))) if each not in found))
    return found


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return what JSON can hold: times and what it has no word for as text."""
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)


if __name__ == "__main__":
    main()
