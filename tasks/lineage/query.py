"""What `lineage --sql` asks: a corpus's runs, their steps and model calls, and the answers, as tables in memory.

They hold no word and no name of a document: of an error its kind alone. Times are UTC; what a line does not have is NULL.
"""

# DuckDB complains at the end of a process of types that are still named: annotations stay words.
from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb

from storage.catalog.catalog import LOCKED_DOWN
from storage.corpus.snapshot import unknown_corpus
from storage.errors import RequestError
from storage.locations import CorpusLocation
from storage.runs.views import MEMORY, Runs, open_runs_folder
from tasks.lineage.runs import KILLED, STILL_GOING
from tasks.progress import STOPPED

SECONDS, ROWS = 60, 100_000
SETTINGS: dict[str, Any] = {
    "memory_limit": MEMORY,
    "temp_directory": "",
    # Else a query could name the variables of this program.
    "python_enable_replacements": False,
}

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

REMEDY = f"the tables are {', '.join(TABLES)}, and `flowreader lineage --sql 'DESCRIBE steps'` lists the columns of one"


@dataclass(frozen=True, slots=True)
class QueriedRows:
    """The rows that a query found; `unreadable` are runs whose files the system does not give, with the reason."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    unreadable: Mapping[str, str]


def ask_runs(location: CorpusLocation, query: str, *, seconds: float = SECONDS) -> QueriedRows:
    """Return what the query finds; raise RequestError where it cannot be answered, UnknownCorpusError for no corpus."""
    if not location.folder.is_dir():
        raise unknown_corpus(location)
    with open_runs_folder(location.runs) as runs, closing(duckdb.connect(config=SETTINGS)) as connection:
        timer = threading.Timer(seconds, connection.interrupt)
        try:
            copy_tables(runs, connection, query.lower())
            timer.start()
            asked = connection.execute(f"FROM ({one_select(query)}\n)")
            names, rows = tuple(name for name, *_ in asked.description), asked.fetchmany(ROWS + 1)
        except duckdb.InterruptException as error:
            raise RequestError(
                f"the query took more than {seconds} s", remedy="let it read fewer rows, and join by a column"
            ) from error
        except duckdb.Error as error:
            raise RequestError(f"the query cannot be run ({words_of(error)})", remedy=REMEDY) from error
        except RuntimeError as error:
            # So DuckDB says that somebody pressed Ctrl-C.
            raise KeyboardInterrupt from error
        finally:
            timer.cancel()
    if len(rows) > ROWS:
        raise RequestError(f"the query finds more than {ROWS:,} rows", remedy="let it count or add up, or end it with LIMIT")
    return QueriedRows(names, tuple(tuple(map(plain, row)) for row in rows), dict(runs.unreadable))


def copy_tables(runs: Runs, connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Put the tables that the query names into the database, of the others the columns alone; from then on nothing leads out."""
    for name, columns in TABLES.items():
        parameters = {"at_work": list(runs.at_work)} if "$at_work" in columns else {}
        found = runs.connection.sql(f"FROM ({columns}) WHERE {name in query}", params=parameters)
        connection.from_arrow(found.to_arrow_table()).create(name)
    for name, value in ({"TimeZone": "'UTC'"} | LOCKED_DOWN).items():
        connection.execute(f"SET {name} = {value}")


def one_select(query: str) -> str:
    """Return the query without its end; raise RequestError for what is not one SELECT. DESCRIBE and SHOW count as one."""
    statements = duckdb.extract_statements(query.encode(errors="replace").decode())
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise RequestError("the query must be one SELECT", remedy="nothing can be changed, written or set here")
    return str(statements[0].query).rstrip("; \n")


def words_of(error: duckdb.Error) -> str:
    """Return what DuckDB says is wrong, before it shows the line."""
    return " ".join(str(error).partition("\n\n")[0].partition("Error: ")[-1].split()).replace(";", ",")


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return what JSON can hold: times and what it has no word for as text."""
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)
