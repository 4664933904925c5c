"""The benchmarks that are known: how each is recognised, what a row of it asks, and where its documents lie."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path, PurePosixPath

from storage.records.evaluations import BenchmarkQuestion
from tasks.evaluation.benchmarks.rows import Row, python_list, show_value


@dataclass(frozen=True, slots=True)
class BenchmarkFormat:
    """`layout` names it in errors.

    `kind_of` takes a file and its columns and returns the benchmark that it is, "" where it is another's; one forgotten column does
    not hide it, so that the error can name the column. `question` takes a row and its kind, `folders` the file, the folder that was
    given and the kind.
    """

    layout: str
    kind_of: Callable[[Path, frozenset[str]], str]
    question: Callable[[Row, str], BenchmarkQuestion]
    folders: Callable[[Path, Path, str], tuple[Path, ...]]


OWN_QUESTIONS, OWN_KIND = "questions.jsonl", "folder"
MMLONGBENCH_COLUMNS = frozenset({"doc_id", "question", "answer", "answer_format", "evidence_pages"})
LONGDOCURL_COLUMNS = frozenset({"doc_no", "task_tag", "task_type", "start_end_idx"})
"""That no other benchmark here has; the release has `doc_no` and `task_tag`, copies have `doc_id` and `task_type`."""
UDA_KINDS = {"paper_tab": "uda-paper-tab", "paper_text": "uda-paper-text", "feta": "uda-feta-tab"}
"""By a part of the file's name: PaperTab's columns are PaperText's."""
UDA_DOCUMENTS = {
    "uda-paper-tab": ("paper_docs",),
    "uda-paper-text": ("paper_docs",),
    "uda-feta-tab": ("wiki_feta_docs", "wiki_docs"),
}
UDA_SOURCES = ("", "src_doc_files", "src_doc_files_example")
UDA_ANSWER = re.compile(r"answer(_\d+)?")
VISDOM_KINDS = {
    "spiqa": "visdombench-spiqa",
    "feta_tab": "visdombench-feta-tab",
    "paper_tab": "visdombench-paper-tab",
    "scigraph": "visdombench-scigraphqa",
    "slidevqa": "visdombench-slidevqa",
}
VISDOM_COLUMNS = frozenset({"q_id", "doc_path", "documents"})

REFUSALS = frozenset({"not answerable", "unanswerable"})
SAME_FORMAT = {"String": "Str", "Integer": "Int"}


def is_own(file: Path, columns: frozenset[str]) -> str:
    """Take `questions.jsonl`, however broken, and any file of lines with our columns."""
    similar = file.suffix == ".jsonl" and bool(columns & {"document", "documents"}) and "question" in columns
    return OWN_KIND if file.name == OWN_QUESTIONS or similar else ""


def own_question(row: Row, _kind: str) -> BenchmarkQuestion:
    """Return a question asked of `document`, of `documents`, or of both; the evidence is that of `document`."""
    several = row.names("documents")
    if not several or "document" in row.cells:
        holder = row.text("document")
    else:
        holder = several[0]
        if len(several) > 1 and row.items("evidence_pages"):
            raise row.wrong("evidence_pages", "does not say which document the pages are in; name it in 'document', too")
    documents = tuple(dict.fromkeys((*several, holder)))
    asked = BenchmarkQuestion(
        id=row.text("id"), text=row.text("question"), documents=documents, document_type=row.optional_text("document_type")
    )
    return annotated_question(row, asked, holder=holder)


def longdocurl_question(row: Row, _kind: str) -> BenchmarkQuestion:
    """Return the question of a record; the document's name ends in .pdf, which the release leaves out."""
    row.require_columns("question", "answer", "answer_format", "evidence_pages")
    document = row.text("doc_id" if "doc_id" in row.cells else "doc_no")
    document = document if document.lower().endswith(".pdf") else f"{document}.pdf"
    identity = row.text("id" if "id" in row.cells else "question_id")
    task = row.optional_text("task_tag") or row.optional_text("task_type")
    asked = BenchmarkQuestion(id=identity, text=row.text("question"), documents=(document,), task=task)
    return annotated_question(row, asked, holder=document)


def mmlongbench_question(row: Row, kind: str) -> BenchmarkQuestion:
    row.require_columns(*sorted(MMLONGBENCH_COLUMNS))
    document = row.text("doc_id")
    asked = BenchmarkQuestion(
        id=f"{kind}-{row.number:04}",
        text=row.text("question"),
        documents=(document,),
        document_type=row.optional_text("doc_type"),
    )
    return annotated_question(row, asked, holder=document)


