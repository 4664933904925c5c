"""Lineage as it is shown: from an answer back to the bytes it stands on, from a document to its answers, through a run."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from itertools import groupby
from typing import Any, Literal, TypeVar

from pydantic.dataclasses import dataclass

from storage.codec import adapter
from storage.corpus.snapshot import Snapshot
from storage.memo import HEXADECIMAL
from storage.records.answers import Answer, AnswerStatus, Citation, NamedDocument, PagePlace, TraceStep, Usage
from storage.records.steps import StepRecord
from storage.runs.answer_json import writable
from storage.runs.answers import NOTE_BEGINS, answer_of_run
from storage.runs.log import ASKING
from tasks.lineage import records
from tasks.lineage.documents import PageReader, document_histories, places_of, wordless
from tasks.lineage.runs import RunHistory, changed_settings, history_of, sum_of_calls, sum_of_steps
from tasks.lineage.search import Sources, file_names, find_named, open_sources, short_run, show_parameters
from tasks.watching.json_log import step_outcome

UNNAMED_REMOVAL = "a quoted document was removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLineageView:
    """From an answer back to the bytes. `published` is the snapshot that readers see now, the answer's may be an earlier one.

    It calls documents as they may be called now. `read_by` has the pages that the answer cites or that were read for it. Its words
    and pages are in `AnswerView`.
    """

    kind: Literal["answer"] = "answer"
    answer_id: str
    asked: str
    question: str
    asked_as: str
    follows: str | None
    thread: str
    status: AnswerStatus
    answer_by: Literal["model", "catalog"] | None
    reader: str
    citations: tuple[Citation, ...]
    usage: Usage
    corpus: str
    snapshot: int
    scope: Mapping[str, Any]
    settings: Mapping[str, Any]
    models: Mapping[str, str]
    notes: tuple[str, ...]
    trace: tuple[TraceStep, ...]
    published: int
    run: records.RunHead
    steps: tuple[StepRecord, ...]
    calls: tuple[records.CallRecord, ...]
    paths: tuple[records.PathPlaces, ...]
    read_by: tuple[records.PagesRead, ...]
    documents: tuple[records.DocumentHistory, ...]
    damaged: tuple[records.Damage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLineageView:
    """From a document to the runs that read it and to every answer that used it or an earlier content of its file.

    Each of the `answers` has the `document_id`, the `cited_pages` and the `read_pages`, which were read for it.
    """

    kind: Literal["document"] = "document"
    corpus: str
    document: records.DocumentHistory
    earlier: tuple[records.DocumentHistory, ...]
    answers: tuple[records.Row, ...]
    damaged: tuple[records.Damage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """From a run to all that it did. `documents` are those that it read, or that its answers used; `failed` the steps that did."""

    kind: Literal["run"] = "run"
    corpus: str
    run: records.RunHead
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]
    steps: tuple[records.Row, ...]
    failed: tuple[StepRecord, ...]
    calls: tuple[records.Row, ...]
    documents: tuple[records.DocumentInRun, ...]
    answers: tuple[records.Row, ...]
    damaged: tuple[records.Damage, ...]


LineageView = AnswerLineageView | DocumentLineageView | RunView


def lineage_json(view: LineageView) -> dict[str, Any]:
    plain: dict[str, Any] = writable(adapter(type(view)).dump_python(view, mode="json"))
    return plain


def lineage_context(view: LineageView) -> dict[str, Any]:
    """Return what the template of lineage takes: the view, and what sums it up."""
    use = (by_page, changed_settings, short_run, sum_of_calls, sum_of_steps)
    return {"found": view} | {each.__name__: each for each in use}


def by_page(nodes: Iterable[records.NodePlace]) -> list[tuple[str, int, list[records.NodePlace]]]:
    """Return the nodes of a path in its order, those that follow each other on one page together."""
    return [(*page, list(group)) for page, group in groupby(nodes, key=lambda node: (node.document_id, node.page))]


def view_lineage(snapshot: Snapshot, asked: str) -> LineageView:
    """Walk the lineage of what these digits, or this file name, name.

    Raise UnknownError or AmbiguousError, which list what there is. What cannot be read of a run's file is named.
    """
    with open_sources(snapshot) as sources:
        named = find_named(snapshot, sources.runs, asked)
        if named.kind == "run":
            return _view_run(sources, named.id)
        if named.kind == "document":
            return _view_document(sources, named.id)
        answer = answer_of_run(snapshot.location, named.id, named.run_id, present=sources.records.keys())
        return _view_answer(sources, answer, named.run_id)


def _view_answer(sources: Sources, answer: Answer, run_id: str) -> AnswerLineageView:
    """Return from an answer its question, run, paths, nodes and places, and the documents they stand in with how they were read."""
    lines = "kind IN ('run', 'end') OR (kind <> 'answer' AND contains(line, $id))"
    run = history_of(sources.runs.read_one(run_id, lines, id=answer.answer_id))
    documents, damaged = document_histories(sources, documents_used(answer))
    nodes, readers = places_of(sources, documents, list(dict.fromkeys(name for path in answer.paths for name in path.nodes)))
    called = replace(
        answer,
        scope=show_parameters(answer.scope, sources),
        notes=tuple(dict.fromkeys(UNNAMED_REMOVAL if note.startswith(NOTE_BEGINS) else note for note in answer.notes)),
        citations=tuple(_as_named(sources, citation) for citation in answer.citations),
        trace=tuple(replace(step, pages=tuple(_as_named(sources, place) for place in step.pages)) for step in answer.trace),
    )
    kept = {name: getattr(called, name) for name in OF_ANSWER}
    return AnswerLineageView(
        **kept,
        published=sources.snapshot.number,
        run=replace(run.head, began=answer.asked),
        steps=tuple(step for step in run.steps if step.subject == answer.answer_id),
        calls=tuple(call for call in run.calls if call.about == answer.answer_id),
        paths=tuple(
            records.PathPlaces(
                nodes=tuple(nodes.get(name, records.NodePlace(name)) for name in path.nodes),
                pages=tuple(_as_named(sources, place) for place in path.pages),
                flow=path.flow,
                quality=path.quality,
                share=path.share,
            )
            for path in answer.paths
        ),
        read_by=_read_by(answer, readers),
        documents=documents,
        damaged=tuple(filter(None, (run.damage, *damaged))),
    )


OF_ANSWER = {each.name for each in fields(Answer)} & {each.name for each in fields(AnswerLineageView)} - {"paths"}


def documents_used(answer: Answer) -> list[NamedDocument]:
    """Return the documents that an answer cites or that were read for it, each once, the cited first."""
    return list({place.document.id: place.document for place in pages_used(answer)}.values())


def pages_used(answer: Answer) -> list[Citation | PagePlace]:
    """Return what it cites and the pages on its paths; `top-k` has no paths, what it read is its evidence."""
    return [*answer.citations, *(place for path in answer.paths for place in path.pages), *answer.evidence_pages]


def _read_by(answer: Answer, readers: Iterable[PageReader]) -> tuple[records.PagesRead, ...]:
    used = {(place.document.id, place.page) for place in pages_used(answer)}
    groups: dict[tuple[str, str, str], list[int]] = {}
    for document_id, number, parser, note in readers:
        if (document_id, number) in used:
            groups.setdefault((document_id, parser, note), []).append(number)
    return tuple(records.PagesRead(document, parser, tuple(pages), note) for (document, parser, note), pages in groups.items())


P = TypeVar("P", Citation, PagePlace)


def _as_named(sources: Sources, place: P) -> P:
    return replace(place, document=sources.as_named(place.document))


def _view_document(sources: Sources, document_id: str) -> DocumentLineageView:
    """Return from a document, published or not, the runs that read it and the answers that used it, or its file before.

    Which pages count is as from an answer to its documents: those that it cites, and those that were read for it. An earlier
    content of the file has the file's name and an id that is not published.
    """
    record = sources.records.get(document_id)
    names = file_names([record]) if record else set()
    used = list(sources.runs.rows(USES, id=document_id, names=sorted(names), published=list(sources.records)))
    damaged = sources.runs.read("starts_with(run_id, $asking)", "false", asking=ASKING)
    named = {document_id: NamedDocument(document_id, "")}
    named |= {use["document_id"]: NamedDocument(use["document_id"], name) for use, name in used}
    (document, *earlier), of_documents = document_histories(sources, list(named.values()))
    return DocumentLineageView(
        corpus=sources.snapshot.location.name,
        document=document,
        earlier=tuple(earlier),
        answers=tuple(use for use, _name in used),
        damaged=(*of_documents, *(records.Damage(run.run_id, run.torn, run.unreadable) for run in damaged)),
    )


ANSWER = "{answer_id: answer_id, run_id: run_id, asked: asked, question: question, status: status}"
USES = f"""
SELECT {{answer: {ANSWER}, document_id: document_id,
    cited_pages: list_sort(coalesce(list(DISTINCT page) FILTER (WHERE cited), [])),
    read_pages: list_sort(coalesce(list(DISTINCT page) FILTER (WHERE NOT cited), []))}}, any_value(document_name)
