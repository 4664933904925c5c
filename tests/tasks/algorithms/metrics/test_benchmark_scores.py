import json
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.metrics.benchmark_scores import (
    Rules,
    anls,
    anls_of_lists,
    benchmark_score,
    edit_distance,
    f1_score,
    likeness,
    word_scores,
)

MMLONGBENCH, LONGDOCURL = Rules.MMLONGBENCH, Rules.LONGDOCURL
WORDS = st.text("abc xyz,.", min_size=1).filter(lambda text: text.strip(" ,."))
NUMBERS = st.integers(0, 10**6).map(str) | st.decimals(0, 1000, places=2).map(str)


def score(answer, known, answer_format="Str", rules=MMLONGBENCH):
    return benchmark_score(given=answer, answers=[known], answer_format=answer_format, rules=rules)


@pytest.mark.parametrize(
    ("answer", "known", "worth"),
    [
        ("kitten", "sitting", 1 - 3 / 7),  # exchange k and e, put in g
        ("The Cat [1]", "the cat", 1.0),
        ("$5 (about)", "'5'", 1.0),
        ("abcd", "abxy", 0.0),  # half of it differs
        ("a cat in a hat", "a cat", 0.0),
        ("2019-05-01", "2019-05-02", 0.0),  # one sign of ten, but a date
        ("https://a.example/b", "https://a.example/c", 0.0),
        ("a@b.example", "c@b.example", 0.0),
        ("main.py", "moin.py", 0.0),
        ("page 11", "page 12", 0.0),
        ("", "5", 0.0),
    ],
)
def test_words_are_worth_what_is_alike_and_addresses_and_dates_all_or_nothing(answer, known, worth):
    assert score(answer, known) == pytest.approx(worth)


@pytest.mark.parametrize(
    ("answer", "known", "answer_format", "worth"),
    [
        ("45", "45", "Int", 1.0),
        ("There are 45 of them. [2]", "45", "Int", 1.0),
        ("46", "45", "Int", 0.0),
        ("less than 45", "45", "Int", 0.0),
        ("none", "45", "Int", 0.0),
        ("1,234", "1234", "Int", 1.0),
        ("12.4", "12.5", "Float", 1.0),  # within a hundredth
        ("12.3", "12.5", "Float", 0.0),
        ("0.125", "12.5%", "Float", 1.0),
        ("6.3 million", "6.3", "Float", 1.0),  # as it is written
        ("0.004", "0.0", "Float", 1.0),  # to two decimals, for the known one has no more
        ("3.3", "3 or 4", "Float", 0.0),
    ],
)
def test_numbers_are_equal_within_a_hundredth_and_whole_ones_exactly(answer, known, answer_format, worth):
    assert [score(answer, known, answer_format, rules) for rules in Rules] == [worth, worth]


def test_only_mmlongbench_cuts_the_decimals_off_a_count():
    assert (score("45.7", "45", "Int"), score("45.7", "45", "Int", LONGDOCURL)) == (1.0, 0.0)


def test_a_list_is_worth_its_worst_item_or_the_mean_of_the_best():
    known = json.dumps(["Rome", "Paris", "London"])
    assert [score("Paris, London and Rome", known, "List", rules) for rules in Rules] == [1.0, 1.0]
    assert score("Paris; London; Roma", known, "List") == 0.75
    assert score("Paris; London; Roma", known, "List", LONGDOCURL) == pytest.approx((1 + 1 + 0.75) / 3)
    # A missing item, and a fourth one that nobody asked for.
    assert [score("Paris; London", known, "List", rules) for rules in Rules] == [0.0, pytest.approx(2 / 3)]
    longer = "Paris; London; Rome; Ulm"
    assert [score(longer, known, "List", rules) for rules in Rules] == [0.0, pytest.approx(sqrt(3 / 4))]
    assert [score("[1998, 2004]", "[1998, 2003]", "List", rules) for rules in Rules] == [0.0, 0.0]
    assert [score("[2003, 1998]", "[1998, 2003]", "List", rules) for rules in Rules] == [1.0, 0.0]


def test_longdocurl_takes_units_and_signs_between_thousands_for_no_part_of_an_answer():
    assert (score("12 kg", "12"), score("12 kg", "12", rules=LONGDOCURL)) == (0.0, 1.0)
    assert (score("£1,200", "1200"), score("£1,200", "1200", rules=LONGDOCURL)) == (0.0, 1.0)


