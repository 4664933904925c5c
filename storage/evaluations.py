"""The results of evaluations, of every corpus, in a folder for each run: head and figures as JSON, scores as Parquet.

No text of any document is in them. Both are written whole or not at all, the JSON last: what has one is whole.
"""

import io
import json
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from storage.artifacts import write_durably
from storage.codec import CodecError
from storage.errors import AmbiguousError, UnknownError
from storage.records.evaluations import FIGURES, SCORED, Evaluation
from storage.system import full_disk_explained

RESULTS, SCORES = "evaluation.json", "scored.parquet"
SHORTEST_PREFIX = 6

BYTES_OF_A_VALUE = 64
"""A value takes fewer; an error about a full disk names it."""


def keep_evaluation(folder: Path, evaluation: Evaluation) -> None:
    """Keep an evaluation, in place of one with the same id; raise DiskFullError where it does not fit."""
    own, scores = folder / evaluation.run_id, io.BytesIO()
    evaluation.scored.write_parquet(scores)
    results = json.dumps(results_of(evaluation), allow_nan=False)
    with full_disk_explained(folder, BYTES_OF_A_VALUE * evaluation.scored.height):
        write_durably(own / SCORES, scores.getvalue())
        write_durably(own / RESULTS, results.encode())


def results_of(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as plain values, without what each question was worth."""
    head = {each.name: getattr(evaluation, each.name) for each in fields(Evaluation) if each.name != "scored"}
    return head | {"figures": evaluation.figures.to_dicts()}


def list_evaluations(folder: Path) -> list[Evaluation]:
    """Return all evaluations with their figures, the newest first; what each question was worth is left out."""
    found = [_read(path) for path in sorted(folder.glob(f"*/{RESULTS}"))]
    return sorted(found, key=lambda one: one.started, reverse=True)


def find_evaluation(folder: Path, run_prefix: str) -> Evaluation:
    """Return the evaluation, whole, whose id is this or begins with these 6 or more characters.

    Raise UnknownError, AmbiguousError, naming all, or CodecError where it cannot be read.
    """
    own = folder / _named(run_prefix, sorted(path.parent.name for path in folder.glob(f"*/{RESULTS}")))
    return replace(_read(own / RESULTS), scored=pl.read_parquet(own / SCORES))


def _read(path: Path) -> Evaluation:
    try:
        kept = json.loads(path.read_bytes())
        figures = pl.DataFrame(kept.pop("figures"), schema=FIGURES)
        return Evaluation(**kept | {"notes": tuple(kept["notes"])}, figures=figures, scored=pl.DataFrame(schema=SCORED))
    except (ValueError, KeyError, TypeError) as error:
        raise CodecError(f"{str(path)!r} holds no evaluation that this FlowReader knows: {error}; move its folder away") from error


def _named(asked: str, run_ids: Sequence[str]) -> str:
    if asked in run_ids:
        return asked
    found = [run_id for run_id in run_ids if run_id.startswith(asked)] if len(asked) >= SHORTEST_PREFIX else []
    if not found:
        remedy = f"name it by {SHORTEST_PREFIX} or more characters of its id; `flowreader evaluate list` shows those kept"
        raise UnknownError(f"no evaluation {asked!r}; {remedy}")
    if len(found) > 1:
        several = ", ".join(map(repr, found))
        raise AmbiguousError(f"{asked!r} names {len(found)} evaluations: {several}; take more characters of the id")
    return found[0]
