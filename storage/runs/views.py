"""The files of the runs as DuckDB views: `runs`, `steps`, `model_calls`, `answers`, `used_pages`, and `entries` below them.

A run is a file of JSON Lines; maintenance folds closed ones into Parquet, line by line. Where a run is in both, as after a kill
in between, its JSON Lines count and nothing counts twice.
"""

# DuckDB complains at the end of a process of types that are still named: annotations stay words.
from __future__ import annotations

import errno
import fcntl
import json
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
from storage.records.documents import StepRecord
from storage.runs.at_work import SUFFIX, is_at_work
from storage.runs.log import EntryKind

MEMORY = "1GB"
READ_AT_ONCE = 100
"""Rows that are fetched together: an answer may take hundreds of kilobytes."""

NO_LINES = "SELECT NULL::VARCHAR AS run_id, NULL::VARCHAR AS line WHERE false"
WRITTEN = """SELECT parse_filename(filename, true) AS run_id, json::VARCHAR AS line
FROM read_ndjson_objects({files}, ignore_errors = true, filename = true)"""
PARQUET, PARQUET_END = ".parquet", b"PAR1"


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
    """The views of a folder's runs. `written` are those in JSON Lines, the newest first; `unreadable` ones have a reason."""

    connection: duckdb.DuckDBPyConnection
    written: tuple[str, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    at_work: Collection[str] = ()

    def rows(self, query: str, **parameters: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; its parameters are `$name`."""
        with self.connection.cursor() as own:
            own.execute(query, parameters)
            while rows := own.fetchmany(READ_AT_ONCE):
                yield from rows

    def ids(self) -> list[str]:
        """Return the ids of all runs: those in JSON Lines, the newest first, and then those that were folded."""
        return [*self.written, *(name for (name,) in self.rows("SELECT DISTINCT run_id FROM folded ORDER BY run_id"))]

    def read(self, runs: str, lines: str = "true", **parameters: object) -> list[RunEntries]:
        """Return entries that meet a condition, of runs that meet one: both are SQL, over `entries`.

        Lines that cannot be read are counted whatever the second one says.
        """
        query = f"""SELECT run_id, kind, line, sequence FROM entries WHERE ({runs}) AND (kind IS NULL OR ({lines}))
            UNION ALL SELECT run_id, NULL, NULL, NULL FROM unreadable WHERE {runs} ORDER BY run_id, sequence"""
        found = []
        for run_id, rows in groupby(self.rows(query, **parameters), key=itemgetter(0)):
            kept = list(rows)
            entries = tuple(json.loads(line) | {"kind": EntryKind(kind)} for _, kind, line, _ in kept if kind is not None)
            reason, torn = self.unreadable.get(run_id, ""), len(kept) - len(entries)
            found.append(RunEntries(run_id, entries, 0 if reason else torn, reason, run_id in self.at_work))
        return found

    def read_one(self, run_id: str, lines: str = "true", **parameters: object) -> RunEntries:
        return next(iter(self.read("run_id = $run_id", lines, run_id=run_id, **parameters)), RunEntries(run_id))


@contextmanager
def opened_runs(folder: Path, *, lock: int = fcntl.LOCK_SH) -> Iterator[Runs]:
    """Open the runs of a folder for reading: nothing is folded or erased meanwhile. Where there is no folder there are no runs."""
    with in_folder(folder, lock), closing(duckdb.connect()) as connection:
        paths = sorted(folder.glob("*.jsonl"), key=modified, reverse=True)
        folded = sorted(folder.glob(f"*{PARQUET}"))
        unreadable = {path.stem: reason for path in [*paths, *folded] if (reason := why_unreadable(path))}
        # Looked at before its lines are read, a run that ends just now is never taken for a killed one.
        at_work = {sign.stem for sign in folder.glob(f"*{SUFFIX}") if is_at_work(sign)}
        lock_down(connection, folder)
        readable = [path for path in paths if path.stem not in unreadable]
        connection.execute("CREATE TABLE written AS SELECT unnest(?::VARCHAR[]) AS run_id", [[path.stem for path in paths]])
        connection.execute("CREATE TABLE unreadable AS SELECT unnest(?::VARCHAR[]) AS run_id", [list(unreadable)])
        view_parquet(connection, folder)
        connection.execute("CREATE VIEW folded AS FROM parquet WHERE run_id NOT IN (FROM written)")
        lines = WRITTEN.format(files=quoted(readable)) if readable else NO_LINES
        connection.execute(f"CREATE VIEW lines AS {lines} UNION ALL FROM folded")
        connection.execute(Path(__file__).with_name("views.sql").read_text("utf-8"))
        yield Runs(connection, tuple(path.stem for path in paths), unreadable, at_work)


def parquet_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob(f"*{PARQUET}")) if not why_unreadable(path)]


def view_parquet(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Make the view `parquet` of all lines that were folded by now."""
    files = parquet_files(folder)
    source = f"SELECT run_id, line FROM read_parquet({quoted(files)})" if files else NO_LINES
    connection.execute(f"CREATE OR REPLACE VIEW parquet AS {source}")


def quoted(paths: Sequence[Path]) -> str:
    """Return the paths as a list in SQL."""
    return "[" + ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths) + "]"


def lock_down(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Let the connection read and write in this folder, and nowhere else."""
    connection.execute(f"SET allowed_directories = {quoted([folder])}")
    connection.execute(f"SET memory_limit = '{MEMORY}'")
    for name, value in LOCKED_DOWN.items():
        connection.execute(f"SET {name} = {value}")


@contextmanager
def in_folder(folder: Path, lock: int) -> Iterator[None]:
    """Hold the lock of the folder of runs while the block runs: shared by readers, alone for what replaces files."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        fcntl.flock(descriptor, lock)
        yield
    finally:
        os.close(descriptor)


def modified(path: Path) -> int:
    return path.stat().st_mtime_ns


def why_unreadable(path: Path) -> str:
    """Return why the system does not give the file, "" where it does."""
    if path.is_dir():
        return os.strerror(errno.EISDIR)
    if not os.access(path, os.R_OK):
        return os.strerror(errno.EACCES)
    if path.suffix == PARQUET and not is_whole(path):
        return "it is damaged"
    return ""


def is_whole(path: Path) -> bool:
    """Say whether a file of Parquet has its end, which is written last."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - len(PARQUET_END)))
        return stream.read() == PARQUET_END


def read_run(path: Path) -> RunEntries:
    """Return all entries of the run that writes this file."""
    with opened_runs(path.parent) as runs:
        return runs.read_one(path.stem)
