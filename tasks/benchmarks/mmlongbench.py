"""MMLongBench-Doc: `samples.json`, an array without ids, and a folder of PDFs; pages count from 1."""

from __future__ import annotations

from pathlib import Path

from storage.evaluation_records import BenchmarkQuestion
from tasks.benchmarks.answers import annotated_question
from tasks.benchmarks.rows import Row

LAYOUT = "MMLongBench-Doc (samples.json and its PDFs)"
COLUMNS = frozenset({"doc_id", "question", "answer", "answer_format", "evidence_pages"})


def kind_of(file: Path, columns: frozenset[str]) -> str:
    """Return the kind of benchmark that the file is of, "" where it is another; one forgotten column does not hide it."""
    return "mmlongbench-doc" if file.suffix != ".csv" and len(COLUMNS - columns) <= 1 else ""


def question(row: Row, kind: str) -> BenchmarkQuestion:
    """Return the question of a record, which is named by its number."""
    row.need(*sorted(COLUMNS))
    document = row.text("doc_id")
    asked = BenchmarkQuestion(
        id=f"{kind}-{row.number:04}",
        text=row.text("question"),
        documents=(document,),
        document_type=row.optional_text("doc_type"),
    )
    return annotated_question(row, asked, holder=document)


def folders(file: Path, given: Path, kind: str) -> tuple[Path, ...]:
    """Return where the documents lie."""
    return (given,)
