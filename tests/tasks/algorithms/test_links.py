"""Who is whose neighbour, and how rounds of evolution change it: by hand, and against the definition in plain Python."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms import links
from tasks.algorithms.arrays import snap_fine
from tasks.algorithms.links import (
    Links,
    begin_evolution,
    candidates_of,
    kept_links,
    links_after,
    links_to_others,
    lite_round,
    nearest_neighbours,
    neighbour_pairs,
    unite_pairs,
)
from tests.tasks.algorithms.flow_worlds import unit_or_zero


def slow_neighbours(vectors, limit):
    """Sort all others of each row by falling cosine, then by row number."""
    fine = snap_fine(vectors)
    rows = range(len(fine))
    cosines = [[float(sum((fine[i] * fine[j]).tolist())) for j in rows] for i in rows]
    return [sorted((j for j in rows if j != i), key=lambda j: (-cosines[i][j], j))[:limit] for i in rows]


# Small whole numbers: zero vectors, duplicates and equal cosines are common.
vector_sets = st.integers(0, 8).flatmap(lambda n: arrays(np.int8, (n, 3), elements=st.integers(-2, 2))).map(unit_or_zero)


def mutual_links(*, first, second, minimum, limit):
    return links_to_others(
        own=first, others=second, starts=np.array([0, len(second)]), own_first=np.array([True]), minimum=minimum, limit=limit
    )


@given(vector_sets, st.integers(1, 6))
def test_neighbours_equal_a_full_sort(vectors, limit):
    indices, cosines = nearest_neighbours(vectors=vectors, limit=limit)
    assert indices.tolist() == slow_neighbours(vectors, limit)
    assert indices.shape == cosines.shape == (len(vectors), min(limit, max(len(vectors) - 1, 0)))


def test_neighbours_worked_by_hand():
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1], [0, 0]], dtype=np.float32)
    indices, cosines = nearest_neighbours(vectors=vectors, limit=2)
    assert indices.tolist() == [[1, 2], [0, 2], [1, 0], [0, 1]]
    assert np.allclose(cosines, [[0.8, 0], [0.8, 0.6], [0.6, 0], [0, 0]], atol=1e-6)


def test_blocks_and_groups_change_nothing(monkeypatch):
    vectors = unit_or_zero(np.random.default_rng(5).normal(size=(700, 16)))
    vectors[300:340] = vectors[7]  # more duplicates than the shortlist holds
    fine = snap_fine(vectors)
    exact = fine @ fine.T
    np.fill_diagonal(exact, -2)
    expected = np.argsort(-exact, axis=1, kind="stable")[:, :5]
    assert np.array_equal(nearest_neighbours(vectors=vectors, limit=5)[0], expected)
    monkeypatch.setattr(links, "BLOCK_CELLS", 7000)
    assert np.array_equal(nearest_neighbours(vectors=vectors, limit=5)[0], expected)
    monkeypatch.setattr(links, "GROUP_KEYS", 1000)
    assert np.array_equal(nearest_neighbours(vectors=vectors, limit=5)[0], expected)


def test_pairs_are_kept_once_and_only_above_a_cosine_of_zero():
    pairs = neighbour_pairs(indices=np.array([[1, 2], [0, 2], [1, 0]]), cosines=np.array([[0.9, 0.0], [0.9, 0.4], [0.4, -0.1]]))
    assert pairs.tolist() == [[0, 1], [1, 2]]


def test_a_pair_found_again_takes_the_later_round():
    pairs, rounds = unite_pairs(
        current=np.array([[0, 1], [0, 3]]),
        current_rounds=np.array([0, 1]),
        found=np.array([[0, 3], [1, 2]]),
        found_rounds=np.array([2, 2]),
    )
    assert pairs.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert rounds.tolist() == [0, 2, 2]


def slow_links(first, second, minimum, limit):
    a, b = snap_fine(first), snap_fine(second)
    cosine = {(i, j): sum((a[i] * b[j]).tolist()) for i in range(len(a)) for j in range(len(b))}
    links = []
    for (i, j), value in cosine.items():
        best_second = min(range(len(b)), key=lambda other: (-cosine[i, other], other))
        best_first = min(range(len(a)), key=lambda other: (-cosine[other, j], other))
        weight = round(min(max(value, 0.0), 1.0), 6)
        if (best_second, best_first) == (j, i) and weight > 0 and weight >= minimum:
            links.append((i, j, weight))
    return sorted(links, key=lambda link: (-link[2], link[0]))[:limit]


@given(vector_sets, vector_sets, st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 4))
def test_links_equal_the_definition(first, second, minimum, limit):
    assert mutual_links(first=first, second=second, minimum=minimum, limit=limit) == slow_links(first, second, minimum, limit)


@given(vector_sets, st.lists(st.tuples(vector_sets, st.booleans()), min_size=1, max_size=5), st.integers(0, 3))
def test_many_documents_at_once_equal_pair_by_pair(own, others, limit):
    starts = np.cumsum([0, *(len(other) for other, _ in others)])
    expected = []
    for (other, leads), begin in zip(others, starts.tolist(), strict=False):
        if leads:
            pair = [(i, begin + j, w) for i, j, w in mutual_links(first=own, second=other, minimum=0.3, limit=limit)]
        else:
            pair = [(i, begin + j, w) for j, i, w in mutual_links(first=other, second=own, minimum=0.3, limit=limit)]
        expected += pair
    assert expected == links_to_others(
        own=own,
        others=np.concatenate([other for other, _ in others]),
        starts=starts,
        own_first=np.array([leads for _, leads in others]),
        minimum=0.3,
        limit=limit,
    )


def test_the_size_of_a_block_changes_no_link(monkeypatch):
    random = np.random.default_rng(5)
    first, second = (unit_or_zero(random.integers(-1, 2, size=(count, 8))) for count in (40, 30))
    whole = mutual_links(first=first, second=second, minimum=0.1, limit=20)
    monkeypatch.setattr(links, "LINK_BLOCK_CELLS", 7 * 30)
    assert mutual_links(first=first, second=second, minimum=0.1, limit=20) == whole


LAYOUT = Links({(0, 1): 0, (1, 2): 0, (2, 3): 0}, {})


def test_candidates_are_the_nearest_and_the_linked_in_reading_order():
    found = candidates_of(
        rows=np.array([0, 2, 5]),
        indices=np.array([[1, 2], [2, 0], [1, 0]]),
        cosines=np.array([[0.9, 0.0], [0.8, 0.7], [0.8, -0.1]]),
        pairs=[(0, 1), (0, 5)],
        askable={0, 5},
        directed=False,
    )
    # row 1 has no meaning; row 2 is not asked; 0 and 5 are linked though no cosine says so
    assert found == {0: (2, 5), 5: (0, 2)}


def test_a_node_without_candidates_is_not_asked():
    none = candidates_of(
        rows=np.array([0, 1]),
        indices=np.array([[1], [0]]),
        cosines=np.array([[0.0], [0.0]]),
        pairs=[],
        askable={0, 1},
        directed=False,
    )
    assert none == {}


def test_what_was_named_is_linked_and_what_was_judged_and_not_named_goes():
    after = links_after(before=LAYOUT, candidates={1: [0, 2, 3]}, named={1: {3: "cause"}}, number=1)
    # (0, 1) and (1, 2) were judged by 1 and not named; (2, 3) nobody judged
    assert after.rounds == {(1, 3): 1, (2, 3): 0}
    assert after.relation(1, 3) == after.relation(3, 1) == "cause" and after.relation(2, 3) == ""


def test_one_of_two_is_enough_to_keep_a_link_and_each_says_its_own_relation():
    after = links_after(before=LAYOUT, candidates={0: [1], 1: [0, 2]}, named={0: {1: "part"}, 1: {2: "contrast"}}, number=2)
    assert after.rounds == {(0, 1): 2, (1, 2): 2, (2, 3): 0}
    both = links_after(before=LAYOUT, candidates={0: [1], 1: [0]}, named={0: {1: "part"}, 1: {0: "hierarchy"}}, number=2)
    assert (both.relation(0, 1), both.relation(1, 0)) == ("part", "hierarchy")


def test_directed_a_node_has_what_it_keeps_and_is_kept_by_whom_it_did_not_name():
    layout = Links(LAYOUT.rounds | {(high, low): 0 for low, high in LAYOUT.rounds}, {})
    after = kept_links(before=layout, candidates={1: [0, 2, 3], 2: [1]}, named={1: {3: "cause"}}, number=1)
    assert after.rounds == {(0, 1): 0, (2, 1): 0, (2, 3): 0, (3, 2): 0, (1, 3): 1} and after.relations == {(1, 3): "cause"}
    again = kept_links(before=after, candidates={1: [2], 3: [1, 2]}, named={1: {2: "part"}, 3: {}}, number=2)
    assert again.rounds == {(0, 1): 0, (2, 1): 0, (2, 3): 0, (1, 3): 1, (1, 2): 2}
    near = {"indices": np.zeros((4, 0), dtype=np.int64), "cosines": np.zeros((4, 0)), "askable": range(4), "rows": np.arange(4)}
    assert candidates_of(pairs=again.rounds, directed=True, **near) == {0: (1,), 1: (2, 3), 2: (1, 3)}


def test_a_node_without_a_judgement_keeps_its_links_and_its_words():
    first = links_after(before=LAYOUT, candidates={1: [0, 3]}, named={1: {3: "cause"}}, number=1)
    second = links_after(before=first, candidates={1: [3], 3: [1]}, named={}, number=2)
    assert second.rounds == first.rounds and second.relation(1, 3) == "cause"
    third = links_after(before=second, candidates={3: [1]}, named={3: {}}, number=3)
    assert (1, 3) not in third.rounds and third.relation(1, 3) == ""


four_columns = st.integers(1, 9).flatmap(lambda n: arrays(np.int8, (n, 4), elements=st.integers(-2, 2))).map(unit_or_zero)


def slow_evolution(vectors, rounds, neighbours):
    """The definition, word for word, in plain Python."""
    current = [[float(x) for x in row] for row in vectors]
    found = {}
    for number in range(1, rounds + 1):
        grid = [[round(x * 2**25) / 2**25 for x in row] for row in current]
        cosine = [[math.fsum(x * y for x, y in zip(a, b, strict=True)) for b in grid] for a in grid]
        following = []
        for i, row in enumerate(current):
            ranked = sorted((j for j in range(len(current)) if j != i), key=lambda j: (-cosine[i][j], j))[:neighbours]
            total = list(row)
            for j in ranked:
                if cosine[i][j] > 0:
                    found[min(i, j), max(i, j)] = number
                    total = [x + cosine[i][j] * y for x, y in zip(total, current[j], strict=True)]
            length = math.sqrt(math.fsum(x * x for x in total))
            following.append([float(np.float32(x / length)) if length else 0.0 for x in total])
        current = following
    return current, found


def evolve(vectors, rounds, neighbours):
    evolved = begin_evolution(vectors)
    for number in range(1, rounds + 1):
        evolved = lite_round(before=evolved, number=number, neighbours=neighbours)
    return evolved


# One round: in later ones a cosine may tie up to the last bit of the reference's own sums.
@given(four_columns, st.integers(1, 5))
def test_a_round_equals_the_definition_in_plain_python(vectors, neighbours):
    evolved = evolve(vectors, 1, neighbours)
    expected, found = slow_evolution(vectors, 1, neighbours)
    assert np.allclose(evolved.vectors, np.array(expected).reshape(vectors.shape), atol=1e-6)
    assert dict(zip(map(tuple, evolved.pairs.tolist()), evolved.rounds.tolist(), strict=True)) == found


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(0, 4))
def test_rounds_equal_the_definition_in_plain_python(seed, count, rounds):
    vectors = unit_or_zero(np.random.default_rng(seed).normal(size=(count, 6)))
    evolved = evolve(vectors, rounds, 3)
    expected, found = slow_evolution(vectors, rounds, 3)
    assert np.allclose(evolved.vectors, expected, atol=1e-5)
    assert dict(zip(map(tuple, evolved.pairs.tolist()), evolved.rounds.tolist(), strict=True)) == found
