"""What is quoted, and whether answers agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.layout.tables import Table, describe_rows
from tasks.algorithms.quotes import (
    Coverage,
    agreement,
    choose_quotes,
    different_answers,
    joint_coverage,
    mark_stems,
    pairs_to_compare,
    quote_scores,
    read_row,
    term_shares,
)
from tasks.algorithms.text.stems import stems_in

STEMS = ("turbin", "cost", "red")
WEIGHTS = (2.0, 1.0, 1.0)
PIECES = ["The turbine cost 3 pounds.", "It was red.", "The turbine is red.", "Nothing"]
BESIDES = ["", "Our turbine", "", ""]
NONE = [frozenset[str]()] * 4


def covered(pieces=PIECES, besides=BESIDES, given=NONE, stems=STEMS, weights=WEIGHTS):
    inside = mark_stems(stems, [stems_in(piece) for piece in pieces])
    beside = mark_stems(stems, [stems_in(text) | known for text, known in zip(besides, given, strict=True)])
    return Coverage(inside, beside & ~inside, term_shares(weights))


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


def test_a_piece_scores_the_share_of_the_terms_that_it_covers_and_less_for_those_around_it():
    assert score(covered()).tolist() == [0.75, 0.5, 0.75, 0.0]
    given = [frozenset({"turbin"}), frozenset(), frozenset(), frozenset({"turbin"})]
    assert score(covered(given=given)).tolist() == [0.75, 0.5, 0.75, 0.25], "a given stem counts as around the piece"
    assert score(covered(), fits=[True, False, False, False]).tolist() == [0.75, 0.25, 0.375, 0.0]
    # The worth of the node takes its share, but saves no piece without a term.
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


def test_what_stands_around_a_chosen_quote_is_not_open():
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


ACCOUNTS = Table(
    (("\u00a3 million", "2024", "2023"), ("Assets", "", ""), ("Total", "282.5", "251.0"), ("Cash", "9", "-")), header_rows=1
)


def test_a_row_is_read_into_its_cells_with_their_headers():
    text = describe_rows(ACCOUNTS, caption="Table 7: Accounts")[2]
    assert read_row(text, ACCOUNTS.rows[2]) == (("\u00a3 million", "Total"), ("2024", "282.5"), ("2023", "251.0"))
    assert read_row("only words", ("only words",)) == (("", "only words"),) and read_row("a | b", ()) == ()


def test_a_cell_that_holds_the_sign_between_cells_is_put_together():
    assert read_row("T | A: x | B: y | z", ("x", "y")) == (("A", "x"), ("B", "y | z"))


CELL = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=6)


@given(st.lists(CELL, min_size=2, max_size=4, unique=True), st.lists(CELL, min_size=4, max_size=4, unique=True))
def test_every_cell_of_a_row_is_read(header, cells):
    table = Table((tuple(header), tuple(cells[: len(header)])), header_rows=1)
    assert [cell for _, cell in read_row(describe_rows(table, caption="")[1], table.rows[1])] == list(table.rows[1])


@pytest.mark.parametrize(
    ("answers", "groups"),
    [
        (["184.6", " 184.6.", "15", "1.5"], [[0, 1], [2], [3]]),
        (["1,850 Nm", "1850 nm", "5 %", "5"], [[0, 1], [2], [3]]),
        (["The gearbox", "gearbox", "a  seal", "seal"], [[0, 1], [2, 3]]),
        (['"Yes"', "yes!", "no", "-5", "5"], [[0, 1], [2], [3], [4]]),
        (["7", "8", "7.", "9", "8"], [[0, 2], [1, 4], [3]]),
        (["1,5", "15"], [[0], [1]]),
        ([], []),
    ],
)
def test_answers_that_differ_by_form_alone_stand_together_in_the_order_in_which_they_came(answers, groups):
    assert different_answers(answers) == groups


def test_the_earliest_answers_are_compared_first_and_no_more_than_allowed():
    assert pairs_to_compare(4, limit=10) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert pairs_to_compare(11, limit=3) == [(0, 1), (0, 2), (0, 3)]
    assert len(pairs_to_compare(11, limit=10)) == 10
    assert pairs_to_compare(1, limit=10) == pairs_to_compare(0, limit=10) == pairs_to_compare(5, limit=0) == []


def test_a_single_dissenter_among_many_weighs_little_and_what_was_not_compared_nothing():
    assert agreement(sizes=[8, 1], compared=[(0, 1)], contradicting=[(0, 1)]) == pytest.approx(1 - 8 / 36)
    assert agreement(sizes=[1, 1], compared=[(0, 1)], contradicting=[(0, 1)]) == 0.0
    assert agreement(sizes=[1, 1, 1], compared=[(0, 1), (0, 2)], contradicting=[(0, 2)]) == 0.5
    assert agreement(sizes=[1, 1], compared=[], contradicting=[]) == agreement(sizes=[], compared=[], contradicting=[]) == 1.0
