"""Closed runs are folded into Parquet, line by line, and become JSON Lines again where something is to be written or erased."""

import fcntl
import os
from collections.abc import Collection
from pathlib import Path

from storage.artifacts import PARTIAL, sync_folder, write_durably
from storage.locations import CorpusLocation
from storage.runs.at_work import sign_of
from storage.runs.log import writing_alone
from storage.runs.views import PARQUET, Runs, opened_runs, parquet_files, quoted, view_parquet
from storage.system import full_disk_explained

SAME_LINES = """
SELECT run_id FROM (SELECT run_id, count(*) AS n FROM lines GROUP BY run_id)
JOIN (SELECT run_id, count(*) AS n FROM parquet GROUP BY run_id) USING (run_id, n)
"""


def fold_closed_runs(location: CorpusLocation, *, before: float) -> int:
    """Fold the runs that ended, and were last written before that moment (seconds since 1970); return how many files went.

    Those with a line that cannot be read stay. A kill loses nothing: a file goes when its lines stand in Parquet, durably.
    """
    folder = location.runs
    with opened_runs(folder, lock=fcntl.LOCK_EX) as runs:
        _drop_partial(folder)
        ended = [name for (name,) in runs.rows("SELECT run_id FROM runs WHERE outcome IS NOT NULL AND unreadable_lines = 0")]
        paths = [folder / f"{name}.jsonl" for name in ended if name in runs.written]
        closed = {path.stem: path for path in paths if path.stat().st_mtime <= before and not sign_of(path).exists()}
        if new := closed.keys() - {name for (name,) in runs.rows("SELECT DISTINCT run_id FROM parquet")}:
            number = max((int(path.stem) for path in folder.glob(f"*{PARQUET}")), default=0) + 1
            _write(runs, folder / f"{number:08}{PARQUET}", "lines", new)
            view_parquet(runs.connection, folder)
        done = [closed[name] for (name,) in runs.rows(SAME_LINES) if name in closed]
        for path in done:
            with writing_alone(path):
                path.unlink()
    return len(done)


def unfold(folder: Path, condition: str, **parameters: object) -> None:
    """Make JSON Lines again of the runs that have a line in Parquet which meets a condition in SQL; Parquet loses them."""
    if not any(folder.glob(f"*{PARQUET}")):
        return
    with opened_runs(folder, lock=fcntl.LOCK_EX) as runs:
        _drop_partial(folder)
        for (name,) in list(runs.rows(f"SELECT DISTINCT run_id FROM folded WHERE {condition}", **parameters)):
            lines = runs.rows("SELECT line FROM entries WHERE run_id = $name ORDER BY sequence", name=name)
            data = b"".join(line.encode() + b"\n" for (line,) in lines)
            with full_disk_explained(folder, len(data)):
                write_durably(folder / f"{name}.jsonl", data)
        written = {path.stem for path in folder.glob("*.jsonl")}
        for path in parquet_files(folder):
            source = f"read_parquet({quoted([path])})"
            inside = {name for (name,) in runs.rows(f"SELECT DISTINCT run_id FROM {source}")}
            if inside <= written:
                path.unlink()
            elif inside & written:
                _write(runs, path, source, inside - written)


def _write(runs: Runs, path: Path, source: str, names: Collection[str]) -> None:
    """Write the lines of these runs to a Parquet file in one step that survives a power cut."""
    partial = path.with_name(f"{PARTIAL}{path.stem}")
    runs.connection.execute("CREATE OR REPLACE TABLE chosen AS SELECT unnest(?::VARCHAR[]) AS run_id", [sorted(names)])
    # An answer may have hundreds of kilobytes, and the lines of a group are held in memory.
    options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048"
    query = f"SELECT run_id, line FROM {source} WHERE run_id IN (FROM chosen) ORDER BY run_id"
    with full_disk_explained(path.parent, 0):
        runs.connection.execute(f"COPY ({query}) TO {quoted([partial])[1:-1]} ({options})")
        with partial.open("rb+") as stream:
            os.fsync(stream.fileno())
    partial.replace(path)
    sync_folder(path.parent)


def _drop_partial(folder: Path) -> None:
    for leftover in folder.glob(f"{PARTIAL}*"):
        leftover.unlink()
