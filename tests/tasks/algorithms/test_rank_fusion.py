from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.rank_fusion import fuse_rankings

PAGES = st.tuples(st.sampled_from("ab"), st.integers(1, 4))


def test_two_rankings_worked_by_hand():
    fused = fuse_rankings([[("a", 1), ("a", 2)], [("a", 2), ("b", 1)], []])
    assert list(fused) == [("a", 2), ("a", 1), ("b", 1)]
    assert list(fused.values()) == pytest.approx([1 / 61 + 1 / 62, 1 / 61, 1 / 62])


def test_equal_pages_go_by_document_and_number_and_a_page_counts_once_in_a_ranking():
    assert list(fuse_rankings([[("b", 1), ("a", 9)], [("a", 9), ("b", 1)]])) == [("a", 9), ("b", 1)]
    assert fuse_rankings([[("a", 1), ("a", 1), ("a", 2)]]) == {("a", 1): 1 / 61, ("a", 2): 1 / 62}
    assert fuse_rankings([]) == {}


@given(st.lists(st.lists(PAGES, unique=True), max_size=4), st.data())
def test_the_order_is_that_of_exact_sums_whatever_the_order_of_the_rankings(rankings, data):
    exact = {}
    for ranking in rankings:
        for rank, page in enumerate(ranking, 1):
            exact[page] = exact.get(page, 0) + Fraction(1, 60 + rank)
    fused = fuse_rankings(data.draw(st.permutations(rankings)))
    assert list(fused) == sorted(exact, key=lambda page: (-exact[page], page))
    assert list(fused.values()) == pytest.approx([float(exact[page]) for page in fused])
