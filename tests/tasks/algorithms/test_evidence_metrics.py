import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.evidence_metrics import irrelevant_ratio, perfect_recall, recall

PAGES = st.sets(st.sampled_from("abcdefgh"))
GOLD = st.sets(st.sampled_from("abcdefgh"), min_size=1)


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


@given(PAGES, GOLD)
def test_recall_is_perfect_just_where_all_of_the_gold_is_found(returned, gold):
    assert perfect_recall(returned=returned, gold=gold) == (recall(returned=returned, gold=gold) == 1) == (not gold - returned)


@given(PAGES, PAGES, GOLD)
def test_more_pages_never_lower_the_recall(returned, more, gold):
    for metric in (perfect_recall, recall):
        assert 0 <= metric(returned=returned, gold=gold) <= metric(returned=returned | more, gold=gold) <= 1


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd"), min_size=1))
def test_a_page_named_twice_counts_once(returned, gold):
    for metric in (perfect_recall, recall, irrelevant_ratio):
        assert metric(returned=returned, gold=gold) == metric(returned=set(returned), gold=set(gold))


@pytest.mark.parametrize("metric", [perfect_recall, recall, irrelevant_ratio])
def test_without_gold_pages_nothing_is_measured(metric):
    with pytest.raises(ValueError, match="gold pages are empty; measure only questions whose evidence is known"):
        metric(returned=["a"], gold=[])
