"""The results of evaluations in DuckDB, of every corpus in one file, so that SQL can ask what was ever measured.

No text of any document is in it. DuckDB shuts out all others while a process writes, so the file is open for moments only.
"""

# DuckDB complains at the end of a process of types that are still referenced: annotations stay strings.
from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path

import duckdb

from storage.catalog.catalog import CatalogBusyError, CatalogDamagedError, make_database, open_database, refuse_other_versions
from storage.codec import canonical_json
from storage.errors import AmbiguousError, UnknownError
from storage.lock import lock_file, try_lock
from storage.records.evaluations import FIGURES, SCORED, Evaluation
from storage.system import check_writable, explain_full_disk
from storage.text import storable

SCHEMA_VERSION = 1

WAIT_SECONDS = 10.0
"""The wait for another FlowReader that has the file open; the largest evaluation takes a second."""

SHORTEST_PREFIX = 6

BYTES_OF_A_VALUE = 64
"""A value takes fewer in the file and its write-ahead log together; an error about a full disk names it."""


def keep_evaluation(path: Path, evaluation: Evaluation) -> None:
    """Keep an evaluation, in place of one with the same id, all of it or nothing.

    Raise CodecError for settings with a number that is not finite, NotWritableError or DiskFullError where it cannot be written,
    and as `list_evaluations` does.
    """
    settings = canonical_json(dict(evaluation.settings)).decode()
    check_writable(path.parent)
    with explain_full_disk(path.parent, BYTES_OF_A_VALUE * evaluation.scored.height), _open_locked(path) as connection:
        connection.begin()
        _write(connection, evaluation, settings)
        connection.commit()
        # at its close DuckDB keeps quiet about a log that did not fit into the file
        connection.execute("CHECKPOINT")


def list_evaluations(path: Path) -> list[Evaluation]:
    """Return all evaluations with their figures, the newest first; what each question was worth is left out.

    Raise CatalogBusyError where the file is open elsewhere, CatalogDamagedError where it cannot be read, StoreVersionError.
    """
    if not path.exists():
        return []
    with _open_locked(path) as connection:
        return _read_heads(connection)


def find_evaluation(path: Path, run_prefix: str) -> Evaluation:
    """Return the whole evaluation with this id, or with an id that begins with these 6 or more characters.

    Raise UnknownError, or AmbiguousError, naming all, and as `list_evaluations` does.
    """
    if not path.exists():
        raise _unknown(run_prefix)
    with _open_locked(path) as connection:
        heads = {head.run_id: head for head in _read_heads(connection)}
        found = heads[_find_run_id(run_prefix, sorted(heads))]
        query = (
            'SELECT arm, question_id, document, map_keys("values") AS metric, map_values("values") AS value '
            "FROM scored WHERE run_id = ? ORDER BY position"
        )
        scored = connection.sql(query, params=[found.run_id]).pl().explode("metric", "value")
        return replace(found, scored=scored)


def _write(connection: duckdb.DuckDBPyConnection, evaluation: Evaluation, settings: str) -> None:
    for table in ("evaluations", "figures", "scored"):
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [evaluation.run_id])
    head = {each.name: getattr(evaluation, each.name) for each in fields(Evaluation) if each.name not in {"figures", "scored"}}
    head |= {
        "settings": settings,
        "models": canonical_json({name: storable(model) for name, model in evaluation.models.items()}).decode(),
        "notes": [storable(note) for note in evaluation.notes],
    }
    connection.execute(
        f"INSERT INTO evaluations ({', '.join(head)}) VALUES ({', '.join('?' * len(head))})", list(map(_fit, head.values()))
    )
    connection.register("new_figures", evaluation.figures.with_row_index("position"))
    connection.execute("INSERT INTO figures SELECT ?, * FROM new_figures", [evaluation.run_id])
    names = ["arm", "question_id", "document"]
    questions = evaluation.scored.group_by(names, maintain_order=True).agg("metric", "value").with_row_index("position")
    connection.register("new_scored", questions)
    connection.execute(
        "INSERT INTO scored SELECT ?, position, arm, question_id, document, map(metric, value) FROM new_scored", [evaluation.run_id]
    )


def _fit(value: object) -> object:
    return storable(value) if isinstance(value, str) else value


def _read_heads(connection: duckdb.DuckDBPyConnection) -> list[Evaluation]:
    import polars as pl  # here: every command imports the errors of this module

    found = connection.sql("SELECT * EXCLUDE (position) FROM figures ORDER BY run_id, position").pl()
    figures = found.cast({"questions": int, "documents": int}).partition_by("run_id", as_dict=True, include_key=False)
    none, unread = pl.DataFrame(schema=FIGURES), pl.DataFrame(schema=SCORED)
    rows = connection.execute("SELECT * FROM evaluations ORDER BY started DESC, run_id").fetchall()
    read = (
        [*head, json.loads(settings), figures.get((head[0],), none), unread, json.loads(models), tuple(notes)]
        for *head, settings, models, notes in rows
    )
    return [Evaluation(*values) for values in read]


def _find_run_id(asked: str, run_ids: Sequence[str]) -> str:
    if asked in run_ids:
        return asked
    found = [run_id for run_id in run_ids if run_id.startswith(asked)] if len(asked) >= SHORTEST_PREFIX else []
    if not found:
        raise _unknown(asked)
    if len(found) > 1:
        several = ", ".join(map(repr, sorted(found)))
        raise AmbiguousError(f"{asked!r} names {len(found)} evaluations: {several}", asked, "take more characters of the id")
    return found[0]


def _unknown(asked: str) -> UnknownError:
    remedy = f"name it by {SHORTEST_PREFIX} or more characters of its id; `flowreader evaluate list` shows those kept"
    return UnknownError(f"no evaluation {asked!r}", asked, remedy)


@contextmanager
def _open_locked(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the file, made where it is missing, with every other FlowReader and thread kept out; nothing is changed by an error."""
    with lock_file(path.with_name(f"{path.name}.lock")) as descriptor:
        if not try_lock(descriptor, wait_seconds=WAIT_SECONDS):
            raise CatalogBusyError(
                f"{str(path)!r} has been in use by another FlowReader for {WAIT_SECONDS:g} s",
                str(path),
                "run the command again when it is done",
            )
        if not path.exists():
            with make_database(path, Path(__file__).with_name("evaluations.sql")) as connection:
                connection.execute("INSERT INTO store VALUES (?)", [SCHEMA_VERSION])
        with open_database(path, read_only=False) as connection:
            try:
                for (version,) in connection.execute("SELECT schema_version FROM store").fetchall():
                    refuse_other_versions(version, path, SCHEMA_VERSION)
                yield connection
            except duckdb.OutOfMemoryException:
                raise
            except duckdb.Error as error:
                raise CatalogDamagedError(
                    f"{str(path)!r} cannot be read or written: {error}", str(path), "move it away and evaluate again"
                ) from error
