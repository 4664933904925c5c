"""Our own layout: `questions.jsonl`, a question a line, beside `documents/`."""

from __future__ import annotations

from pathlib import Path

from storage.evaluation_records import BenchmarkQuestion
from tasks.benchmarks.answers import annotated_question
from tasks.benchmarks.rows import Row

LAYOUT = "a folder with questions.jsonl and documents/"
QUESTIONS = "questions.jsonl"
KIND = "folder"


def kind_of(file: Path, columns: frozenset[str]) -> str:
    """Return the kind of benchmark that the file is of, "" where it is none of this layout."""
    known = file.name == QUESTIONS or (
        file.suffix == ".jsonl" and bool(columns & {"document", "documents"}) and "question" in columns
    )
    return KIND if known else ""


def question(row: Row, kind: str) -> BenchmarkQuestion:
    """Return a question asked of `document`, of `documents`, or of both; the evidence is that of `document`."""
    several = row.names("documents")
    if not several or "document" in row.cells:
        holder = row.text("document")
    else:
        holder = several[0]
        if len(several) > 1 and row.items("evidence_pages"):
            raise row.wrong("evidence_pages", "does not tell whose pages they are; name that document in 'document' too")
    documents = tuple(dict.fromkeys((*several, holder)))
    asked = BenchmarkQuestion(
        id=row.text("id"), text=row.text("question"), documents=documents, document_type=row.optional_text("document_type")
    )
    return annotated_question(row, asked, holder=holder)


def folders(file: Path, given: Path, kind: str) -> tuple[Path, ...]:
    """Return where the documents lie."""
    return (file.parent / "documents",)