def uda_question(row: Row, _kind: str) -> BenchmarkQuestion:
    """Return the question of a row; each of its answer columns that is filled is an alternative."""
    columns = [column for column in row.cells if UDA_ANSWER.fullmatch(column)]
    if not columns:
        row.require_columns("answer")
    asked = BenchmarkQuestion(id=row.text("q_uid"), text=row.text("question"), documents=(row.text("doc_name"),))
    return with_alternatives(asked, (row.optional_text(column) for column in columns))


def uda_folders(file: Path, given: Path, kind: str) -> tuple[Path, ...]:
    """Return where the documents lie: next to the folder of the questions; wiki pages may lie with those of other subsets."""
    bases = (file.parent, file.parent.parent)
    own = [base / source / name for base, source, name in product(bases, UDA_SOURCES, UDA_DOCUMENTS[kind])]
    return (*(folder for folder in own if folder.is_dir()), given)


def visdom_question(row: Row, kind: str) -> BenchmarkQuestion:
    """Return the question of a row. Only slidevqa names pages, from 0; they are those of `doc_path`."""
    row.require_columns("answer", "documents")
    holder = PurePosixPath(row.text("doc_path")).name
    if kind.endswith("slidevqa"):
        row.require_columns("evidence_pages")
    asked = BenchmarkQuestion(
        id=row.text("q_id"),
        text=row.text("question"),
        documents=tuple(dict.fromkeys((*row.names("documents"), holder))),
        evidence=tuple((holder, page) for page in row.pages("evidence_pages", first=0)),
    )
    return with_alternatives(asked, _visdom_answers(row, kind))


def _visdom_answers(row: Row, kind: str) -> list[str]:
    """Return the alternatives: paper_tab's are a list of {'answer': ..., 'type': ...}, the others have one, as it stands."""
    written = row.optional_text("answer")
    if not kind.endswith("paper-tab") or not written.startswith("["):
        return [written]
    entries = python_list(written)
    if entries is None or not all(isinstance(entry, dict) and "answer" in entry for entry in entries):
        raise row.wrong("answer", f"holds {show_value(written)}, not a list of {{'answer': ...}}")
    return [str(entry["answer"]) for entry in entries if isinstance(entry, dict)]


def dude_question(row: Row, _kind: str) -> BenchmarkQuestion:
    """Return the question of a record of DUDE, in the form of its published evaluator; nobody here has seen its release.

    Several answers are one list, else they and their variants are alternatives. Pages are counted from 0, and known of answers that
    stand in the document.
    """
    row.require_columns("answers", "answer_type")
    holder, task = row.text("docId"), row.text("answer_type").replace("-", " ")
    written, boxes = (row.items(name) for name in ("answers", "answers_page_bounding_boxes"))
    pages = [box["page"] for group in boxes if isinstance(group, list) for box in group if isinstance(box, dict) and "page" in box]
    evidence = replace(row, cells={"answers_page_bounding_boxes": pages}).pages("answers_page_bounding_boxes", first=0)
    asked = BenchmarkQuestion(
        id=row.text("questionId"),
        text=row.text("question"),
        documents=(holder,),
        answer_format="List" if task.startswith("list") or len(written) > 1 else "Str",
        evidence=tuple((holder, page) for page in evidence),
        task=task,
    )
    if task == "not answerable":
        return replace(asked, answerable=False, answer_format="None")
    if asked.answer_format == "List":
        return replace(asked, answers=(json.dumps(list(map(str, written)), ensure_ascii=False),))
    return with_alternatives(asked, map(str, (*written, *row.items("answers_variants"))))


def mp_docvqa_question(row: Row, _kind: str) -> BenchmarkQuestion:
    """Return the question of a record of MP-DocVQA, in the form that its users read; nobody here has seen its release.

    That is of pictures: the pages of a question, which may be a part of their document, are a PDF named by the first and the last.
    """
    pages = row.names("page_ids")
    if not pages:
        raise row.wrong("page_ids", "names no page")
    holder = f"{pages[0]}-{pages[-1]}"
    asked = BenchmarkQuestion(
        id=row.text("questionId"),
        text=row.text("question"),
        documents=(holder,),
        evidence=tuple((holder, page) for page in row.pages("answer_page_idx", first=0)),
    )
    return with_alternatives(asked, map(str, row.items("answers")))


