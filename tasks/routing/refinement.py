"""The three edits of System 2: bridges across the cut, more sources, arcs weighed anew (appendix C)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.records.answers import GraphEdit
from tasks.algorithms.arrays import FloatArray, IntArray, pages_of_nodes, pair_cosines
from tasks.algorithms.flow.prizes import downhill, page_leaders
from tasks.algorithms.flow.refinement import (
    Trigger,
    cut_pairs,
    damped_weights,
    expanded_sources,
    top_decile_arcs,
)
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, Question
from tasks.routing.routing import Routed
from tasks.routing.terrain import Terrain


def joined_both_ways(terrain: Terrain) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the usable arcs and of their reverse: two ends of either need no bridge."""
    tails, heads = terrain.tails[terrain.usable], terrain.heads[terrain.usable]
    return np.concatenate([tails, heads]), np.concatenate([heads, tails])


def laid_downhill(terrain: Terrain, pairs: IntArray) -> IntArray:
    """Return the pairs (p, 2), each from its higher to its lower node."""
    falls = downhill(heights=terrain.heights, tails=pairs[:, 0], heads=pairs[:, 1])
    return np.where(falls[:, None], pairs, pairs[:, ::-1])


def new_pages(graph: CandidateGraph, terrain: Terrain, *, near: IntArray, propagated: FloatArray, count: int) -> IntArray:
    """Return, of the nodes near the sources, those of the largest phi, one of each page on which no chain begins yet."""
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    fresh = np.zeros(len(graph), dtype=np.bool_)
    fresh[near] = ~np.isin(pages[near], pages[terrain.sources])
    return page_leaders(documents=graph.documents, pages=graph.pages, scores=np.where(fresh, propagated, 0.0), count=count)


def let_in(terrain: Terrain, *, entry: float) -> IntArray:
    """Return the sources that are worth the lower entry, but not that of the terrain."""
    prizes = terrain.scores[terrain.sources] / (terrain.scores.max(initial=0.0) or 1.0)
    return terrain.sources[(prizes >= entry) & (prizes < terrain.entry)]


@dataclass(frozen=True, slots=True)
class Refined:
    terrain: Terrain
    edits: tuple[GraphEdit, ...]