def test_the_best_of_the_known_answers_counts():
    assert benchmark_score(given="four", answers=["3", "five || four"], answer_format="Str", rules=MMLONGBENCH) == 1.0
    assert anls(given="Sitting", answers=["", "kitten || sitting"]) == 1.0
    assert anls(given="kitten", answers=["sitting"]) == pytest.approx(4 / 7)
    assert anls(given="", answers=["sitting"]) == anls(given="abcd", answers=["abxy"]) == 0.0


def test_f1_worked_by_hand():
    # Four questions, one without an answer; one answerable one is not answered, the unanswerable one is.
    scores, answerable, answered = np.array([1.0, 0.5, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0, 1.0])
    recall, precision = 1.5 / 3, 1.5 / 3
    assert f1_score(scores=scores, answerable=answerable, given=answered) == pytest.approx(
        2 * recall * precision / (recall + precision)
    )
    assert f1_score(scores=scores, answerable=answerable, given=np.array([1.0, 1.0, 0.0, 0.0])) == pytest.approx(
        2 * 0.5 * 0.75 / (0.5 + 0.75)
    )
    # That it rightly answers nothing is no part of it.
    assert f1_score(scores=np.ones(1), answerable=np.zeros(1), given=np.zeros(1)) == 0.0


@given(st.text(), st.text(), st.sampled_from(["Str", "Int", "Float", "List", "None", ""]), st.sampled_from(Rules))
def test_whatever_is_answered_is_worth_between_nothing_and_one(answer, known, answer_format, rules):
    assert 0.0 <= score(answer, known, answer_format, rules) <= 1.0
    assert 0.0 <= anls(given=answer, answers=[known]) <= 1.0


@given(
    st.tuples(st.just("Str"), WORDS)
    | st.tuples(st.sampled_from(["Int", "Float"]), NUMBERS)
    | st.tuples(st.just("List"), st.lists(WORDS, min_size=1).map(json.dumps)),
    st.sampled_from(Rules),
)
def test_the_known_answer_itself_is_worth_one(known, rules):
    answer_format, answer = known
    assert score(answer, answer, answer_format, rules) == pytest.approx(1.0)


@given(st.text(max_size=9), st.text(max_size=9), st.text(max_size=9))
def test_edit_distances_are_distances(one, other, third):
    there = edit_distance(one, other)
    assert there == edit_distance(other, one) and (there == 0) == (one == other)
    assert abs(len(one) - len(other)) <= there <= max(len(one), len(other))
    assert there <= edit_distance(one, third) + edit_distance(third, other)
    assert likeness(one, other) == likeness(other, one)


@pytest.mark.parametrize(
    ("answer", "known", "worth"),
    [
        ("oak; ash", '["ash", "oak"]', 1.0),
        ("oak", '["ash", "oak"]', 0.5),
        ("oak; ash; elm", '["ash", "oak"]', 2 / 3),
        ("kitten; oak", '["oak", "sitting"]', (1 + 4 / 7) / 2),
        ("oak; oak", '["oak", "ash"]', 0.5),  # each known item once
        ("", '["oak"]', 0.0),
    ],
)
def test_items_of_a_list_are_matched_so_that_they_are_most_alike(answer, known, worth):
    assert anls_of_lists(given=answer, answers=[known]) == pytest.approx(worth)


@pytest.mark.parametrize(
    ("answer", "known", "question", "same", "f1"),
    [
        ("It is the Red Pier.", "red pier", "Which is open?", 1.0, 1.0),
        ("three piers", "3", "How many piers are there?", 1.0, 1.0),
        ("Yes, there are", "yes.", "Are there piers?", 1.0, 1.0),
        ("the red pier of Oddvik", "red pier", "Where?", 0.0, 2 * 2 / (4 + 2)),
        ("40 percent", "40%", "How much?", 1.0, 1.0),
        ("green", "red", "Which colour?", 0.0, 0.0),
        ("", "red", "Which colour?", 0.0, 0.0),
    ],
)
def test_slidevqas_words_are_the_same_but_for_what_says_nothing(answer, known, question, same, f1):
    assert word_scores(given=answer, answers=[known, "other words"], question=question) == (same, pytest.approx(f1))
