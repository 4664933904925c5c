import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, R, nDCG

from tasks.algorithms.metrics.rankings import (
    cut_of_mean,
    irrelevant_ratio,
    perfect_recall,
    ranking_metrics,
    recall,
    recall_at_mean,
    shares_of_cut,
)

PAGES = st.sets(st.sampled_from("abcdefgh"))
GOLD = st.sets(st.sampled_from("abcdefgh"), min_size=1)
RANKED = st.lists(st.sampled_from("abcdefgh"), unique=True)


def test_metrics_worked_by_hand():
    # Three pages returned, two of them gold; one gold page of three is missed.
    returned, gold = [("report", 4), ("report", 9), ("annex", 4)], [("report", 4), ("annex", 4), ("report", 5)]
    assert perfect_recall(returned=returned, gold=gold) == 0
    assert recall(returned=returned, gold=gold) == pytest.approx(2 / 3)
    assert irrelevant_ratio(returned=returned, gold=gold) == pytest.approx(1 / 3)
    assert perfect_recall(returned=returned, gold=gold[:2]) == recall(returned=returned, gold=gold[:2]) == 1


def test_a_reader_that_returns_nothing_finds_nothing_and_does_not_look_clean():
    assert (perfect_recall(returned=[], gold=[1]), recall(returned=[], gold=[1]), irrelevant_ratio(returned=[], gold=[1])) == (
        0,
        0,
        1,
    )


@given(PAGES, GOLD)
def test_metrics_are_those_of_the_reference(returned, gold):
    relevant = [ir_measures.Qrel("q", page, 1) for page in gold]
    run = [ir_measures.ScoredDoc("q", page, 1.0) for page in returned] or [ir_measures.ScoredDoc("other", "a", 1.0)]
    expected = ir_measures.calc_aggregate([ir_measures.SetP, ir_measures.SetR], relevant, run)
    assert recall(returned=returned, gold=gold) == pytest.approx(expected[ir_measures.SetR])
    assert 1 - irrelevant_ratio(returned=returned, gold=gold) == pytest.approx(expected[ir_measures.SetP])


@pytest.mark.parametrize("metric", [perfect_recall, recall, irrelevant_ratio])
def test_without_gold_pages_nothing_is_measured(metric):
    with pytest.raises(ValueError, match="gold pages are empty; measure only questions with known evidence"):
        metric(returned=["a"], gold=[])


UP_TO = range(1, 11)


def test_metrics_of_a_ranking_worked_by_hand():
    # Pages 7, 3 and 5 hold the answer; of the first three 7 stands second, 5 comes fourth, 3 is not ranked.
    metrics = ranking_metrics(ranked=[1, 7, 2, 5], gold={7, 3, 5}, cutoffs=(1, 3, 5))
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert metrics == pytest.approx(
        {
            "recall@1": 0,
            "precision@1": 0,
            "ndcg@1": 0,
            "mrr@1": 0,
            "recall@3": 1 / 3,
            "precision@3": 1 / 3,
            "ndcg@3": 1 / math.log2(3) / ideal,
            "mrr@3": 1 / 2,
            "recall@5": 2 / 3,
            "precision@5": 2 / 5,
            "ndcg@5": 1 / math.log2(3) / ideal,  # page 5 stands below the third rank, and three pages are gold
            "mrr@5": 1 / 2,
        }
    )


def reference(measures, ranked, gold):
    """What ir-measures says; it leaves out a question for which nothing was ranked."""
    relevant = [ir_measures.Qrel("q", page, 1) for page in gold]
    run = [ir_measures.ScoredDoc("q", page, -float(rank)) for rank, page in enumerate(ranked)]
    return ir_measures.calc_aggregate(measures, relevant, run or [ir_measures.ScoredDoc("other", "a", 0.0)])


@given(RANKED, GOLD)
def test_recall_precision_and_reciprocal_rank_are_those_of_the_reference(ranked, gold):
    names = {f"{name}@{k}": measure @ k for k in UP_TO for name, measure in (("recall", R), ("precision", P), ("mrr", RR))}
    expected = reference(list(names.values()), ranked, gold)
    metrics = ranking_metrics(ranked=ranked, gold=gold, cutoffs=UP_TO)
    assert {name: metrics[name] for name in names} == pytest.approx({name: expected[measure] for name, measure in names.items()})


@given(RANKED, GOLD)
def test_the_gain_is_the_usual_one_at_most_as_deep_as_there_are_gold_pages(ranked, gold):
    expected = reference([nDCG @ k for k in UP_TO], ranked, gold)
    metrics = ranking_metrics(ranked=ranked, gold=gold, cutoffs=UP_TO)
    for cutoff in UP_TO:
        assert metrics[f"ndcg@{cutoff}"] == pytest.approx(expected[nDCG @ min(cutoff, len(gold))])
        assert metrics[f"ndcg@{cutoff}"] <= expected[nDCG @ cutoff] + 1e-12


def test_an_empty_ranking_earns_nothing_and_no_cutoff_gives_no_metric():
    assert set(ranking_metrics(ranked=[], gold=["a"], cutoffs=[1, 5]).values()) == {0.0}
    assert ranking_metrics(ranked=["a"], gold=["a"], cutoffs=[]) == {}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ranked", [("report", 2), ("report", 1), ("report", 2)], r"page \('report', 2\) twice; keep the better place"),
        ("gold", [], "gold pages are empty; measure only"),
    ],
)
def test_what_cannot_be_measured_is_refused_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        ranking_metrics(**{"ranked": [("report", 1)], "gold": [("report", 1)], "cutoffs": [1], name: value})


def test_a_cut_between_two_pages_weighs_both_cuts():
    ranked, gold = [4, 9, 1, 7, 3, 8], {9, 3}
    assert [recall_at_mean(ranked=ranked, gold=gold, mean_pages=pages) for pages in range(7)] == [0, 0, 0, 0, 0, 1, 1]
    assert recall_at_mean(ranked=ranked, gold=gold, mean_pages=4.3) == pytest.approx(0.3)


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
