"""System 2: one edit of the terrain, for the reason that the gate gave; then everything is routed and read again (appendix C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.candidate_graph import CandidateGraph
from tasks.algorithms.arrays import IntArray
from tasks.algorithms.refinement import Trigger, top_decile_arcs
from tasks.path_reader import PathReading
from tasks.question import AskDesk, Question, question_key
from tasks.retrieval import NodeScores
from tasks.routing import Routed
from tasks.step import step
from tasks.terrain import Terrain
from tasks.terrain_editor import Refined, TerrainEditor


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
    editor = TerrainEditor(question, graph, desk)
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
