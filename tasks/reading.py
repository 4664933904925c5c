"""Reading the chosen paths: each by itself, all at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from storage.artifacts import hash_bytes
from storage.candidate_graph import CandidateGraph
from storage.codec import to_json
from tasks.path_reader import PathReading, PathText
from tasks.question import AskDesk, Question, question_key
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
    _question: Question, graph: CandidateGraph, scores: NodeScores, paths: Sequence[ChosenPath], desk: AskDesk
) -> tuple[PathText, ...]:
    """Fetch what stands on the paths; every node once."""
    ids = sorted({graph.ids[place] for path in paths for place in path.nodes})
    nodes = {node.id: node for node in desk.snapshot.nodes_by_id(ids)}
    rows = desk.snapshot.rows_by_node(ids)
    return tuple(
        PathText(nodes=tuple(nodes[graph.ids[place]] for place in path.nodes), rows=rows, rarity=scores.rarity) for path in paths
    )


@step("read", version="1", retries=0, cache_key=question_key, told=told_of_reading)
def read_path(question: Question, text: PathText, desk: AskDesk) -> PathReading:
    """Answer from one path alone."""
    return desk.reader.read(question, text)