FROM used_pages
WHERE document_id = $id OR (list_contains($names, document_name) AND NOT list_contains($published, document_id))
GROUP BY answer_id, run_id, asked, question, status, document_id ORDER BY asked DESC, answer_id DESC, document_id
"""


def _view_run(sources: Sources, run_id: str) -> RunView:
    """Return all that a run's file has of it; what is not published any more has no name, and its errors no words."""
    history = history_of(sources.runs.read_one(run_id, "kind <> 'answer'"))
    answers = sources.runs.rows(ANSWERS_OF_RUN, run_id=run_id)
    used = [name for (name,) in sources.runs.rows(USED_BY_RUN, run_id=run_id)]
    return RunView(
        corpus=sources.snapshot.location.name,
        run=history.head,
        parameters=show_parameters(history.parameters, sources),
        settings=history.settings,
        steps=sum_of_steps(history.steps),
        failed=tuple(
            step if step.subject in sources.records or not _is_document(history, step.subject) else wordless(step)
            for step in history.steps
            if step_outcome(step) == "failed"
        ),
        calls=sum_of_calls(history.calls),
        documents=_documents(sources, history, used),
        answers=tuple(answer for (answer,) in answers),
        damaged=(history.damage,) if history.damage else (),
    )


ANSWERS_OF_RUN = f"SELECT {ANSWER} FROM answers WHERE run_id = $run_id AND answer_id IS NOT NULL ORDER BY sequence"
USED_BY_RUN = """
SELECT document_id FROM used_pages WHERE run_id = $run_id GROUP BY document_id
ORDER BY min(sequence), bool_or(cited) DESC, document_id
"""


def _is_document(history: RunHistory, subject: str) -> bool:
    """Say whether a step worked on a document: others work on questions, on batches of them or on the corpus."""
    return history.head.kind in {*records.MAKES_DOCUMENTS, records.RunKind.UNKNOWN} and HEXADECIMAL.fullmatch(subject) is not None


def _documents(sources: Sources, history: RunHistory, used: Iterable[str]) -> tuple[records.DocumentInRun, ...]:
    """Return the documents that the answers used, and those that the run read."""
    read = (each.subject for each in history.steps if _is_document(history, each.subject))
    names = dict.fromkeys((*used, *read))
    return tuple(records.DocumentInRun(sources.as_named(NamedDocument(each, "")), each in sources.records) for each in names)
