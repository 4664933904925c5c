"""The three edits of System 2 as the paper has them: bridges across the cut, more sources, arcs weighed anew (appendix C)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.records.answers import GraphEdit
from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.flow.refinement import Trigger, cut_pairs, damped_weights, expanded_sources, top_decile_arcs
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, Question
from tasks.routing.paper import RoutedTerrain, Terrain
from tasks.routing.rating import graph_edits, lift_quoted, rate_steps, step_similarities


@dataclass(frozen=True, slots=True)
class Refined:
    terrain: Terrain
    edits: tuple[GraphEdit, ...]


@dataclass(frozen=True, slots=True)
class TerrainEditor:
    """The edits of a question's terrain; the reader rates their proposals, up to the allowed number of pairs."""

    question: Question
    graph: CandidateGraph
    context: AskContext

    def bridge(self, terrain: Terrain, routed: RoutedTerrain) -> Refined:
        """T1: add arcs across the cut where the passages have to do with each other, and weigh those at the cut anew."""
        settings = self.context.settings.gate
        pairs = cut_pairs(
            source_side=routed.cut.source_side,
            sink_side=routed.cut.sink_side,
            tails=terrain.tails,
            heads=terrain.heads,
            scores=terrain.scores,
            limit=settings.pairs // 2,
        )
        rated = self._rate(pairs[:, 0], pairs[:, 1], bridges=True)
        accepted = pairs[rated > settings.bridge_above]
        tails, heads = accepted[:, 0], accepted[:, 1]
        weights = np.maximum(step_similarities(self.graph, tails, heads), 0.0)
        reweighted = self.reweight(terrain, self._strongest_at(terrain, np.unique(pairs)))
        grown = replace(
            reweighted.terrain,
            tails=np.concatenate([terrain.tails, tails]),
            heads=np.concatenate([terrain.heads, heads]),
            similarities=np.concatenate([reweighted.terrain.similarities, weights]),
        )
        added = graph_edits("bridge", self.graph, tails, heads, np.zeros(len(accepted)), weights)
        return Refined(terrain=grown, edits=(*added, *reweighted.edits))

    def expand(self, terrain: Terrain, scores: NodeScores) -> Refined:
        """T3: let evidence start from more places near the sources, and weigh the arcs at the sources anew."""
        found = expanded_sources(
            sources=terrain.sources,
            tails=terrain.tails,
            heads=terrain.heads,
            propagated=scores.propagated,
            depth=self.context.settings.gate.depth,
            count=self.context.settings.routing.sources,
        )
        reweighted = self.reweight(terrain, self._strongest_at(terrain, terrain.sources))
        ids = self.graph.ids
        added = tuple(GraphEdit("source", ids[node], "", 0.0, float(terrain.scores[node])) for node in found.tolist())
        grown = replace(reweighted.terrain, sources=np.concatenate([terrain.sources, found]))
        return Refined(terrain=grown, edits=(*added, *reweighted.edits))

    def reweight(self, terrain: Terrain, arcs: IntArray) -> Refined:
        """T2: weigh arcs by what their step says to the question, damped and bounded."""
        settings = self.context.settings.gate
        arcs = arcs[: settings.pairs]
        tails, heads, old = terrain.tails[arcs], terrain.heads[arcs], terrain.similarities[arcs]
        proposed = self._rate(tails, heads, bridges=False)
        new = damped_weights(old=old, proposed=proposed, damping=settings.damping, bound=settings.bound)
        similarities = terrain.similarities.copy()
        similarities[arcs] = new
        edits = graph_edits("re-weight", self.graph, tails, heads, old, new)
        return Refined(terrain=replace(terrain, similarities=similarities), edits=edits)

    def _strongest_at(self, terrain: Terrain, nodes: IntArray) -> IntArray:
        """Return half as many of the arcs at the nodes as may be rated, those between the strongest first."""
        members = np.zeros(len(terrain.scores), dtype=np.bool_)
        members[nodes] = True
        arcs = np.flatnonzero(members[terrain.tails] | members[terrain.heads])
        strength = np.minimum(terrain.scores[terrain.tails[arcs]], terrain.scores[terrain.heads[arcs]])
        return arcs[np.argsort(-strength, kind="stable")][: self.context.settings.gate.pairs // 2]

    def _rate(self, tails: IntArray, heads: IntArray, *, bridges: bool) -> FloatArray:
        return rate_steps(self.question, self.graph, tails, heads, self.context, bridges=bridges)


@question_step("refine", lambda refined: {"edits": hash_bytes(repr(refined.edits).encode())}, reads=True)
def refine(
    question: Question,
    graph: CandidateGraph,
    scores: NodeScores,
    terrain: Terrain,
    routed: RoutedTerrain,
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
    every = np.arange(len(graph))
    scores_now = lift_quoted(refined.terrain.scores, every, graph, readings, context.settings.gate.cited_boost)
    return replace(refined, terrain=replace(refined.terrain, scores=scores_now))