def slidevqa_question(row: Row, _kind: str) -> BenchmarkQuestion:
    """Return the question of a record of SlideVQA, in the form of its README; nobody here has seen its release.

    That is of pictures: those of a deck are a PDF under its name.
    """
    row.require_columns("answer", "evidence_pages")
    holder = row.text("deck_name")
    asked = BenchmarkQuestion(
        id=row.text("qa_id"),
        text=row.text("question"),
        documents=(holder,),
        evidence=tuple((holder, page) for page in row.pages("evidence_pages", first=1)),
        task=row.optional_text("reasoning_type"),
    )
    return with_alternatives(asked, [row.optional_text("answer")])


def annotated_question(row: Row, asked: BenchmarkQuestion, *, holder: str) -> BenchmarkQuestion:
    """Return a question with its answer and evidence, which three benchmarks write in the same columns.

    `holder` is the document whose pages the evidence is. The question is not answerable where the answer says so, or where its
    format is "None" and there is no page; pages given nevertheless are kept.
    """
    written = "List" if isinstance(row.value("answer"), list) else row.optional_text("answer_format")
    answer_format = SAME_FORMAT.get(written, written)
    evidence = tuple((holder, page) for page in row.pages("evidence_pages", first=1))
    found = with_alternatives(asked, [_one_answer(row, answer_format)])
    answerable = found.answerable and (answer_format != "None" or bool(evidence))
    return replace(
        found,
        answerable=answerable,
        answers=found.answers if answerable else (),
        answer_format=answer_format,
        evidence=evidence,
        evidence_sources=row.names("evidence_sources"),
    )


def with_alternatives(asked: BenchmarkQuestion, texts: Iterable[str]) -> BenchmarkQuestion:
    """Return the question with the texts that are not empty as its answers, each once; not answerable where all of them refuse."""
    answers = tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
    refused = bool(answers) and REFUSALS.issuperset(answer.rstrip(".").casefold() for answer in answers)
    return replace(asked, answerable=not refused, answers=() if refused else answers)


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


def _by_name(file: Path, kinds: Mapping[str, str], known: bool) -> str:
    return next((kind for part, kind in kinds.items() if part in file.stem.lower()), "") if known and file.suffix == ".csv" else ""


def _by_columns(kind: str, needed: Set[str], file: Path, columns: frozenset[str]) -> str:
    return kind if file.suffix != ".csv" and needed <= columns else ""


# LongDocURL before MMLongBench-Doc, whose columns its copies have too.
FORMATS = (
    BenchmarkFormat(
        layout="a folder with questions.jsonl and documents/",
        kind_of=is_own,
        question=own_question,
        folders=lambda file, _given, _kind: (file.parent / "documents",),
    ),
    BenchmarkFormat(
        layout="LongDocURL (its .jsonl or .json and the PDFs)",
        kind_of=lambda file, columns: (
            "longdocurl" if file.suffix != ".csv" and "question" in columns and columns & LONGDOCURL_COLUMNS else ""
        ),
        question=longdocurl_question,
        folders=lambda _file, given, _kind: (given,),
    ),
    BenchmarkFormat(
        layout="MMLongBench-Doc (samples.json and its PDFs)",
        kind_of=lambda file, columns: (
            "mmlongbench-doc" if file.suffix != ".csv" and len(MMLONGBENCH_COLUMNS - columns) <= 1 else ""
        ),
        question=mmlongbench_question,
        folders=lambda _file, given, _kind: (given,),
    ),
    BenchmarkFormat(
        layout="UDA (paper_tab_qa.csv, paper_text_qa.csv or feta_qa.csv, and src_doc_files/)",
        kind_of=lambda file, columns: _by_name(file, UDA_KINDS, bool(columns & {"doc_name", "q_uid"})),
        question=uda_question,
        folders=uda_folders,
    ),
    BenchmarkFormat(
        layout="VisDoMBench (the folder of a subset: spiqa, feta_tab, paper_tab, scigraphvqa or slidevqa, with its CSV and docs/)",
        kind_of=lambda file, columns: _by_name(file, VISDOM_KINDS, len(VISDOM_COLUMNS - columns) <= 1),
        question=visdom_question,
        folders=lambda file, _given, _kind: (file.parent / "docs", file.parent),
    ),
    *(
        BenchmarkFormat(
            layout=f"{name} (its .json or .jsonl and the PDFs)",
            kind_of=partial(_by_columns, kind, columns),
            question=question,
            folders=lambda _file, given, _kind: (given,),
        )
        for name, kind, columns, question in (
            ("DUDE", "dude", {"questionId", "docId", "answers_page_bounding_boxes"}, dude_question),
            ("MP-DocVQA", "mp-docvqa", {"questionId", "page_ids"}, mp_docvqa_question),
            ("SlideVQA", "slidevqa", {"deck_name", "qa_id", "question"}, slidevqa_question),
        )
    ),
)
