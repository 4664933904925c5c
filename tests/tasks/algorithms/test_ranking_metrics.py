import math

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, R, nDCG

from tasks.algorithms.evidence_metrics import recall
from tasks.algorithms.ranking_metrics import ranking_metrics

PAGES = "abcdefgh"
RANKED = st.lists(st.sampled_from(PAGES), unique=True)
GOLD = st.sets(st.sampled_from(PAGES), min_size=1)
UP_TO = range(1, 11)


def test_metrics_worked_by_hand():
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


def test_with_one_gold_page_the_gain_asks_only_who_is_first():
    for ranked, gain in ((["a", "b"], 1), (["b", "a"], 0)):
        assert ranking_metrics(ranked=ranked, gold={"a"}, cutoffs=[5])["ndcg@5"] == gain


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


@given(RANKED, GOLD)
def test_metrics_are_shares_and_recall_and_reciprocal_rank_never_fall_with_the_cutoff(ranked, gold):
    metrics = ranking_metrics(ranked=ranked, gold=gold, cutoffs=UP_TO)
    assert len(metrics) == 4 * len(UP_TO) and all(0 <= value <= 1 for value in metrics.values())
    for name in ("recall", "mrr"):
        values = [metrics[f"{name}@{cutoff}"] for cutoff in UP_TO]
        assert values == sorted(values)
    assert metrics["recall@10"] == recall(returned=ranked, gold=gold)


@given(RANKED, GOLD, st.sampled_from(UP_TO))
def test_what_stands_below_the_cutoff_changes_nothing(ranked, gold, cutoff):
    cut = ranking_metrics(ranked=ranked[:cutoff], gold=gold, cutoffs=[cutoff])
    assert cut == ranking_metrics(ranked=ranked, gold=gold, cutoffs=[cutoff])


@given(st.permutations(PAGES), GOLD)
def test_gold_pages_in_front_earn_everything(ranked, gold):
    front = sorted(ranked, key=lambda page: page not in gold)
    metrics = ranking_metrics(ranked=front, gold=gold, cutoffs=[len(gold)])
    assert set(metrics.values()) == {1.0}


def test_an_empty_ranking_earns_nothing_and_no_cutoff_gives_no_metric():
    assert set(ranking_metrics(ranked=[], gold=["a"], cutoffs=[1, 5]).values()) == {0.0}
    assert ranking_metrics(ranked=["a"], gold=["a"], cutoffs=[]) == {}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ranked", [("report", 2), ("report", 1), ("report", 2)], r"page \('report', 2\) twice; keep the better place"),
        ("gold", [], "gold pages are empty; measure only"),
        ("cutoffs", [5, 0], "the cutoff 0 keeps no page; give cutoffs of at least 1"),
        ("cutoffs", [-3], "the cutoff -3 keeps no page"),
    ],
)
def test_what_cannot_be_measured_is_refused_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        ranking_metrics(**{"ranked": [("report", 1)], "gold": [("report", 1)], "cutoffs": [1], name: value})
