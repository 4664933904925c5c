import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.quoting import choose_quotes, cover, joint_coverage, lost_anchors, quote_scores, supported

PIECES = ["The turbine cost 3 pounds.", "It was red.", "The turbine is red.", "Nothing"]
BESIDES = ["", "Our turbine", "", ""]
WEIGHTS = {"turbin": 2.0, "cost": 1.0, "red": 1.0}


def score(coverage, *, cosines=None, fits=None):
    fits = np.ones(len(coverage.inside), dtype=bool) if fits is None else np.array(fits)
    return quote_scores(coverage=coverage, cosines=cosines, fits=fits, beside_share=0.5, cosine_share=0.25, misfit=0.5)


def test_a_piece_scores_the_share_of_the_terms_that_it_covers_and_less_for_those_beside_it():
    coverage = cover(pieces=PIECES, besides=BESIDES, weights=WEIGHTS)
    assert score(coverage).tolist() == [0.75, 0.5, 0.75, 0.0]


def test_a_piece_without_what_is_asked_for_scores_less():
    coverage = cover(pieces=PIECES, besides=BESIDES, weights=WEIGHTS)
    assert score(coverage, fits=[True, False, False, False]).tolist() == [0.75, 0.25, 0.375, 0.0]


def test_a_cosine_takes_its_share_and_a_negative_one_is_none():
    coverage = cover(pieces=PIECES, besides=BESIDES, weights=WEIGHTS)
    assert score(coverage, cosines=np.array([1.0, -1.0, 0.0, 0.4])) == pytest.approx([0.8125, 0.375, 0.5625, 0.1])


def test_a_question_of_two_parts_finds_both():
    coverage = cover(
        pieces=["the turbine cost", "the turbine costs", "red"], besides=[""] * 3, weights={"turbin": 1, "cost": 1, "red": 1}
    )
    chosen = choose_quotes(coverage=coverage, scores=score(coverage), limit=2, least=0.3, redundancy=0.9)
    assert chosen == [0, 2]
    assert joint_coverage(coverage=coverage, chosen=chosen, beside_share=0.5) == pytest.approx(1.0)
    assert supported(coverage=coverage, chosen=chosen, beside_share=0.5, threshold=1.0 - 1e-9)


def test_what_scores_far_less_than_the_best_is_not_quoted():
    coverage = cover(pieces=PIECES, besides=BESIDES, weights=WEIGHTS)
    chosen = choose_quotes(coverage=coverage, scores=score(coverage), limit=9, least=0.7, redundancy=0.0)
    assert chosen == [0, 2]


def test_nothing_supports_a_question_whose_words_stand_nowhere():
    coverage = cover(pieces=["other", "words"], besides=["", ""], weights=WEIGHTS)
    chosen = choose_quotes(coverage=coverage, scores=score(coverage), limit=3, least=0.5, redundancy=0.5)
    assert chosen == []
    assert not supported(coverage=coverage, chosen=chosen, beside_share=0.5, threshold=0.0)
    assert joint_coverage(coverage=coverage, chosen=chosen, beside_share=0.5) == 0.0


def test_terms_without_weight_weigh_the_same():
    assert cover(pieces=["a b"], besides=[""], weights={"a": 0.0, "b": 0.0}).weights.tolist() == [0.5, 0.5]


def test_no_pieces_and_no_terms_are_allowed():
    empty = cover(pieces=[], besides=[], weights=WEIGHTS)
    assert score(empty).tolist() == []
    assert choose_quotes(coverage=empty, scores=score(empty), limit=3, least=0.5, redundancy=0.5) == []
    assert score(cover(pieces=["a"], besides=[""], weights={})).tolist() == [0.0]


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(ValueError, match="2 pieces have 1 texts"):
        cover(pieces=["a", "b"], besides=[""], weights={})
    with pytest.raises(ValueError, match="finite and at least 0"):
        cover(pieces=["a"], besides=[""], weights={"a": -1.0})
    with pytest.raises(ValueError, match="finite and at least 0"):
        cover(pieces=["a"], besides=[""], weights={"a": float("nan")})
    with pytest.raises(ValueError, match="1 cosines are no numbers"):
        score(cover(pieces=["a"], besides=[""], weights={"a": 1.0}), cosines=np.array([np.nan]))


def test_an_anchor_is_lost_where_no_text_has_it():
    assert lost_anchors(anchors=("japan", "2024"), texts=["Chinese exports of 2024", "FY2024"]) == ("japan",)
    assert lost_anchors(anchors=(), texts=["a"]) == ()
    assert lost_anchors(anchors=("a1",), texts=[]) == ("a1",)


@given(
    st.lists(st.tuples(st.sampled_from(PIECES + BESIDES), st.sampled_from(PIECES + BESIDES), st.floats(-1, 1)), max_size=8),
    st.dictionaries(st.sampled_from(["turbin", "cost", "red", "blue"]), st.floats(0, 10), max_size=4),
)
def test_scores_stay_between_0_and_1_and_quotes_are_distinct(pieces, weights):
    coverage = cover(pieces=[piece for piece, _, _ in pieces], besides=[beside for _, beside, _ in pieces], weights=weights)
    scores = score(coverage, cosines=np.array([cosine for _, _, cosine in pieces]))
    assert np.all((scores >= 0) & (scores <= 1 + 1e-9))
    chosen = choose_quotes(coverage=coverage, scores=scores, limit=3, least=0.5, redundancy=0.5)
    assert len(set(chosen)) == len(chosen) <= 3
    if chosen:
        assert scores[chosen[0]] == scores.max()
