"""VisDoMBench: a CSV for each of five subsets beside `docs/`; each question is asked of several documents."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from storage.evaluation_records import BenchmarkQuestion
from tasks.benchmarks.answers import alternatives, refused
from tasks.benchmarks.rows import Row, python_list, shortened

LAYOUT = "VisDoMBench (the folder of a subset: spiqa, feta_tab, paper_tab, scigraphvqa or slidevqa, with its CSV and docs/)"
KINDS = {
    "spiqa": "visdombench-spiqa",
    "feta_tab": "visdombench-feta-tab",
    "paper_tab": "visdombench-paper-tab",
    "scigraph": "visdombench-scigraphqa",
    "slidevqa": "visdombench-slidevqa",
}
OURS = frozenset({"q_id", "doc_path", "documents"})


def kind_of(file: Path, columns: frozenset[str]) -> str:
    """Return the subset that the file is, by its name, "" where it is none of these; one forgotten column does not hide it."""
    if file.suffix != ".csv" or len(OURS - columns) > 1:
        return ""
    return next((kind for part, kind in KINDS.items() if part in file.stem.lower()), "")


def question(row: Row, kind: str) -> BenchmarkQuestion:
    """Return the question of a row. Only slidevqa tells pages, from 0; they are those of `doc_path`."""
    row.need("answer", "documents")
    holder = PurePosixPath(row.text("doc_path")).name
    answers = alternatives(_answers(row, kind))
    if kind.endswith("slidevqa"):
        row.need("evidence_pages")
    return BenchmarkQuestion(
        id=row.text("q_id"),
        text=row.text("question"),
        documents=tuple(dict.fromkeys((*row.names("documents"), holder))),
        answerable=not refused(answers),
        answers=() if refused(answers) else answers,
        evidence=tuple((holder, page) for page in row.pages("evidence_pages", first=0)),
    )


def folders(file: Path, given: Path, kind: str) -> tuple[Path, ...]:
    """Return where the documents lie."""
    return (file.parent / "docs", file.parent)


def _answers(row: Row, kind: str) -> list[str]:
    """Return the alternatives: paper_tab's are a list of {'answer': ..., 'type': ...}, the others have one, as it stands."""
    said = row.optional_text("answer")
    if not kind.endswith("paper-tab") or not said.startswith("["):
        return [said]
    entries = python_list(said)
    if entries is None or not all(isinstance(entry, dict) and "answer" in entry for entry in entries):
        raise row.wrong("answer", f"holds {shortened(said)}, not a list of {{'answer': ...}}")
    return [str(entry["answer"]) for entry in entries if isinstance(entry, dict)]
