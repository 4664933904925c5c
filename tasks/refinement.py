"""System 2: one edit of the terrain, for the reason that the gate gave; then everything is routed and read again (appendix C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.answer_records import GraphEdit
from storage.artifacts import hash_bytes
from storage.candidate_graph import CandidateGraph
from tasks.algorithms.bridging import accepted_bridges, cut_pairs
from tasks.algorithms.cosines import FloatArray, IntArray, pair_cosines
from tasks.algorithms.gate import Trigger
from tasks.algorithms.reweighting import arcs_at, damped_weights, top_decile_arcs
from tasks.algorithms.source_expansion import expanded_sources
from tasks.path_reader import PathReading
from tasks.question import AskDesk, Question, question_key
from tasks.retrieval import NodeScores
from tasks.routing import Routed, Terrain
from tasks.step import step


@dataclass(frozen=True, slots=True)
class Refined:
    """The terrain after the edit, and what was edited."""

    terrain: Terrain
    edits: tuple[GraphEdit, ...]


def told_of_edits(refined: Refined) -> Mapping[str, str]:
    """Return the hash of the edits, for the lineage."""
    return {"edits": hash_bytes(repr(refined.edits).encode())}


@step("refine", version="1", retries=0, cache_key=question_key, told=told_of_edits)
def refine(
    question: Question,
    graph: CandidateGraph,
    scores: NodeScores,
    terrain: Terrain,
    routed: Routed,
    readings: Sequence[PathReading],
    trigger: Trigger,
    desk: AskDesk,
) -> Refined:
    """Edit the terrain for this reason alone, and lift the nodes that readers quoted."""
    editor = _Editor(question, graph, desk)
    if trigger is Trigger.LOW_SATURATION:
        refined = editor.bridge(terrain, routed)
    elif trigger is Trigger.NO_SUPPORT:
        refined = editor.expand(terrain, scores)
    else:
        refined = editor.reweight(terrain, _strong_arcs(routed, len(terrain.tails)))
    return replace(refined, terrain=_lift_quoted(refined.terrain, graph, readings, desk.settings.gate.cited_boost))


def _strong_arcs(routed: Routed, edges: int) -> IntArray:
    return top_decile_arcs(flow=routed.flow.flow[:edges])


def _lift_quoted(terrain: Terrain, graph: CandidateGraph, readings: Sequence[PathReading], boost: float) -> Terrain:
    """Return the terrain with the nodes that were quoted lifted; no score passes 1."""
    quoted = {quote.node.id for reading in readings for quote in reading.quotes}
    lifted = terrain.scores + boost * np.isin(np.asarray(graph.ids), sorted(quoted))
    return replace(terrain, scores=np.minimum(lifted, np.maximum(terrain.scores, 1.0)))


@dataclass(frozen=True, slots=True)
class _Editor:
    """The three edits, and the pairs that they have rated."""

    question: Question
    graph: CandidateGraph
    desk: AskDesk

    def bridge(self, terrain: Terrain, routed: Routed) -> Refined:
        """T1: add arcs across the cut where the passages have to do with each other, and weigh those at the cut anew."""
        settings = self.desk.settings.gate
        pairs = cut_pairs(
            source_side=routed.cut.source_side,
            sink_side=routed.cut.sink_side,
            tails=terrain.tails,
            heads=terrain.heads,
            scores=terrain.scores,
            limit=settings.pairs // 2,
        )
        rated = self._rate(pairs[:, 0], pairs[:, 1])
        bridges = accepted_bridges(pairs=pairs, scores=rated, above=settings.bridge_above)
        similarities = np.maximum(self._similarities(bridges[:, 0], bridges[:, 1]), 0.0)
        at_cut = np.zeros(len(terrain.scores), dtype=np.bool_)
        at_cut[np.unique(pairs)] = True
        reweighted = self.reweight(
            terrain, self._strongest(terrain, arcs_at(members=at_cut, tails=terrain.tails, heads=terrain.heads))
        )
        grown = replace(
            reweighted.terrain,
            tails=np.concatenate([terrain.tails, bridges[:, 0]]),
            heads=np.concatenate([terrain.heads, bridges[:, 1]]),
            similarities=np.concatenate([reweighted.terrain.similarities, similarities]),
        )
        added = self._edits("bridge", bridges[:, 0], bridges[:, 1], np.zeros(len(bridges)), similarities)
        return Refined(terrain=grown, edits=(*added, *reweighted.edits))

    def expand(self, terrain: Terrain, scores: NodeScores) -> Refined:
        """T3: let evidence start from more places near the sources, and weigh the arcs at the sources anew."""
        settings = self.desk.settings
        found = expanded_sources(
            sources=terrain.sources,
            tails=terrain.tails,
            heads=terrain.heads,
            propagated=scores.propagated,
            depth=settings.gate.depth,
            count=settings.routing.sources,
        )
        at_source = np.zeros(len(terrain.scores), dtype=np.bool_)
        at_source[terrain.sources] = True
        arcs = self._strongest(terrain, arcs_at(members=at_source, tails=terrain.tails, heads=terrain.heads))
        reweighted = self.reweight(terrain, arcs)
        ids = self.graph.ids
        added = tuple(GraphEdit("source", ids[node], "", 0.0, float(terrain.scores[node])) for node in found.tolist())
        grown = replace(reweighted.terrain, sources=np.concatenate([terrain.sources, found]))
        return Refined(terrain=grown, edits=(*added, *reweighted.edits))

    def reweight(self, terrain: Terrain, arcs: IntArray) -> Refined:
        """T2: weigh arcs by what their step says to the question, damped and bounded."""
        settings = self.desk.settings.gate
        arcs = arcs[: settings.pairs]
        tails, heads, old = terrain.tails[arcs], terrain.heads[arcs], terrain.similarities[arcs]
        new = damped_weights(old=old, proposed=self._rate(tails, heads), damping=settings.damping, bound=settings.bound)
        similarities = terrain.similarities.copy()
        similarities[arcs] = new
        return Refined(terrain=replace(terrain, similarities=similarities), edits=self._edits("re-weight", tails, heads, old, new))

    def _strongest(self, terrain: Terrain, arcs: IntArray) -> IntArray:
        """Return half as many arcs as may be rated, those between the strongest nodes first."""
        strength = np.minimum(terrain.scores[terrain.tails[arcs]], terrain.scores[terrain.heads[arcs]])
        return arcs[np.argsort(-strength, kind="stable")][: self.desk.settings.gate.pairs // 2]

    def _similarities(self, tails: IntArray, heads: IntArray) -> FloatArray:
        # Of two passages that say the same, the last bit of the cosine may pass 1; a rating or an arc's similarity may not.
        return np.clip(pair_cosines(vectors=self.graph.vectors, first=tails, second=heads), -1.0, 1.0)

    def _rate(self, tails: IntArray, heads: IntArray) -> FloatArray:
        """Have the reader rate the steps from one passage to the other."""
        ends = sorted({*tails.tolist(), *heads.tolist()})
        nodes = {node.id: node for node in self.desk.snapshot.nodes_by_id([self.graph.ids[end] for end in ends])}
        pairs = [(nodes[self.graph.ids[a]], nodes[self.graph.ids[b]]) for a, b in zip(tails.tolist(), heads.tolist(), strict=True)]
        return np.array(
            self.desk.reader.rate_pairs(self.question, pairs, self._similarities(tails, heads).tolist()), dtype=np.float64
        )

    def _edits(self, kind: str, tails: IntArray, heads: IntArray, before: FloatArray, after: FloatArray) -> tuple[GraphEdit, ...]:
        ids = self.graph.ids
        rows = zip(tails.tolist(), heads.tolist(), before.tolist(), after.tolist(), strict=True)
        return tuple(GraphEdit(kind, ids[tail], ids[head], old, new) for tail, head, old, new in rows if old != new)
