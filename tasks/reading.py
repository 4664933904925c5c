"""Reading the chosen paths: each by itself, all at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from storage.artifacts import hash_bytes
from storage.candidate_graph import CandidateGraph
from storage.codec import to_json
from tasks.algorithms.coded_texts import count_codes
from tasks.algorithms.quoting import lost_anchors
from tasks.path_reader import PathReading, PathText
from tasks.question import AskDesk, Question, question_key
from tasks.read_texts import read_texts
from tasks.retrieval import NodeScores
from tasks.routing import ChosenPath
from tasks.step import step


def told_of_texts(texts: tuple[PathText, ...]) -> Mapping[str, str]:
    """Return how many paths there are to read, for the lineage."""
    return {"texts": hash_bytes(to_json([node.id for text in texts for node in text.nodes]))}


def told_of_reading(reading: PathReading) -> Mapping[str, str]:
    """Return the hash of what was read out of a path, for the lineage."""
    return {"reading": hash_bytes(to_json(reading.answer))}


async def read_in_parallel(
    question: Question, graph: CandidateGraph, scores: NodeScores, paths: Sequence[ChosenPath], desk: AskDesk
) -> tuple[PathReading, ...]:
    """Return what each path says, in the order of the paths."""
    texts = await fetch_texts.submit(question, graph, scores, paths, desk)
    return tuple(await asyncio.gather(*(read_path.submit(question, text, desk) for text in texts)))


@step("fetch", version="1", retries=0, cache_key=question_key, told=told_of_texts)
def fetch_texts(
    question: Question, graph: CandidateGraph, scores: NodeScores, paths: Sequence[ChosenPath], desk: AskDesk
) -> tuple[PathText, ...]:
    """Fetch what stands on the paths, every node once, with what the routing knows of it."""
    places = sorted({place for path in paths for place in path.nodes})
    ids = [graph.ids[place] for place in places]
    nodes = {node.id: node for node in desk.snapshot.nodes_by_id(ids)}
    rows = desk.snapshot.rows_by_node(ids)
    worth = dict(zip(ids, np.clip(scores.combined[places], 0.0, 1.0).tolist(), strict=True))
    owners = {node.document_id for node in nodes.values()}
    titles = {record.id: f"{record.name} {record.title}" for record in desk.snapshot.documents() if record.id in owners}
    titled = {document: stems_in(question.terms.anchors, [title]) for document, title in titles.items()}
    said = said_anywhere(question, graph, desk).union(*titled.values())
    return tuple(
        PathText(
            nodes=tuple(nodes[graph.ids[place]] for place in path.nodes),
            rows=rows,
            rarity=scores.rarity,
            worth=worth,
            said=said,
            titled=titled,
        )
        for path in paths
    )


def stems_in(stems: Sequence[str], texts: Sequence[str]) -> frozenset[str]:
    """Return which of the stems the texts hold."""
    return frozenset(stems) - frozenset(lost_anchors(anchors=stems, texts=texts))


def said_anywhere(question: Question, graph: CandidateGraph, desk: AskDesk) -> frozenset[str]:
    """Return which anchors of the question stand anywhere in what is asked.

    Of a large scope only some nodes are candidates, but full text brings in those that hold rare words, such as names. Where
    pages or a modality limit the scope the rest of a document is not at hand; it gets the benefit of the doubt.
    """
    anchors, scope = question.terms.anchors, desk.scope
    if scope.first_page is not None or scope.last_page is not None or scope.modality is not None:
        return frozenset(anchors)
    known = read_texts(desk.snapshot)
    texts = known.coded("content", graph.ids, graph.columns["search_text"].tolist())
    counts = count_codes(texts, [known.code(anchor) for anchor in anchors])
    return frozenset(anchors[place] for place in np.flatnonzero(counts.any(axis=0)).tolist())


@step("read", version="1", retries=0, cache_key=question_key, told=told_of_reading)
def read_path(question: Question, text: PathText, desk: AskDesk) -> PathReading:
    """Answer from one path alone."""
    return desk.reader.read(question, text)
