"""What came of each question, in a file of the user's: JSON Lines, CSV or Parquet."""

import io
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from storage.artifacts import write_durably
from storage.errors import RequestError
from storage.records.documents import identify
from storage.records.evaluations import Asked, BenchmarkQuestion
from storage.text import storable
from tasks.algorithms.metrics.answers import MatchKind
from tasks.evaluation.plan import EvaluationPlan, Results
from tasks.evaluation.scoring import Judged, is_right_with_proof

RANKINGS = ("ranked_pages", "evidence_pages_returned", "gold_pages")
PAGES = pl.List(pl.Struct({"document": pl.String, "page": pl.Int64}))
LISTS = {"gold": pl.List(pl.String), **dict.fromkeys((*RANKINGS, "cited_pages"), PAGES)}
"""The columns that hold lists, with their types: in every row of a table a page is a document and a number."""

Line = dict[str, Any]


def check_out(path: str | None) -> None:
    """Refuse, before the work, a file that cannot be written; raise RequestError."""
    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise RequestError(f"folder {str(folder)!r} does not exist", str(folder), "make it, or name a file in a folder that exists")
    if Path(path).is_dir():
        raise RequestError(f"{path!r} is a folder", path, "name a file")


def write_lines(path: str, plan: EvaluationPlan, results: Results) -> None:
    """Write a line for each question and arm: CSV or Parquet where the name ends so, JSON Lines otherwise."""
    place = Path(path).absolute()
    every = [(arm, question) for arm in results.asked for question in plan.questions]
    lines = [_line(question, arm, plan, results) for arm, question in every]
    if plan.request.of_answers:  # what any reader counts is a column of all
        counts = [results.asked[arm][question.id].counts for arm, question in every]
        names = dict.fromkeys(name for own in counts for name in own)
        lines = [line | {name: own.get(name) for name in names} for line, own in zip(lines, counts, strict=True)]
    written = io.BytesIO()
    match place.suffix.lower():
        case ".parquet":
            _table(lines).write_parquet(written)
        case ".csv":
            _table(lines, lists_as_json=True).write_csv(written)
        case _:
            of_one = plan.request.scope == "document"
            written.write(_json_lines(lines, {one.id for one in plan.questions if of_one and len(one.documents) == 1}))
    write_durably(place, written.getvalue())


def _line(question: BenchmarkQuestion, arm: str, plan: EvaluationPlan, results: Results) -> Line:
    asked = results.asked[arm][question.id]
    head: Line = {"id": question.id, "reader": arm, "question": question.text}
    if plan.request.of_answers:
        own = next(one for one in plan.arms if one.name == arm)
        head |= {"reader": own.name_once, "repeat": own.ask.models.repeat + 1}
        return head | _answer_columns(question, asked, results.judged[arm][question.id])
    return head | {
        "ranked_pages": asked.ranked,
        "evidence_pages_returned": asked.evidence,
        "gold_pages": question.evidence,
        "seconds": asked.seconds,
        "key": identify(plan.benchmark.hash, asked.key),
    }


def _answer_columns(question: BenchmarkQuestion, asked: Asked, judged: Judged) -> Line:
    unread = judged.kind is MatchKind.UNREAD and not asked.unanswered
    return {
        "answer": asked.answer,
        "status": asked.status,
        "gold": question.answers,
        "answerable": question.answerable,
        "correct": None if unread else judged.correct,
        "right_with_proof": None if unread else is_right_with_proof(asked, judged),
        "judged_by": judged.by,
        "kind": judged.kind.value,
        "reason": judged.reason,
        "cited_pages": asked.cited,
        "calls": asked.calls,
        "input_tokens": asked.input_tokens,
        "output_tokens": asked.output_tokens,
        "cost": asked.cost,
        "seconds": asked.seconds,
    }


def _json_lines(lines: Sequence[Line], of_one_document: Collection[str]) -> bytes:
    """Return the lines as JSON; a ranking is of numbers where the question, by its id, is asked of one document."""
    shown = [
        line | {name: [page for _, page in line[name]] for name in RANKINGS if name in line and line["id"] in of_one_document}
        for line in lines
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in shown).encode("utf-8", "backslashreplace")


def _table(lines: Sequence[Line], *, lists_as_json: bool = False) -> pl.DataFrame:
    """Return the lines as a table; a cell of CSV holds a text or a number, so that a list in it is written as JSON."""
    rows = [{name: _cell(value, LISTS.get(name)) for name, value in line.items()} for line in lines]
    lists = {name: kind for name, kind in LISTS.items() if name in rows[0]}
    if lists_as_json:
        rows = [row | {name: json.dumps(row[name], ensure_ascii=False) for name in lists} for row in rows]
        lists = {}
    return pl.DataFrame(rows, schema_overrides=lists, infer_schema_length=None)


def _cell(value: Any, kind: pl.List | None) -> object:  # noqa: ANN401 - what a line holds
    if kind is PAGES:
        return [{"document": document, "page": page} for document, page in value]
    if kind is not None:
        return list(map(storable, value))
    return storable(value) if isinstance(value, str) else value
