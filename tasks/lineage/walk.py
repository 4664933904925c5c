"""The walk through lineage: from an answer back to the bytes it stands on, from a document to its answers, through a run."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from storage.corpus.snapshot import Snapshot
from storage.memo import HEXADECIMAL
from storage.records.answers import Answer, Citation, NamedDocument, PagePlace
from storage.runs.answers import NOTE_BEGINS, answer_of_run
from storage.runs.glimpses import AnswerGlimpse, glimpse_of, glimpses
from storage.runs.log import EntryKind, asking_files
from storage.runs.traces import lines_with, trace
from tasks.lineage.documents import Places, documents_told, places_of, wordless
from tasks.lineage.names import Shelf, shown_parameters
from tasks.lineage.records import (
    AnswerLine,
    AnswerUse,
    AnswerWalk,
    Damage,
    DocumentInRun,
    DocumentWalk,
    NodePlace,
    PagesRead,
    PathTold,
    RunKind,
    RunWalk,
    Walk,
)
from tasks.lineage.runs import NOT_ANY_MORE, RunStory, story_of, sum_of_calls, sum_of_steps, why_unpublished
from tasks.lineage.search import Kind, file_names, find_named
from tasks.watching.json_log import step_outcome

UNNAMED_REMOVAL = "a quoted document was removed"


def walk(snapshot: Snapshot, asked: str) -> Walk:
    """Walk the lineage of what these digits, or this file name, name.

    Raise UnknownLineageError or AmbiguousLineageError, which list what there is; what of a run's file cannot be read is told.
    """
    named, shelf = find_named(snapshot, asked), Shelf(snapshot)
    if named.kind is Kind.RUN:
        return run_walk(shelf, named.id)
    if named.kind is Kind.DOCUMENT:
        return document_walk(shelf, named.id)
    answer = answer_of_run(snapshot.location, named.id, named.run_id, present=shelf.records.keys())
    return answer_walk(shelf, answer, named.run_id)


def answer_walk(shelf: Shelf, answer: Answer, run_id: str) -> AnswerWalk:
    """Return from an answer its question, run, paths, nodes and places, and the documents they stand in with how they were read."""
    snapshot = shelf.snapshot
    run = story_of(trace(snapshot.location.runs / f"{run_id}.jsonl", [answer.answer_id.encode()]))
    seen = glimpse_of(answer)
    documents, damaged = documents_told(shelf, documents_used(seen))
    places = places_of(shelf, documents, list(dict.fromkeys(name for path in answer.paths for name in path.nodes)))
    return AnswerWalk(
        answer_id=answer.answer_id,
        asked=answer.asked,
        question=answer.question,
        status=answer.status.value,
        reader=answer.reader,
        corpus=answer.corpus,
        snapshot=answer.snapshot,
        published=snapshot.number,
        scope=shown_parameters(answer.scope, shelf),
        settings=answer.settings,
        models=answer.models,
        notes=tuple(dict.fromkeys(UNNAMED_REMOVAL if note.startswith(NOTE_BEGINS) else note for note in answer.notes)),
        usage=answer.usage,
        run=replace(run.head, began=answer.asked),
        steps=tuple(step for step in run.steps if step.subject == answer.answer_id),
        calls=tuple(call for call in run.calls if call.about == answer.answer_id),
        citations=tuple(_called(shelf, citation) for citation in answer.citations),
        paths=tuple(
            PathTold(
                nodes=tuple(places.nodes.get(name, NodePlace(name)) for name in path.nodes),
                pages=tuple(_called(shelf, place) for place in path.pages),
                flow=path.flow,
                quality=path.quality,
                share=path.share,
            )
            for path in answer.paths
        ),
        read_by=_read_by(seen, places),
        documents=documents,
        damaged=tuple(filter(None, (run.damage, *damaged))),
    )


def documents_used(answer: AnswerGlimpse) -> list[NamedDocument]:
    """Return the documents that an answer cites or that were read for it, each once, the cited first."""
    return list({place.document.id: place.document for place in (*answer.cited, *answer.read)}.values())


def _read_by(answer: AnswerGlimpse, places: Places) -> tuple[PagesRead, ...]:
    used = {(place.document.id, place.page) for place in (*answer.cited, *answer.read)}
    groups: dict[tuple[str, str, str], list[int]] = {}
    for document_id, number, parser, note in places.readers:
        if (document_id, number) in used:
            groups.setdefault((document_id, parser, note), []).append(number)
    return tuple(PagesRead(document, parser, tuple(pages), note) for (document, parser, note), pages in groups.items())


P = TypeVar("P", Citation, PagePlace)


def _called(shelf: Shelf, place: P) -> P:
    return replace(place, document=shelf.named(place.document))


def document_walk(shelf: Shelf, document_id: str) -> DocumentWalk:
    """Return from a document, published or not, the runs that read it and the answers that used it, or its file before.

    Which pages count is as from an answer to its documents: those that it cites, and those that were read for it. An earlier
    content of the file has the file's name and an id that is not published.
    """
    record = shelf.records.get(document_id)
    names = file_names([record]) if record else set()
    signs = [document_id.encode(), *(json.dumps(name)[1:-1].encode() for name in sorted(names))]
    seen = list(glimpses(lines_with(asking_files(shelf.snapshot.location), signs), signs))
    named: dict[str, NamedDocument] = {document_id: NamedDocument(document_id, "")}
    uses: list[AnswerUse] = []
    for run in seen:
        for answer in run.answers:
            for used in documents_used(answer):
                if used.id == document_id or (used.name in names and used.id not in shelf.records):
                    named[used.id] = used
                    uses.append(AnswerUse(line_of(answer, run.run_id), used.id, *_pages_of(used.id, answer)))
    uses.sort(key=lambda use: (use.answer.asked, use.answer.answer_id), reverse=True)
    (document, *earlier), damaged = documents_told(shelf, list(named.values()))
    return DocumentWalk(
        corpus=shelf.snapshot.location.name,
        document=document,
        earlier=tuple(earlier),
        answers=tuple(uses),
        damaged=(*damaged, *(Damage(run.run_id, run.torn, run.unreadable) for run in seen if run.torn or run.unreadable)),
    )


def _pages_of(document_id: str, answer: AnswerGlimpse) -> tuple[tuple[int, ...], tuple[int, ...]]:
    cited, read = ({place.page for place in places if place.document.id == document_id} for places in (answer.cited, answer.read))
    return tuple(sorted(cited)), tuple(sorted(read))


def line_of(answer: AnswerGlimpse, run_id: str) -> AnswerLine:
    return AnswerLine(answer.answer_id, run_id, answer.asked, answer.question, answer.status)


ALL_BUT_ANSWERS = tuple(f'"kind": "{kind}"'.encode() for kind in EntryKind if kind is not EntryKind.ANSWER)
"""Answers are seen by a glimpse: their lines are most of the file."""


def run_walk(shelf: Shelf, run_id: str) -> RunWalk:
    """Return all that a run's file tells of it; what is not published any more has no name, and its errors no words."""
    path = shelf.snapshot.location.runs / f"{run_id}.jsonl"
    story = story_of(trace(path, ALL_BUT_ANSWERS))
    answers = [answer for seen in glimpses(lines_with([path], [b""]), [b""]) for answer in seen.answers]
    used = (place.document.id for answer in answers for place in (*answer.cited, *answer.read))
    return RunWalk(
        corpus=shelf.snapshot.location.name,
        run=story.head,
        parameters=shown_parameters(story.parameters, shelf),
        settings=story.settings,
        steps=sum_of_steps(story.steps),
        failed=tuple(
            step if step.subject in shelf.records or not _is_document(story, step.subject) else wordless(step)
            for step in story.steps
            if step_outcome(step) == "failed"
        ),
        calls=sum_of_calls(story.calls),
        documents=_documents(shelf, story, used),
        answers=tuple(line_of(answer, run_id) for answer in answers),
        damaged=(story.damage,) if story.damage else (),
    )


def _is_document(story: RunStory, subject: str) -> bool:
    """Say whether a step worked on a document: others work on questions, on batches of them or on the corpus."""
    return story.head.kind in {RunKind.INGEST, RunKind.UNKNOWN} and HEXADECIMAL.fullmatch(subject) is not None


def _documents(shelf: Shelf, story: RunStory, used: Iterable[str]) -> tuple[DocumentInRun, ...]:
    """Return the documents that the answers used, and those that the run read, with why they are not published."""
    whys = dict.fromkeys(used, NOT_ANY_MORE)
    whys |= {each.subject: why_unpublished(story, each.subject) for each in story.steps if _is_document(story, each.subject)}
    return tuple(
        DocumentInRun(shelf.named(NamedDocument(each, "")), each in shelf.records, "" if each in shelf.records else why)
        for each, why in whys.items()
    )
