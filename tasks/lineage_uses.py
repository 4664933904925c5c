"""Which kept answers used a document, or what its file held before; the same pages count as from an answer to its documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from storage.answer_glimpses import AnswerGlimpse, glimpses
from storage.answer_records import NamedDocument
from storage.lineage_search import file_names
from storage.run_traces import lines_with
from storage.runs import asking_files
from tasks.lineage_names import Shelf
from tasks.lineage_records import AnswerLine, AnswerUse, Damage


@dataclass(frozen=True, slots=True)
class Uses:
    """A document as answers name it, the earlier contents of its file that they used, and the answers, the newest first."""

    document: NamedDocument
    earlier: tuple[NamedDocument, ...]
    answers: tuple[AnswerUse, ...]
    damaged: tuple[Damage, ...]


def uses_of(shelf: Shelf, document_id: str) -> Uses:
    """Return every answer that cites a page of the document or for which one was read.

    An earlier content of its file has the file's name and an id that is not published.
    """
    record = shelf.records.get(document_id)
    names = file_names([record]) if record else set()
    signs = [document_id.encode(), *(json.dumps(name)[1:-1].encode() for name in sorted(names))]
    seen = list(glimpses(lines_with(asking_files(shelf.snapshot.location), signs), signs))
    documents: dict[str, NamedDocument] = {}
    uses: list[AnswerUse] = []
    for run in seen:
        for answer in run.answers:
            places = _places(answer, lambda each: each.id == document_id or (each.name in names and each.id not in shelf.records))
            documents |= {each.id: each for each in places}
            uses += [_use(answer, run.run_id, each.id, *pages) for each, pages in places.items()]
    document = documents.pop(document_id, NamedDocument(document_id, ""))
    damaged = (Damage(run.run_id, run.torn, run.unreadable) for run in seen if run.torn or run.unreadable)
    uses.sort(key=lambda use: (use.answer.asked, use.answer.answer_id), reverse=True)
    return Uses(document, tuple(documents.values()), tuple(uses), tuple(damaged))


def line_of(answer: AnswerGlimpse, run_id: str) -> AnswerLine:
    """Return an answer as it stands in a list."""
    return AnswerLine(answer.answer_id, run_id, answer.asked, answer.question, answer.status)


def _places(answer: AnswerGlimpse, meant: Callable[[NamedDocument], bool]) -> dict[NamedDocument, tuple[set[int], set[int]]]:
    """Return the pages that an answer cites, and those that were read for it, of each document that is meant."""
    found: dict[NamedDocument, tuple[set[int], set[int]]] = {}
    for place in answer.citations:
        if meant(place.document):
            found.setdefault(place.document, (set(), set()))[0].add(place.page)
    for place in answer.all_read:
        if meant(place.document):
            found.setdefault(place.document, (set(), set()))[1].add(place.page)
    return found


def _use(answer: AnswerGlimpse, run_id: str, document_id: str, cited: set[int], read: set[int]) -> AnswerUse:
    return AnswerUse(line_of(answer, run_id), document_id, tuple(sorted(cited)), tuple(sorted(read)))
