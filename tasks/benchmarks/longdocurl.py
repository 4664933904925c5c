"""LongDocURL: a JSON object a line or one array; PDFs of seven digits in folders of their first four; pages count from 1."""

from __future__ import annotations

from pathlib import Path

from storage.evaluation_records import BenchmarkQuestion
from tasks.benchmarks.answers import annotated_question
from tasks.benchmarks.rows import Row

LAYOUT = "LongDocURL (its .jsonl or .json and the PDFs)"
OURS = frozenset({"doc_no", "task_tag", "task_type", "start_end_idx"})
"""Columns that no other benchmark here has; the release has `doc_no` and `task_tag`, copies have `doc_id` and `task_type`."""


def kind_of(file: Path, columns: frozenset[str]) -> str:
    """Return the kind of benchmark that the file is of, "" where it is another."""
    return "longdocurl" if file.suffix != ".csv" and "question" in columns and columns & OURS else ""


def question(row: Row, kind: str) -> BenchmarkQuestion:
    """Return the question of a record; the document's name ends in .pdf, which the release leaves out."""
    row.need("question", "answer", "answer_format", "evidence_pages")
    document = row.text("doc_id" if "doc_id" in row.cells else "doc_no")
    document = document if document.lower().endswith(".pdf") else f"{document}.pdf"
    identity = row.text("id" if "id" in row.cells else "question_id")
    asked = BenchmarkQuestion(id=identity, text=row.text("question"), documents=(document,))
    return annotated_question(row, asked, holder=document)


def folders(file: Path, given: Path, kind: str) -> tuple[Path, ...]:
    """Return where the documents lie."""
    return (given,)
