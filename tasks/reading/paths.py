"""Reading the chosen paths: what stands on them is fetched once, then each is read by itself, and what was read is judged."""

from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.codec import to_json
from storage.graph.candidates import CandidateGraph
from storage.graph.search import Scope
from tasks.algorithms.flow.refinement import gate
from tasks.algorithms.text.stems import stems_in
from tasks.asking.calls import call_book
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, PathText, Question, Verdict
from tasks.events import StageReached, emit
from tasks.routing.way import ChosenPath


@question_step("fetch", lambda texts: {"texts": hash_bytes(to_json([node.id for text in texts for node in text.nodes]))})
def fetch_texts(
    question: Question, graph: CandidateGraph, scores: NodeScores, paths: Sequence[ChosenPath], context: AskContext
) -> tuple[PathText, ...]:
    """Fetch what stands on the paths, every node once, with what the routing knows of it."""
    places = sorted({place for path in paths for place in path.nodes})
    ids = [graph.ids[place] for place in places]
    passages, rows = context.snapshot.passages_and_rows(ids)
    nodes = {passage.id: passage for passage in passages}
    pages = len({(passage.document_id, passage.page) for passage in passages})
    emit(StageReached(question.id, f"found {pages} page{'s' * (pages != 1)}"))
    worth = dict(zip(ids, np.clip(scores.combined[places], 0.0, 1.0).tolist(), strict=True))
    titled = titled_anchors(question, {node.document_id for node in nodes.values()}, context)
    present = present_anchors(question, scores, graph, context)
    return tuple(
        PathText(
            nodes=tuple(nodes[graph.ids[place]] for place in path.nodes),
            rows=rows,
            rarity=scores.rarity,
            worth=worth,
            present=present,
            named=scores.named,
            titled=titled,
        )
        for path in paths
    )


def titled_anchors(question: Question, documents: Set[str], context: AskContext) -> dict[str, frozenset[str]]:
    """Return which anchors of the question stand in the name or title of each of these documents, by its id."""
    records = [record for record in context.snapshot.documents() if record.id in documents]
    return {record.id: stems_in(f"{record.name} {record.title}").intersection(question.terms.anchors) for record in records}


def present_anchors(question: Question, scores: NodeScores, graph: CandidateGraph, context: AskContext) -> frozenset[str]:
    """Return which anchors of the question stand anywhere in the scope (the entity anchor of appendix B.2).

    Evidence that never names the subject of the question speaks of something else, however many other words it shares.
    Of a large scope only some nodes are candidates, but full text brings in those that hold rare words, such as names. Where
    pages or a modality limit the scope the rest of a document is not at hand; it gets the benefit of the doubt.
    """
    anchors = frozenset(question.terms.anchors)
    if is_narrowed(context.scope) or anchors <= scores.present:
        return anchors
    return (anchors & scores.present).union(*titled_anchors(question, set(graph.document_ids), context).values())


def is_narrowed(scope: Scope) -> bool:
    return scope.first_page is not None or scope.last_page is not None or scope.modality is not None


@question_step(
    "read",
    lambda readings: {str(number): hash_bytes(to_json(reading.answer)) for number, reading in enumerate(readings, 1)},
    version="2",
    retries=0,
    reads=True,
)
def read_paths(question: Question, texts: Sequence[PathText], context: AskContext) -> tuple[PathReading, ...]:
    return context.reader.read(question, texts)


@question_step(
    "judge",
    lambda verdict: {
        "consistency": f"{verdict.consistency:.4f}",
        "saturation": "" if verdict.saturation is None else f"{verdict.saturation:.4f}",
        "trigger": verdict.trigger or "",
    },
    retries=0,
    reads=True,
)
def judge(question: Question, readings: Sequence[PathReading], saturation: float | None, context: AskContext) -> Verdict:
    """Judge what was read, by the gate of section 3.5.2; `saturation` is that of the flow, None where all of it fits by itself."""
    settings = context.settings.gate
    supported = [reading for reading in readings if reading.supported]
    consistency = context.reader.consistency(question, supported)
    trigger = gate(
        supported=len(supported),
        saturation=1.0 if saturation is None else saturation,
        consistency=consistency,
        saturation_below=settings.saturation,
        consistency_below=settings.consistency,
    )
    # Where the model is of no more use, nothing would be read of what a second routing finds.
    refines = settings.enabled
    if refines and trigger is not None and context.reader.model and (book := call_book.get()).over:
        refines = False
        # Most often what made it so is noted.
        if not book.notes:
            book.notes.append("nothing was read once more, because the time of the question was up")
    return Verdict(consistency=consistency, saturation=saturation, trigger=trigger if refines else None)


def with_one_text(readings: Sequence[PathReading]) -> list[PathReading]:
    """Return the readings with the rows and worths of all paths on each: what puts them together looks in the first."""
    paths = [reading.path for reading in readings if reading.path is not None]
    rows = {node: found for path in paths for node, found in path.rows.items()}
    worth: dict[str, float] = {}
    for path in paths:
        worth |= {node: max(value, worth.get(node, 0.0)) for node, value in path.worth.items()}

    def shared(path: PathText | None) -> PathText | None:
        return None if path is None else replace(path, rows=rows, worth=worth)

    return [replace(reading, path=shared(reading.path)) for reading in readings]
