"""UDA's PaperTab, PaperText and FetaTab: CSV with bars, one or several answer columns, documents without a page of evidence."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

from storage.evaluation_records import BenchmarkQuestion
from tasks.benchmarks.answers import alternatives, refused
from tasks.benchmarks.rows import Row

LAYOUT = "UDA (paper_tab_qa.csv, paper_text_qa.csv or feta_qa.csv, and src_doc_files/)"
KINDS = {"paper_tab": "uda-paper-tab", "paper_text": "uda-paper-text", "feta": "uda-feta-tab"}
DOCUMENT_FOLDERS = {
    "uda-paper-tab": ("paper_docs",),
    "uda-paper-text": ("paper_docs",),
    "uda-feta-tab": ("wiki_feta_docs", "wiki_docs"),
}
SOURCES = ("", "src_doc_files", "src_doc_files_example")
ANSWER = re.compile(r"answer(_\d+)?")


def kind_of(file: Path, columns: frozenset[str]) -> str:
    """Return the subset that the file is, by its name, "" where it is none of these; PaperTab's columns are PaperText's."""
    if file.suffix != ".csv" or not columns & {"doc_name", "q_uid"}:
        return ""
    return next((kind for part, kind in KINDS.items() if part in file.stem.lower()), "")


def question(row: Row, kind: str) -> BenchmarkQuestion:
    """Return the question of a row; each of its answer columns that is filled is an alternative."""
    columns = [column for column in row.cells if ANSWER.fullmatch(column)]
    if not columns:
        row.need("answer")
    answers = alternatives(row.optional_text(column) for column in columns)
    return BenchmarkQuestion(
        id=row.text("q_uid"),
        text=row.text("question"),
        documents=(row.text("doc_name"),),
        answerable=not refused(answers),
        answers=() if refused(answers) else answers,
    )


def folders(file: Path, given: Path, kind: str) -> tuple[Path, ...]:
    """Return where the documents lie: the release has them beside the folder of the questions, wiki pages of other subsets too."""
    bases = (file.parent, file.parent.parent)
    own = [base / source / name for base, source, name in product(bases, SOURCES, DOCUMENT_FOLDERS[kind])]
    return (*(folder for folder in own if folder.is_dir()), given)
