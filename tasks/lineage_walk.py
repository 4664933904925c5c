"""The walk through lineage: from an answer back to the bytes it stands on, from a document to its answers, through a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from storage.answer_glimpses import AnswerGlimpse, glimpse_of
from storage.answer_records import Answer, Citation, EvidencePath, NamedDocument
from storage.answers import NOTE_BEGINS, answer_of_run
from storage.lineage_search import Kind, find_named
from storage.run_traces import trace
from storage.snapshot import Snapshot
from tasks.lineage_documents import documents_told
from tasks.lineage_names import Shelf, shown_parameters
from tasks.lineage_places import Places, places_of
from tasks.lineage_records import AnswerWalk, DocumentWalk, NodePlace, PagesRead, PathTold, Walk
from tasks.lineage_runs import story_of
from tasks.lineage_uses import uses_of
from tasks.lineage_whole_run import run_walk

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
        citations=tuple(_citation(shelf, citation) for citation in answer.citations),
        paths=_paths(shelf, answer.paths, places),
        read_by=_read_by(seen, places),
        documents=documents,
        damaged=tuple(filter(None, (run.damage, *damaged))),
    )


def documents_used(answer: AnswerGlimpse) -> list[NamedDocument]:
    """Return the documents that an answer cites or that were read for it, each once, the cited first."""
    return list({place.document.id: place.document for place in (*answer.cited, *answer.read)}.values())


def _read_by(answer: AnswerGlimpse, places: Places) -> tuple[PagesRead, ...]:
    """Return who read the pages that the answer used, of the documents that are published."""
    used = {(place.document.id, place.page) for place in (*answer.cited, *answer.read)}
    groups: dict[tuple[str, str, str], list[int]] = {}
    for document_id, number, parser, note in places.readers:
        if (document_id, number) in used:
            groups.setdefault((document_id, parser, note), []).append(number)
    return tuple(PagesRead(document, parser, tuple(pages), note) for (document, parser, note), pages in groups.items())


def _citation(shelf: Shelf, citation: Citation) -> Citation:
    return replace(citation, document=shelf.named(citation.document))


def _paths(shelf: Shelf, paths: Sequence[EvidencePath], places: Places) -> tuple[PathTold, ...]:
    """Return the paths with the place of every node that is still in the corpus."""
    return tuple(
        PathTold(
            nodes=tuple(places.nodes.get(name, NodePlace(name)) for name in path.nodes),
            pages=tuple(replace(place, document=shelf.named(place.document)) for place in path.pages),
            flow=path.flow,
            quality=path.quality,
            share=path.share,
        )
        for path in paths
    )


def document_walk(shelf: Shelf, document_id: str) -> DocumentWalk:
    """Return from a document, published or not, the runs that read it and the answers that used it, or its file before."""
    found = uses_of(shelf, document_id)
    (document, *earlier), damaged = documents_told(shelf, [found.document, *found.earlier])
    return DocumentWalk(
        corpus=shelf.snapshot.location.name,
        document=document,
        earlier=tuple(earlier),
        answers=found.answers,
        damaged=(*damaged, *found.damaged),
    )