@dataclass(frozen=True, slots=True)
class TerrainEditor:
    """The edits of a question's terrain; what they propose the reader rates, within the number of pairs that is allowed."""

    question: Question
    graph: CandidateGraph
    context: AskContext

    @property
    def prizes(self) -> bool:
        """Whether visits earn; else the edits are the paper's."""
        return self.context.settings.routing.formulation == "prizes"

    def bridge(self, terrain: Terrain, routed: Routed) -> Refined:
        """T1: add arcs across the cut where the passages have to do with each other, and weigh those at the cut anew."""
        pairs = self._across(terrain, routed)
        rated = self._rate(pairs[:, 0], pairs[:, 1], bridges=True)
        accepted = np.flatnonzero(rated > self.context.settings.gate.bridge_above)
        tails, heads = pairs[accepted, 0], pairs[accepted, 1]
        weights = rated[accepted] if self.prizes else np.maximum(self._similarities(tails, heads), 0.0)
        reweighted = self.reweight(terrain, self._strongest_at(terrain, np.unique(pairs)))
        grown = replace(
            reweighted.terrain,
            tails=np.concatenate([terrain.tails, tails]),
            heads=np.concatenate([terrain.heads, heads]),
            similarities=np.concatenate([reweighted.terrain.similarities, weights]),
            usable=np.concatenate([terrain.usable, np.ones(len(accepted), dtype=np.bool_)]),
        )
        added = self._edits("bridge", tails, heads, np.zeros(len(accepted)), weights)
        return Refined(terrain=grown, edits=(*added, *reweighted.edits))

    def _across(self, terrain: Terrain, routed: Routed) -> IntArray:
        """Return the pairs to rate across the cut (p, 2), each as its arc would run."""
        tails, heads = joined_both_ways(terrain) if self.prizes else (terrain.tails, terrain.heads)
        pairs = cut_pairs(
            source_side=routed.cut.source_side,
            sink_side=routed.cut.sink_side,
            tails=tails,
            heads=heads,
            scores=terrain.scores,
            limit=self.context.settings.gate.pairs // 2,
        )
        return laid_downhill(terrain, pairs) if self.prizes else pairs

    def expand(self, terrain: Terrain, scores: NodeScores) -> Refined:
        """T3: let evidence start from more places near the sources, and weigh the arcs at the sources anew.

        Chains of prizes begin on new pages, and at less: sources that cost nothing would take the place of better ones.
        """
        settings = self.context.settings
        found = self._near(terrain, scores, count=len(self.graph) if self.prizes else settings.routing.sources)
        entry, begun = terrain.entry, found
        if self.prizes:
            found = new_pages(self.graph, terrain, near=found, propagated=scores.propagated, count=settings.routing.sources)
            entry *= settings.gate.entry_share
            begun = np.concatenate([found, let_in(terrain, entry=entry)])
        reweighted = self.reweight(terrain, self._strongest_at(terrain, terrain.sources))
        ids = self.graph.ids
        added = tuple(GraphEdit("source", ids[node], "", 0.0, float(terrain.scores[node])) for node in begun.tolist())
        grown = replace(reweighted.terrain, sources=np.concatenate([terrain.sources, found]), entry=entry)
        return Refined(terrain=grown, edits=(*added, *reweighted.edits))

    def _near(self, terrain: Terrain, scores: NodeScores, *, count: int) -> IntArray:
        return expanded_sources(
            sources=terrain.sources,
            tails=terrain.tails,
            heads=terrain.heads,
            propagated=scores.propagated,
            depth=self.context.settings.gate.depth,
            count=count,
        )

    def reweight(self, terrain: Terrain, arcs: IntArray) -> Refined:
        """T2: weigh arcs by what their step says to the question, damped and bounded."""
        settings = self.context.settings.gate
        arcs = arcs[: settings.pairs]
        tails, heads, old = terrain.tails[arcs], terrain.heads[arcs], terrain.similarities[arcs]
        new = damped_weights(
            old=old, proposed=self._rate(tails, heads, bridges=False), damping=settings.damping, bound=settings.bound
        )
        similarities = terrain.similarities.copy()
        similarities[arcs] = new
        return Refined(terrain=replace(terrain, similarities=similarities), edits=self._edits("re-weight", tails, heads, old, new))

    def _strongest_at(self, terrain: Terrain, nodes: IntArray) -> IntArray:
        """Return half as many of the usable arcs at the nodes as may be rated, those between the strongest first."""
        members = np.zeros(len(terrain.scores), dtype=np.bool_)
        members[nodes] = True
        arcs = np.flatnonzero(terrain.usable & (members[terrain.tails] | members[terrain.heads]))
        strength = np.minimum(terrain.scores[terrain.tails[arcs]], terrain.scores[terrain.heads[arcs]])
        return arcs[np.argsort(-strength, kind="stable")][: self.context.settings.gate.pairs // 2]

    def _similarities(self, tails: IntArray, heads: IntArray) -> FloatArray:
        # Of two passages that say the same, the last bit of the cosine may pass 1; a rating or an arc's similarity may not.
        return np.clip(pair_cosines(vectors=self.graph.vectors, first=tails, second=heads), -1.0, 1.0)

    def _rate(self, tails: IntArray, heads: IntArray, *, bridges: bool) -> FloatArray:
        ends = sorted({*tails.tolist(), *heads.tolist()})
        nodes = {node.id: node for node in self.context.snapshot.view.passages_by_id([self.graph.ids[end] for end in ends])}
        pairs = [(nodes[self.graph.ids[a]], nodes[self.graph.ids[b]]) for a, b in zip(tails.tolist(), heads.tolist(), strict=True)]
        similarities = self._similarities(tails, heads).tolist()
        return np.array(self.context.reader.rate_pairs(self.question, pairs, similarities, bridges=bridges), dtype=np.float64)

    def _edits(self, kind: str, tails: IntArray, heads: IntArray, before: FloatArray, after: FloatArray) -> tuple[GraphEdit, ...]:
        ids = self.graph.ids
        rows = zip(tails.tolist(), heads.tolist(), before.tolist(), after.tolist(), strict=True)
        return tuple(GraphEdit(kind, ids[tail], ids[head], old, new) for tail, head, old, new in rows if old != new)


@question_step("refine", lambda refined: {"edits": hash_bytes(repr(refined.edits).encode())}, reads=True)
def refine(
    question: Question,
    graph: CandidateGraph,
    scores: NodeScores,
    terrain: Terrain,
    routed: Routed,
    readings: Sequence[PathReading],
    trigger: Trigger,
    context: AskContext,
) -> Refined:
    """Edit the terrain for this reason alone, and lift the nodes that readers quoted."""
    editor = TerrainEditor(question, graph, context)
    if trigger is Trigger.LOW_SATURATION:
        refined = editor.bridge(terrain, routed)
    elif trigger is Trigger.NO_SUPPORT:
        refined = editor.expand(terrain, scores)
    else:
        refined = editor.reweight(terrain, top_decile_arcs(flow=routed.flow[: len(terrain.tails)]))
    return replace(refined, terrain=_lift_quoted(refined.terrain, graph, readings, context.settings.gate.cited_boost))


def _lift_quoted(terrain: Terrain, graph: CandidateGraph, readings: Sequence[PathReading], boost: float) -> Terrain:
    """Return the terrain with the nodes that were quoted lifted; no score passes 1."""
    quoted = {quote.node.id for reading in readings for quote in reading.quotes}
    lifted = terrain.scores + boost * np.isin(np.asarray(graph.ids), sorted(quoted))
    return replace(terrain, scores=np.minimum(lifted, np.maximum(terrain.scores, 1.0)))
