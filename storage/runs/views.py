"""The files of the runs as DuckDB views: `runs`, `steps`, `model_calls`, `answers`, `used_pages`, and `entries` below them.

A run is a file of JSON Lines: damage to one costs lines of it, and of no other run.
"""

# DuckDB complains at the end of a process of types that are still named: annotations stay words.
from __future__ import annotations

import errno
import glob
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from storage.catalog.catalog import LOCKED_DOWN
from storage.errors import ExpectedError
from storage.records.steps import StepRecord
from storage.runs.at_work import SUFFIX, is_at_work
from storage.runs.log import EntryKind, read_entry

MEMORY, THREADS = "1GB", 4
READ_AT_ONCE = 100
"""Rows that are fetched together: an answer may take hundreds of kilobytes."""

NO_LINES = "SELECT NULL::VARCHAR AS run_id, NULL::VARCHAR AS line WHERE false"
WRITTEN = """SELECT parse_filename(filename, true) AS run_id, json::VARCHAR AS line
FROM read_ndjson_objects({files}, ignore_errors = true, filename = true)"""


@dataclass(frozen=True, slots=True)
class RunEntries:
    """Entries of a run, in order. `torn` counts lines that cannot be read, for a kill or a full disk cut them.

    `unreadable` says why the system does not give the file; `at_work` that a living process writes it.
    """

    run_id: str
    entries: tuple[dict[str, Any], ...] = ()
    torn: int = 0
    unreadable: str = ""
    at_work: bool = False

    def of(self, kind: EntryKind) -> list[dict[str, Any]]:
        return [entry for entry in self.entries if entry["kind"] == kind]

    def steps(self) -> list[StepRecord]:
        names = [part.name for part in fields(StepRecord)]
        return [StepRecord(**{name: entry[name] for name in names}) for entry in self.of(EntryKind.STEP)]


@dataclass(frozen=True, slots=True)
class Runs:
    """The views of a folder's runs. `ids` are those of all, the newest first; `unreadable` ones have a reason."""

    folder: Path
    connection: duckdb.DuckDBPyConnection
    ids: tuple[str, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    at_work: Collection[str] = ()

    def rows(self, query: str, **parameters: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; its parameters are `$name`. Raise ExpectedError where not even lines can be read."""
        with self.connection.cursor() as own:
            try:
                own.execute(query, parameters)
                while rows := own.fetchmany(READ_AT_ONCE):
                    yield from rows
            except duckdb.Error as error:
                raise ExpectedError(
                    f"the files of the runs in {str(self.folder)!r} cannot be read: {error}",
                    str(self.folder),
                    "move away the file that is damaged",
                ) from error

    def require_readable(self) -> None:
        """Raise ExpectedError where the system does not give a file: for what must know of all that was kept."""
        for run_id, reason in self.unreadable.items():
            path = f"{self.folder / run_id!s}.jsonl"
            raise ExpectedError(f"{path} cannot be read: {reason}", path, "mend that, or move it away")

    def read(self, runs: str, lines: str = "true", **parameters: object) -> list[RunEntries]:
        """Return entries that meet a condition, of runs that meet one: both are SQL, over `entries`.

        Lines that cannot be read are counted whatever the second one says.
        """
        query = f"""SELECT run_id, kind, line, sequence FROM entries WHERE ({runs}) AND (kind IS NULL OR ({lines}))
            UNION ALL SELECT run_id, NULL, NULL, NULL FROM unreadable WHERE {runs} ORDER BY run_id, sequence"""
        found = []
        for run_id, rows in groupby(self.rows(query, **parameters), key=itemgetter(0)):
            # Python has the last word on what JSON is: DuckDB also takes what nearly is.
            read = [read_entry(line) if kind is not None else None for _, kind, line, _ in rows]
            entries = tuple(entry for entry in read if entry is not None)
            reason = self.unreadable.get(run_id, "")
            found.append(RunEntries(run_id, entries, 0 if reason else len(read) - len(entries), reason, run_id in self.at_work))
        return found

    def read_one(self, run_id: str, lines: str = "true", **parameters: object) -> RunEntries:
        return next(iter(self.read("run_id = $run_id", lines, run_id=run_id, **parameters)), RunEntries(run_id))


@contextmanager
def open_runs_folder(folder: Path, run_id: str = "") -> Iterator[Runs]:
    """Open the runs of a folder for reading, all or one. Where there is no folder there are no runs."""
    paths = sorted(folder.glob(f"{glob.escape(run_id) or '*'}.jsonl"), key=modified_ns, reverse=True)
    unreadable = {path.stem: reason for path in paths if (reason := why_unreadable(path))}
    # Looked at before its lines are read, a run that ends just now is never taken for a killed one.
    at_work = {sign.stem for sign in folder.glob(f"*{SUFFIX}") if is_at_work(sign)}
    with closing(duckdb.connect()) as connection:
        lock_down(connection, folder)
        readable = [str(path) for path in paths if path.stem not in unreadable]
        connection.execute("CREATE TABLE unreadable AS SELECT unnest(?::VARCHAR[]) AS run_id", [list(unreadable)])
        connection.execute(f"CREATE VIEW lines AS {WRITTEN.format(files=sql_list(readable)) if readable else NO_LINES}")
        connection.execute(Path(__file__).with_name("views.sql").read_text("utf-8"))
        yield Runs(folder, connection, tuple(path.stem for path in paths), unreadable, at_work)


def sql_list(paths: Sequence[str]) -> str:
    """Return the paths as a list in SQL."""
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"


def lock_down(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Let the connection read in this folder, and nowhere else."""
    connection.execute(f"SET allowed_directories = {sql_list([str(folder)])}")
    connection.execute(f"SET memory_limit = '{MEMORY}'")
    # Each thread takes 32 MB for the lines that it reads: the cores of a large machine would take more than all of it.
    connection.execute(f"SET threads = {min(THREADS, os.cpu_count() or 1)}")
    for name, value in LOCKED_DOWN.items():
        connection.execute(f"SET {name} = {value}")


def modified_ns(path: Path) -> int:
    return path.stat().st_mtime_ns


def why_unreadable(path: Path) -> str:
    """Return why the system does not give the file, "" where it does."""
    if path.is_dir():
        return os.strerror(errno.EISDIR)
    return "" if os.access(path, os.R_OK) else os.strerror(errno.EACCES)


def read_run(path: Path, lines: str = "true") -> RunEntries:
    """Return the entries of the run that writes this file, those that meet a condition in SQL over `entries`."""
    with open_runs_folder(path.parent, path.stem) as runs:
        return runs.read_one(path.stem, lines)
