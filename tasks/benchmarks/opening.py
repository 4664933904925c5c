"""Opening a benchmark: its questions, the files of its documents, and a hash of all that it asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from storage.codec import CodecError, to_json
from storage.evaluation_records import Benchmark, BenchmarkQuestion
from storage.records import identify
from tasks.benchmarks import own_layout, uda, visdom
from tasks.benchmarks.document_files import find_documents, unnamed_documents
from tasks.benchmarks.question_files import read_rows
from tasks.benchmarks.recognising import Recognised, recognise
from tasks.benchmarks.rows import BenchmarkError, Row


def open_benchmark(path: Path) -> Benchmark:
    """Return the benchmark in a folder, or the one that a question file asks; raise BenchmarkError for whatever is not there."""
    found = recognise(path)
    rows = read_rows(found.file)
    written = [found.format.question(row, found.kind) for row in rows]
    questions = _with_distinct_ids(rows, written, published=found.kind != own_layout.KIND)
    names = (name for question in questions for name in question.documents)
    folders = found.format.folders(found.file, found.given, found.kind)
    documents = find_documents(names, folders, named_by=found.file)
    if found.kind == own_layout.KIND:
        # Whoever puts a file there that no question names wants it searched beside the others.
        documents |= unnamed_documents(folders, documents)
    try:
        digest = identify("benchmark", to_json(questions).decode("utf-8"))
    except CodecError as error:
        raise BenchmarkError(f"{str(found.file)!r} holds a text that is not Unicode: {error}") from error
    return Benchmark(name=_name(found), kind=found.kind, documents=documents, questions=questions, hash=digest)


def _with_distinct_ids(
    rows: Sequence[Row], questions: Sequence[BenchmarkQuestion], *, published: bool
) -> tuple[BenchmarkQuestion, ...]:
    """Return the questions with a number put to each id that is taken; in our own layout that is a mistake to be mended."""
    written = {question.id for question in questions}
    taken: dict[str, Row] = {}
    distinct: list[BenchmarkQuestion] = []
    for row, question in zip(rows, questions, strict=True):
        identity = question.id
        if identity in taken and not published:
            raise row.wrong("id", f"holds {identity!r} again, as {taken[identity].place}; give each question its own")
        if identity in taken:
            identity = next(f"{question.id}-{n}" for n in count(2) if f"{question.id}-{n}" not in written | taken.keys())
        taken[identity] = row
        distinct.append(replace(question, id=identity))
    return tuple(distinct)


def _name(found: Recognised) -> str:
    # A folder of UDA or VisDoM is named after its subset at best, and after "qa" or "data" at worst.
    return found.kind if found.kind in {*uda.KINDS.values(), *visdom.KINDS.values()} else found.given.resolve().name or found.kind
