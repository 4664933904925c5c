import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.evolution import Links, candidates_of, links_after, lite_round, not_evolved
from tests.tasks.algorithms.flow_worlds import unit_or_zero

LAYOUT = Links({(0, 1): 0, (1, 2): 0, (2, 3): 0}, {})


def test_candidates_are_the_nearest_and_the_linked_in_reading_order():
    found = candidates_of(
        rows=np.array([0, 2, 5]),
        indices=np.array([[1, 2], [2, 0], [1, 0]]),
        cosines=np.array([[0.9, 0.0], [0.8, 0.7], [0.8, -0.1]]),
        pairs=[(0, 1), (0, 5)],
        askable={0, 5},
    )
    # row 1 has no meaning; row 2 is not asked; 0 and 5 are linked though no cosine says so
    assert found == {0: (2, 5), 5: (0, 2)}


def test_a_node_without_candidates_is_not_asked():
    none = candidates_of(
        rows=np.array([0, 1]), indices=np.array([[1], [0]]), cosines=np.array([[0.0], [0.0]]), pairs=[], askable={0, 1}
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


def test_a_node_without_a_judgement_keeps_its_links_and_its_words():
    first = links_after(before=LAYOUT, candidates={1: [0, 3]}, named={1: {3: "cause"}}, number=1)
    second = links_after(before=first, candidates={1: [3], 3: [1]}, named={}, number=2)
    assert second.rounds == first.rounds and second.relation(1, 3) == "cause"
    third = links_after(before=second, candidates={3: [1]}, named={3: {}}, number=3)
    assert (1, 3) not in third.rounds and third.relation(1, 3) == ""


worlds = st.integers(1, 9).flatmap(lambda n: arrays(np.int8, (n, 4), elements=st.integers(-2, 2))).map(unit_or_zero)


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
    evolved = not_evolved(vectors)
    for number in range(1, rounds + 1):
        evolved = lite_round(before=evolved, number=number, neighbours=neighbours)
    return evolved


def test_one_round_worked_by_hand():
    # cos(0, 1) = 0.8, cos(1, 2) = 0.6, cos(0, 2) = 0; with one neighbour: 0 and 1 take each other, 2 takes 1.
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)
    evolved = evolve(vectors, 1, 1)
    sums = np.array([[1 + 0.64, 0.48], [0.8 + 0.8, 0.6], [0.48, 1 + 0.36]])
    assert np.allclose(evolved.vectors, sums / np.linalg.norm(sums, axis=1, keepdims=True), atol=1e-6)
    assert evolved.pairs.tolist() == [[0, 1], [1, 2]]
    assert evolved.rounds.tolist() == [1, 1]


# One round: in later ones a cosine may tie up to the last bit of the reference's own sums.
@given(worlds, st.integers(1, 5))
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
