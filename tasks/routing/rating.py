"""What System 2 has the reader rate, and the nodes that it lifts (appendix C); both presets share it."""

from collections.abc import Sequence

import numpy as np

from storage.graph.candidates import CandidateGraph
from storage.records.answers import GraphEdit
from tasks.algorithms.arrays import FloatArray, IntArray, pair_cosines
from tasks.asking.question import AskContext
from tasks.asking.records import PathReading, Question


def step_similarities(graph: CandidateGraph, tails: IntArray, heads: IntArray) -> FloatArray:
    # Of two passages that say the same, the last bit of the cosine may pass 1; a rating or an arc's similarity may not.
    return np.clip(pair_cosines(vectors=graph.vectors, first=tails, second=heads), -1.0, 1.0)


def rate_steps(
    question: Question, graph: CandidateGraph, tails: IntArray, heads: IntArray, context: AskContext, *, bridges: bool
) -> FloatArray:
    """Return the reader's rates (p,), 0..1, of going from one candidate to another."""
    ends = sorted({*tails.tolist(), *heads.tolist()})
    nodes = {node.id: node for node in context.snapshot.view.passages_by_id([graph.ids[end] for end in ends])}
    pairs = [(nodes[graph.ids[a]], nodes[graph.ids[b]]) for a, b in zip(tails.tolist(), heads.tolist(), strict=True)]
    similarities = step_similarities(graph, tails, heads).tolist()
    return np.array(context.reader.rate_pairs(question, pairs, similarities, bridges=bridges), dtype=np.float64)


def graph_edits(
    kind: str, graph: CandidateGraph, tails: IntArray, heads: IntArray, before: FloatArray, after: FloatArray
) -> tuple[GraphEdit, ...]:
    rows = zip(tails.tolist(), heads.tolist(), before.tolist(), after.tolist(), strict=True)
    return tuple(GraphEdit(kind, graph.ids[tail], graph.ids[head], old, new) for tail, head, old, new in rows if old != new)


def lift_quoted(
    scores: FloatArray, nodes: IntArray, graph: CandidateGraph, readings: Sequence[PathReading], boost: float
) -> FloatArray:
    """Return the scores of these candidates with those that readers quoted lifted; no score passes 1."""
    quoted = {quote.node.id for reading in readings for quote in reading.quotes}
    cited = np.array([graph.ids[node] in quoted for node in nodes.tolist()], dtype=np.bool_)
    return np.minimum(scores + boost * cited, np.maximum(scores, 1.0))
