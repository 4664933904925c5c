"""The paper's terrain: the graph's own arcs, diverse sources, sinks that can answer."""

from dataclasses import replace

import numpy as np

from storage.candidate_graph import MODALITIES
from storage.records import EdgeKind, Modality
from tasks.ask_settings import RoutingSettings
from tasks.prize_terrain import kept_arcs, paper_terrain, told_of_terrain
from tests.tasks.routing_worlds import a_graph, scored

SETTINGS = RoutingSettings(formulation="paper", sources=2, sinks=2, diversity=1)
EDGES = [(0, 4, EdgeKind.SEMANTIC, 0.9), (4, 0, EdgeKind.SEMANTIC, 0.2), (0, 3, EdgeKind.PART_OF, 0.1)]


def test_the_arcs_are_the_graphs_own_and_all_usable():
    terrain = paper_terrain(a_graph(EDGES), scored(n0=0.8, n4=0.7), SETTINGS)
    assert list(zip(terrain.tails.tolist(), terrain.heads.tolist(), strict=True)) == [(0, 4), (0, 3)]
    assert (terrain.similarities.tolist(), terrain.usable.tolist()) == ([0.9, 0.1], [True, True])
    assert (terrain.sources.tolist(), terrain.sinks.tolist()) == ([0, 4], [0, 4])


def test_a_weak_similarity_is_pruned_and_a_weak_relation_of_the_layout_is_not():
    assert kept_arcs(a_graph(EDGES), SETTINGS).tolist() == [True, False, True]
    assert kept_arcs(a_graph(EDGES), RoutingSettings(minimum_similarity=0.95)).tolist() == [False, False, True]


def test_a_figure_answers_better_than_a_text_of_the_same_score():
    graph = a_graph()
    figures = graph.modalities.copy()
    figures[7] = MODALITIES.index(Modality.FIGURE)
    terrain = paper_terrain(replace(graph, modalities=figures), scored(n2=0.5, n7=0.5), SETTINGS)
    assert terrain.sinks.tolist() == [7, 2]


def test_the_lineage_is_told_what_arcs_scores_and_ends_are():
    terrain = paper_terrain(a_graph(EDGES), scored(n0=0.8), SETTINGS)
    changed = replace(terrain, similarities=np.array([0.5, 0.1]))
    told, other = told_of_terrain(terrain), told_of_terrain(changed)
    assert {name for name in told if told[name] != other[name]} == {"similarities"}
