"""A query in SQL on the records of a corpus's runs, answered by a process of its own with limits on time, memory and files."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.corpus.snapshot import unknown_corpus
from storage.errors import ExpectedError
from storage.locations import CorpusLocation

ROOT = Path(__file__).resolve().parents[2]
SECONDS, MEMORY = 60, 2 << 30
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
"""No secret of the environment is where the query runs."""

NO_MEMORY = "the query needs too much memory", "let it read fewer rows, or join with fewer"
PROBLEMS = {
    "NoQueryError": ("the query is to be one SELECT", "nothing can be changed, written or set here"),
    "TooMuchError": ("the result is too large", "let the query count or add up, or end it with LIMIT"),
    "PermissionException": ("the query reads more than the tables", "it sees no file, no address, no extension and no setting"),
    "OutOfMemoryException": NO_MEMORY,
    "MemoryError": NO_MEMORY,
}
"""What is wrong and the remedy, by the kind of error."""

OTHER = "the query cannot be run"
TABLES = (
    "the tables are runs, steps, model_calls and answers, and `flowreader lineage --sql 'DESCRIBE steps'` lists the columns of one"
)


class LineageQueryError(ExpectedError):
    """A query that cannot be answered: it is wrong, wants more than the tables, or needs more than it may."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows that a query found; `unreadable` are runs whose files the system does not give, with the reason."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    unreadable: Mapping[str, str]


def ask_runs(location: CorpusLocation, query: str, *, seconds: int = SECONDS, memory: int = MEMORY) -> QueryResult:
    """Return what the query finds; raise LineageQueryError where it cannot be answered, UnknownCorpusError for no corpus."""
    if not location.folder.is_dir():
        raise unknown_corpus(location)
    asked = {"runs": str(location.runs.absolute()), "query": query.encode(errors="replace").decode()}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tasks.lineage.operator_tables"],
            input=json.dumps(asked | {"seconds": seconds, "memory": memory}),
            capture_output=True,
            text=True,
            timeout=seconds,
            # `-m` looks for modules in its own folder first: that must never be one of documents
            cwd="/",
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ} | {"PYTHONPATH": str(ROOT)},
        )
    except subprocess.TimeoutExpired as error:
        raise LineageQueryError(
            f"the query took more than {seconds} s; let it read fewer rows, and join tables by a column"
        ) from error
    try:
        reply = json.loads(done.stdout)
    except ValueError as error:
        # Not every failed allocation leaves a process that could say so.
        raise LineageQueryError(f"{NO_MEMORY[0]} (its process ended with code {done.returncode}); {NO_MEMORY[1]}") from error
    if "error" in reply:
        raise LineageQueryError(explained(reply["kind"], reply["error"]))
    return QueryResult(tuple(reply["columns"]), tuple(map(tuple, reply["rows"])), reply["unreadable"])


def explained(kind: str, error: str) -> str:
    """Return what is wrong and the remedy; of DuckDB's words those before it shows the line."""
    what, remedy = PROBLEMS.get(kind, (OTHER, TABLES))
    words = " ".join(error.partition("\n\n")[0].partition("Error: ")[-1].split()) or error
    return f"{what} ({words.replace(';', ',')}); {remedy}"
