"""Answers as the authors of a benchmark wrote them down: alternatives, one list that is the answer, or that there is none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from storage.evaluation_records import BenchmarkQuestion
from tasks.benchmarks.rows import Row, python_list

REFUSALS = frozenset({"not answerable", "unanswerable"})
SAME_FORMAT = {"String": "Str", "Integer": "Int"}
"""LongDocURL's names of formats by those of MMLongBench-Doc; the others are the same."""


def annotated_question(row: Row, asked: BenchmarkQuestion, *, holder: str) -> BenchmarkQuestion:
    """Return a question with its answer and evidence, which three benchmarks write in the same columns.

    `holder` is the document whose pages the evidence is. The question is not answerable where the answer says so, or where its
    format is "None" and there is no page; pages given nevertheless are kept.
    """
    written = "List" if isinstance(row.value("answer"), list) else row.optional_text("answer_format")
    answer_format = SAME_FORMAT.get(written, written)
    evidence = tuple((holder, page) for page in row.pages("evidence_pages", first=1))
    answers = (_one_answer(row, answer_format),)
    answerable = not refused(answers) and (answer_format != "None" or bool(evidence))
    return replace(
        asked,
        answerable=answerable,
        answers=alternatives(answers) if answerable else (),
        answer_format=answer_format,
        evidence=evidence,
        evidence_sources=row.names("evidence_sources"),
    )


def alternatives(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts that say something, each once."""
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def refused(answers: Iterable[str]) -> bool:
    """Return whether every answer, of one at least, says that there is none."""
    said = [answer.strip().rstrip(".").casefold() for answer in alternatives(answers)]
    return bool(said) and REFUSALS.issuperset(said)


def _one_answer(row: Row, answer_format: str) -> str:
    """Return the answer as text, a list as a JSON array: all of it is asked for, so it stays one answer."""
    value = row.value("answer")
    if answer_format == "List" and isinstance(value, str) and (items := python_list(value)) is not None:
        value = list(items)
    if isinstance(value, list):
        return json.dumps([str(item) for item in value], ensure_ascii=False)
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return row.optional_text("answer")
