"""Rounds by rules: windows, neighbours, and the links between documents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.records.documents import EdgeKind, Modality
from tasks.algorithms.evolution import lite_round
from tasks.content_graph.evolution import LinkableDocument, before_the_rounds, evolved_document, link_documents, window_pairs
from tasks.settings.ingest import EvolutionSettings
from tests.tasks.describing_worlds import node


def make_node(ordinal, modality=Modality.TEXT, meaningless=False):
    return node(ordinal, "x", id=f"n{ordinal}", document_id="d", modality=modality, meaningless=meaningless)


def unit_rows(seed, rows, columns=8):
    vectors = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def evolve(nodes, vectors, **changes):
    settings, evolved = EvolutionSettings(**changes), before_the_rounds(nodes, vectors)
    for number in range(1, settings.rounds + 1):
        evolved = lite_round(before=evolved, number=number, neighbours=settings.neighbours)
    return evolved_document(nodes=nodes, initial_vectors=vectors, evolved=evolved, settings=settings)


def pairs_of(edges, kind):
    return {(edge.source, edge.target) for edge in edges if edge.kind is kind}


def test_the_window_counts_text_nodes_only():
    nodes = [make_node(place, Modality.TABLE if place in (1, 4) else Modality.TEXT) for place in range(6)]
    assert sorted(map(tuple, window_pairs(nodes, 2).tolist())) == [(0, 2), (0, 3), (2, 3), (2, 5), (3, 5)]
    assert window_pairs(nodes[:1], 3).tolist() == []


def test_every_edge_has_both_arcs_and_weighs_the_cosine_of_the_last_vectors():
    nodes = [make_node(place, Modality.FIGURE if place % 4 == 3 else Modality.TEXT) for place in range(20)]
    vectors, edges = evolve(nodes, unit_rows(0, 20))
    rows = {node.id: row for node, row in zip(nodes, vectors.astype(np.float64), strict=True)}
    arcs = {(edge.source, edge.target): edge for edge in edges}
    assert len(arcs) == len(edges) > 20
    for edge in edges:
        assert edge.weight == pytest.approx(rows[edge.source] @ rows[edge.target], abs=2e-6)
        assert type(edge.weight) is float
        assert edge.weight >= 0.22
        back = arcs[edge.target, edge.source]
        assert (back.weight, back.kind, back.round) == (edge.weight, edge.kind, edge.round)
        assert edge.source_document == edge.target_document == "d"
    assert {edge.round for edge in edges if edge.kind is EdgeKind.SEMANTIC} <= {1, 2, 3}
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_visual_nodes_have_no_window_edges_but_find_their_like():
    nodes = [make_node(0), make_node(1, Modality.TABLE), make_node(2), make_node(3, Modality.FIGURE)]
    _, edges = evolve(nodes, np.tile(unit_rows(1, 1), (4, 1)))
    assert pairs_of(edges, EdgeKind.WINDOW) == {("n0", "n2"), ("n2", "n0")}
    assert ("n1", "n3") in pairs_of(edges, EdgeKind.SEMANTIC)


def test_a_node_without_meaning_moves_no_other_and_has_window_edges_only():
    vectors = unit_rows(2, 6) * 0.1 + 1
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    nodes = [make_node(place, meaningless=place == 2) for place in range(6)]
    evolved, edges = evolve(nodes, vectors)
    without, _ = evolve([node for node in nodes if not node.meaningless], np.delete(vectors, 2, axis=0))
    assert np.array_equal(np.delete(evolved, 2, axis=0), without)
    assert np.array_equal(evolved[2], vectors[2])
    assert any("n2" in pair for pair in pairs_of(edges, EdgeKind.WINDOW))
    assert not any("n2" in pair for pair in pairs_of(edges, EdgeKind.SEMANTIC))


def test_without_rounds_vectors_stay_and_edges_come_from_them():
    vectors = unit_rows(3, 12)
    evolved, edges = evolve([make_node(place) for place in range(12)], vectors, rounds=0)
    assert np.array_equal(evolved, vectors)
    assert {edge.kind for edge in edges} == {EdgeKind.WINDOW, EdgeKind.SEMANTIC}
    assert {edge.round for edge in edges} == {0}


def test_zero_vectors_and_weak_pairs_have_no_edges():
    vectors = np.zeros((4, 4), dtype=np.float32)
    vectors[0, 0] = vectors[1, 1] = 1
    evolved, edges = evolve([make_node(place) for place in range(4)], vectors, minimum_edge=0.0)
    assert edges == ()
    assert np.array_equal(evolved, vectors)


def test_no_nodes_and_only_nodes_without_meaning_are_fine():
    assert evolve([], np.zeros((0, 4), dtype=np.float32))[1] == ()
    vectors = unit_rows(4, 2)
    assert np.array_equal(evolve([make_node(0, meaningless=True), make_node(1, meaningless=True)], vectors)[0], vectors)


def make_document(name, seed, count):
    # Few distinct vectors: duplicates within and across documents, and ties at the limit.
    vectors = np.random.default_rng(seed).integers(-1, 2, size=(count, 3)).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    meaningless = np.random.default_rng(seed + 1).random(count) < 0.2
    return LinkableDocument.of(name, [f"{name}-{place}" for place in range(count)], meaningless, vectors)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=5), st.integers(0, 2**31), st.randoms(use_true_random=False))
def test_links_are_a_function_of_the_set_of_documents(counts, seed, random):
    corpus = [make_document(f"{place}", seed + 10 * place, count) for place, count in enumerate(counts)]
    chosen = EvolutionSettings(cross_links=2)

    def link_one_by_one(order):
        return {edge for place, own in enumerate(order) for edge in link_documents(own=own, others=order[:place], settings=chosen)}

    shuffled = corpus.copy()
    random.shuffle(shuffled)
    edges = link_one_by_one(corpus)
    assert link_one_by_one(shuffled) == edges
    for edge in edges:
        assert edge.source.startswith(f"{edge.source_document}-")
        assert edge.target.startswith(f"{edge.target_document}-")
        assert edge.source_document != edge.target_document
        assert any((other.source, other.target) == (edge.target, edge.source) for other in edges)


def test_nodes_without_meaning_are_not_linked():
    vectors = unit_rows(6, 1)
    first = LinkableDocument.of("a", ["a0"], [True], vectors)
    second = LinkableDocument.of("b", ["b0"], [False], vectors)
    assert link_documents(own=first, others=[second], settings=EvolutionSettings()) == ()
    assert link_documents(own=first, others=[], settings=EvolutionSettings()) == ()
