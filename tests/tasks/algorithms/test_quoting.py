import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.quoting import Coverage, choose_quotes, joint_coverage, lost_anchors, quote_scores, term_shares
from tasks.algorithms.word_stems import stems_in

STEMS = ("turbin", "cost", "red")
WEIGHTS = (2.0, 1.0, 1.0)
PIECES = ["The turbine cost 3 pounds.", "It was red.", "The turbine is red.", "Nothing"]
BESIDES = ["", "Our turbine", "", ""]
NONE = [frozenset[str]()] * 4


def covered(pieces=PIECES, besides=BESIDES, given=NONE, stems=STEMS, weights=WEIGHTS):
    inside = marked([stems_in(piece) for piece in pieces], stems)
    beside = marked([stems_in(text) | known for text, known in zip(besides, given, strict=True)], stems)
    return Coverage(inside, beside & ~inside, term_shares(weights))


def marked(sets, stems):
    return np.array([[stem in held for stem in stems] for held in sets], dtype=bool).reshape(len(sets), len(stems))


def score(coverage, *, worths=None, fits=None, worth_share=0.0):
    count = len(coverage.inside)
    return quote_scores(
        coverage=coverage,
        worths=np.zeros(count) if worths is None else np.array(worths),
        fits=np.ones(count, dtype=bool) if fits is None else np.array(fits),
        beside_share=0.5,
        worth_share=worth_share,
        misfit=0.5,
    )


def choose(coverage, scores, *, fits=None, limit=3, least=0.5, gain=0.1):
    fits = np.ones(len(scores), dtype=bool) if fits is None else np.array(fits)
    return choose_quotes(coverage=coverage, scores=scores, fits=fits, limit=limit, least=least, gain=gain)


def test_a_piece_scores_the_share_of_the_terms_that_it_covers_and_less_for_those_beside_it():
    assert score(covered()).tolist() == [0.75, 0.5, 0.75, 0.0]


def test_a_given_stem_counts_as_beside_the_piece_unless_it_stands_in_it():
    given = [frozenset({"turbin"}), frozenset(), frozenset(), frozenset({"turbin"})]
    assert score(covered(given=given)).tolist() == [0.75, 0.5, 0.75, 0.25]


def test_a_piece_that_does_not_fit_scores_less():
    assert score(covered(), fits=[True, False, False, False]).tolist() == [0.75, 0.25, 0.375, 0.0]


def test_the_worth_of_the_node_takes_its_share_but_saves_no_piece_without_a_term():
    assert score(covered(), worths=[1.0, 0.0, 0.4, 1.0], worth_share=0.25) == pytest.approx([0.8125, 0.375, 0.6625, 0.0])


def test_a_further_quote_adds_what_is_open():
    coverage = covered(["the turbine cost", "the turbine costs", "red"], [""] * 3, NONE[:3])
    scores = score(coverage)
    assert choose(coverage, scores, least=0.3) == [0, 2]
    assert choose(coverage, scores, least=0.3, gain=0.3) == [0]
    assert choose(coverage, scores, least=0.4) == [0]
    assert choose(coverage, scores, least=0.3, limit=1) == [0]
    assert choose(coverage, scores, least=0.3, fits=[True, True, False]) == [0]
    assert joint_coverage(coverage=coverage, chosen=[0, 2], beside_share=0.5) == pytest.approx(1.0)


def test_the_best_piece_is_quoted_although_it_does_not_fit():
    coverage = covered(["the turbine cost"], [""], NONE[:1])
    assert choose(coverage, score(coverage, fits=[False]), fits=[False]) == [0]


def test_what_stands_beside_a_chosen_quote_is_not_open():
    coverage = covered(["the cost", "the turbine"], ["of a turbine", ""], NONE[:2])
    assert choose(coverage, score(coverage), least=0.0) == [0]


def test_a_question_whose_words_stand_nowhere_has_no_quote():
    coverage = covered(["other", "words"], ["", ""], NONE[:2])
    assert choose(coverage, score(coverage)) == []
    assert joint_coverage(coverage=coverage, chosen=[], beside_share=0.5) == 0.0
    assert choose(covered(), score(covered()), limit=0) == []


def test_terms_without_weight_weigh_the_same():
    assert term_shares([0.0, 0.0]).tolist() == [0.5, 0.5]
    assert term_shares([]).tolist() == []


def test_no_pieces_and_no_terms_are_allowed():
    empty = covered([], [], [])
    assert score(empty).tolist() == []
    assert choose(empty, score(empty)) == []
    assert score(covered(["a"], [""], NONE[:1], (), ())).tolist() == [0.0]


def test_what_cannot_be_scored_is_refused():
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="weights of terms must be finite"):
            term_shares([wrong])
    with pytest.raises(ValueError, match="worths of nodes must be finite, from 0 to 1"):
        score(covered(), worths=[0.0, np.nan, 0.0, 0.0])


def test_an_anchor_is_lost_where_no_text_has_it():
    assert lost_anchors(anchors=("japan", "2024"), texts=["Chinese exports of 2024", "FY2024"]) == ("japan",)
    assert lost_anchors(anchors=(), texts=["a"]) == ()
    assert lost_anchors(anchors=("a1",), texts=[]) == ("a1",)


@given(
    st.lists(st.tuples(st.sampled_from(PIECES + BESIDES), st.sampled_from(PIECES + BESIDES), st.floats(0, 1)), max_size=8),
    st.tuples(st.floats(0, 10), st.floats(0, 10), st.floats(0, 10)),
    st.floats(0.01, 1),
)
def test_scores_stay_between_0_and_1_and_every_quote_adds_something(pieces, weights, gain):
    coverage = covered(
        [piece for piece, _, _ in pieces], [beside for _, beside, _ in pieces], [frozenset()] * len(pieces), STEMS, weights
    )
    scores = score(coverage, worths=[worth for _, _, worth in pieces], worth_share=0.3)
    assert np.all((scores >= 0) & (scores <= 1 + 1e-9))
    chosen = choose(coverage, scores, gain=gain)
    assert len(set(chosen)) == len(chosen) <= 3
    for count in range(1, len(chosen)):
        before = coverage.inside[chosen[:count]].any(axis=0)
        assert coverage.weights @ (coverage.inside[chosen[count]] & ~before) >= gain
    if chosen:
        assert scores[chosen[0]] == scores.max()
