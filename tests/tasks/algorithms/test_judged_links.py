"""The links of a round: worked examples by hand."""

import numpy as np

from tasks.algorithms.judged_links import Links, candidates_of, links_after

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


def test_a_node_without_a_judgement_keeps_its_links_and_what_it_said():
    first = links_after(before=LAYOUT, candidates={1: [0, 3]}, named={1: {3: "cause"}}, number=1)
    second = links_after(before=first, candidates={1: [3], 3: [1]}, named={}, number=2)
    assert second.rounds == first.rounds and second.relation(1, 3) == "cause"
    third = links_after(before=second, candidates={3: [1]}, named={3: {}}, number=3)
    assert (1, 3) not in third.rounds and third.relation(1, 3) == ""
