"""A line for each question and arm: what programs that measure for themselves want to read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from storage.artifacts import write_durably
from storage.evaluation_records import Asked, BenchmarkQuestion, PageOf
from storage.records import identify
from tasks.evaluation_scoring import Judged
from tasks.exam import Exam, ExamError, Findings


def check_out(path: str | None) -> None:
    """Refuse, before the work, a file that cannot be written; raise ExamError."""
    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise ExamError(f"folder {str(folder)!r} does not exist; make it, or name a file in a folder that exists")
    if Path(path).is_dir():
        raise ExamError(f"{path!r} is a folder; name a file for the lines")


def write_lines(path: str, exam: Exam, found: Findings) -> None:
    told = (
        _answer_line(question, arm, asked[question.id], found.judged[arm][question.id])
        if exam.request.what == "answers"
        else _page_line(question, arm, asked[question.id], exam)
        for arm, asked in found.asked.items()
        for question in exam.questions
    )
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told)
    write_durably(Path(path).absolute(), lines.encode("utf-8", "backslashreplace"))


def _page_line(question: BenchmarkQuestion, arm: str, asked: Asked, exam: Exam) -> dict[str, Any]:
    alone = exam.request.scope == "document" and len(question.documents) == 1
    return {
        "id": question.id,
        "reader": arm,
        "question": question.text,
        "ranked_pages": list(_pages(asked.ranked, alone)),
        "evidence_pages_returned": list(_pages(asked.evidence, alone)),
        "gold_pages": list(_pages(question.evidence, alone)),
        "seconds": asked.seconds,
        "key": identify(exam.benchmark.hash, asked.key),
    }


def _answer_line(question: BenchmarkQuestion, arm: str, asked: Asked, judged: Judged) -> dict[str, Any]:
    return {
        "id": question.id,
        "reader": arm,
        "question": question.text,
        "answer": asked.answer,
        "status": asked.status,
        "gold": list(question.answers),
        "answerable": question.answerable,
        "correct": judged.correct,
        "judged_by": judged.by,
        "kind": judged.kind.value,
        "reason": judged.reason,
        "cited_pages": [list(page) for page in asked.cited],
        "calls": asked.calls,
        "input_tokens": asked.input_tokens,
        "output_tokens": asked.output_tokens,
        "cost": asked.cost,
        "seconds": asked.seconds,
    }


def _pages(pages: Sequence[PageOf], alone: bool) -> Iterator[int | list[str | int]]:
    """Yield the pages, of one document as numbers, of several with their names."""
    for document, page in pages:
        yield page if alone else [document, page]
