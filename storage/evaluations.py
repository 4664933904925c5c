"""The results of evaluations in DuckDB, of every corpus in one file, so that SQL can ask what was ever measured.

No text of any document is in it.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from storage.codec import canonical_json
from storage.disk import check_writable, full_disk_explained
from storage.evaluation_file import held_open
from storage.evaluation_records import Evaluation
from storage.evaluation_rows import read_heads, read_scored, require_numbers, write_evaluation

SHORTEST_PREFIX = 6
NEAREST_SHOWN = 3

BYTES_OF_A_VALUE = 64
"""A value takes fewer in the file and its write-ahead log together; said where the disk is full."""


class UnknownEvaluationError(LookupError):
    """No evaluation has an id that begins so."""


class AmbiguousEvaluationError(LookupError):
    """Several evaluations have an id that begins so."""


def keep_evaluation(path: Path, evaluation: Evaluation) -> None:
    """Keep an evaluation, in place of one with the same id, all of it or nothing.

    Raise ValueError for a number that is not finite, CodecError for settings with one, NotWritableError or DiskFullError where it
    cannot be written, and as `list_evaluations` does.
    """
    require_numbers(evaluation)
    settings = canonical_json(dict(evaluation.settings)).decode()
    check_writable(path.parent)
    values = sum(len(scored.values) for scored in evaluation.scored)
    with full_disk_explained(path.parent, BYTES_OF_A_VALUE * values), held_open(path) as connection:
        connection.begin()
        write_evaluation(connection, evaluation, settings)
        connection.commit()
        # at its close DuckDB keeps quiet about a log that did not fit into the file
        connection.execute("CHECKPOINT")


def list_evaluations(path: Path) -> list[Evaluation]:
    """Return all evaluations with their figures, the newest first; what each question was worth is left out.

    Raise CatalogBusyError where the file stays open elsewhere, CatalogDamagedError where it cannot be read, StoreTooNewError.
    """
    if not path.exists():
        return []
    with held_open(path) as connection:
        return read_heads(connection)


def find_evaluation(path: Path, run_prefix: str) -> Evaluation:
    """Return the evaluation, whole, whose id is this or begins with these 6 or more characters.

    Raise UnknownEvaluationError, naming the nearest, or AmbiguousEvaluationError, naming all, and as `list_evaluations` does.
    """
    if not path.exists():
        raise _unknown(run_prefix, ())
    with held_open(path) as connection:
        heads = {head.run_id: head for head in read_heads(connection)}
        found = heads[_named(run_prefix, sorted(heads))]
        return replace(found, scored=read_scored(connection, found.run_id))


def _named(asked: str, run_ids: Sequence[str]) -> str:
    """Return the id that is meant."""
    if asked in run_ids:
        return asked
    found = [run_id for run_id in run_ids if run_id.startswith(asked)] if len(asked) >= SHORTEST_PREFIX else []
    if not found:
        raise _unknown(asked, run_ids)
    if len(found) > 1:
        several = ", ".join(map(repr, sorted(found)))
        raise AmbiguousEvaluationError(f"{asked!r} names {len(found)} evaluations: {several}; take more characters of the id")
    return found[0]


def _unknown(asked: str, run_ids: Sequence[str]) -> UnknownEvaluationError:
    beginnings = {run_id[: max(len(asked), SHORTEST_PREFIX)]: run_id for run_id in run_ids}
    near = difflib.get_close_matches(asked, beginnings, n=NEAREST_SHOWN, cutoff=0.0)
    shown = f"the nearest: {', '.join(repr(beginnings[each]) for each in near)}" if near else "none is kept yet"
    return UnknownEvaluationError(f"no evaluation {asked!r}; name it by {SHORTEST_PREFIX} or more characters of its id ({shown})")
