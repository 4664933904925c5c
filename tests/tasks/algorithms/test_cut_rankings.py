import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.cut_rankings import (
    cut_of_mean,
    irrelevant_when_cut,
    recall_at_mean,
    recall_when_cut,
    shares_of_cut,
)
from tasks.algorithms.evidence_metrics import irrelevant_ratio, perfect_recall

RANKED = st.lists(st.sampled_from("abcdefgh"), unique=True)
GOLD = st.sets(st.sampled_from("abcdefgh"), min_size=1)
WHEN_CUT = [(recall_when_cut, perfect_recall), (irrelevant_when_cut, irrelevant_ratio)]


def test_cuts_worked_by_hand():
    ranked, gold = [4, 9, 1, 7, 3, 8], {9, 3}
    assert [recall_when_cut(ranked=ranked, gold=gold, pages=pages) for pages in range(7)] == [0, 0, 0, 0, 0, 1, 1]
    irrelevant = [irrelevant_when_cut(ranked=ranked, gold=gold, pages=pages) for pages in range(7)]
    assert irrelevant == pytest.approx([1, 1, 1 / 2, 2 / 3, 3 / 4, 3 / 5, 4 / 6])


def test_a_cut_between_two_pages_weighs_both_cuts():
    ranked, gold = [4, 9, 1, 7, 3, 8], {9, 3}
    assert recall_at_mean(ranked=ranked, gold=gold, mean_pages=4.3) == pytest.approx(0.3)


@given(RANKED, GOLD, st.integers(0, 3))
def test_cut_at_its_length_or_beyond_a_ranking_is_whole(ranked, gold, beyond):
    for when_cut, whole in WHEN_CUT:
        assert when_cut(ranked=ranked, gold=gold, pages=len(ranked) + beyond) == whole(returned=ranked, gold=gold)


@given(RANKED, GOLD, st.floats(0, 10))
def test_at_a_mean_a_value_lies_between_those_of_the_cuts_beside_it(ranked, gold, mean):
    beside = [recall_when_cut(ranked=ranked, gold=gold, pages=pages) for pages in (math.floor(mean), math.ceil(mean))]
    assert min(beside) - 1e-12 <= recall_at_mean(ranked=ranked, gold=gold, mean_pages=mean) <= max(beside) + 1e-12


@given(RANKED, GOLD, st.lists(st.floats(0, 10), min_size=2, max_size=2).map(sorted))
def test_recall_never_falls_with_the_pages(ranked, gold, means):
    less, more = (recall_at_mean(ranked=ranked, gold=gold, mean_pages=mean) for mean in means)
    assert 0 <= less <= more <= 1


@given(RANKED, GOLD, st.integers(0, 10))
def test_a_whole_mean_is_a_plain_cut(ranked, gold, pages):
    at_mean = recall_at_mean(ranked=ranked, gold=gold, mean_pages=pages)
    assert at_mean == recall_when_cut(ranked=ranked, gold=gold, pages=pages)


def test_shares_worked_by_hand():
    assert shares_of_cut(5.0) == ((5, 1.0),)
    assert shares_of_cut(0.25) == ((0, 0.75), (1, 0.25))
    (below, most), (above, rest) = shares_of_cut(5.4)
    assert (below, above) == (5, 6) and (most, rest) == pytest.approx((0.6, 0.4))


@given(st.floats(0, 1e6))
def test_the_shares_add_up_to_one_and_their_cuts_to_the_mean(mean):
    cuts = shares_of_cut(mean)
    assert all(0 < share <= 1 for _, share in cuts) and math.fsum(share for _, share in cuts) == 1
    assert math.fsum(pages * share for pages, share in cuts) == pytest.approx(mean, rel=1e-12)


def test_rankings_that_are_too_short_raise_the_cut_of_the_others():
    # Kept at 6.5: 2 of the first, 6.5 of each other: 15 in all, 5 on average.
    assert cut_of_mean(lengths=np.array([2, 9, 40]), mean=5.0) == pytest.approx(6.5)
    assert cut_of_mean(lengths=np.array([30, 9, 40]), mean=5.4) == pytest.approx(5.4)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.floats(0, 1))
def test_rankings_cut_at_one_number_keep_the_mean_on_average(lengths, share):
    lengths = np.array(lengths)
    mean = share * float(lengths.mean())
    cut = cut_of_mean(lengths=lengths, mean=mean)
    kept = [math.fsum(part * min(pages, length) for pages, part in shares_of_cut(cut)) for length in lengths.tolist()]
    assert np.mean(kept) == pytest.approx(mean)
    assert mean - 1e-12 <= cut <= lengths.max()


def test_rankings_kept_whole_are_cut_at_the_longest():
    lengths = np.array([3, 1, 8])
    assert cut_of_mean(lengths=lengths, mean=float(lengths.mean())) == 8


@pytest.mark.parametrize("mean", [-0.1, math.nan, math.inf])
def test_what_is_no_mean_is_refused(mean):
    with pytest.raises(ValueError, match=rf"mean number of pages must be finite, from 0 to inf, not {mean}"):
        shares_of_cut(mean)


@pytest.mark.parametrize("when_cut", [recall_when_cut, irrelevant_when_cut])
def test_a_ranking_that_cannot_be_cut_is_refused(when_cut):
    with pytest.raises(ValueError, match="cannot be cut at -1 pages; give 0 or more"):
        when_cut(ranked=["a"], gold=["a"], pages=-1)
    with pytest.raises(ValueError, match="page 'a' twice"):
        when_cut(ranked=["a", "b", "a"], gold=["a"], pages=1)
    with pytest.raises(ValueError, match="gold pages are empty"):
        when_cut(ranked=["a"], gold=[], pages=1)


def test_a_mean_that_the_rankings_cannot_reach_is_refused():
    with pytest.raises(ValueError, match=r"mean number of pages must be finite, from 0 to 3, not 3\.5"):
        cut_of_mean(lengths=np.array([2, 4]), mean=3.5)
    with pytest.raises(ValueError, match="no ranking to cut; give the length of at least one"):
        cut_of_mean(lengths=np.zeros(0, dtype=np.int64), mean=0.0)
