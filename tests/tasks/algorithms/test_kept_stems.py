import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.kept_stems import asked_stems, kept_stems, neighbouring_pairs, parts_of, says_something
from tasks.algorithms.question_terms import question_terms
from tasks.algorithms.word_stems import stems_of, words_of


def asked(question):
    return asked_stems(question, question_terms(question).stems)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("debt-to-equity", ("debt", "equity")),
        ("Long-term", ("term",)),
        ("FY2021", ("2021",)),
        ("R&D", ("r&d",)),
        ("turbines", ("turbin",)),
        ("年収入", ("年収", "収入")),
    ],
)
def test_a_compound_counts_by_its_parts_and_any_other_word_by_itself(word, parts):
    assert parts_of(word) == parts


def test_words_that_say_something_stay_in_order_with_repetitions():
    assert kept_stems("The costs of the turbine, and - as before - costs in the US", named=frozenset()) == (
        "cost",
        "turbin",
        "cost",
        "US",
    )
    assert kept_stems("x 7 of it", named=frozenset()) == ("7",)
    assert kept_stems("", named=frozenset()) == ()


def test_a_name_keeps_its_word_without_meaning():
    assert kept_stems("best of Best Buy", named={"best", "buy"}) == ("best", "best", "buy")
    assert kept_stems("best of Best Buy", named=frozenset()) == ("buy",)


def test_a_question_keeps_what_stands_next_to_what():
    assert asked("What is the return on assets, and the return on equity?") == ("return", "asset", "return", "equity")
    assert asked("How high is long-term debt on page 14? Write the answer as an integer.") == ("high", "term", "debt")
    assert asked("What was sold on pages 2019-2020, and in 2020?") == ("sold", "2020", "2020")
    assert asked("?!") == ()


def test_pairs_of_neighbours_stand_once_in_the_order_asked():
    assert neighbouring_pairs(("high", "debt", "high", "debt")) == (("high", "debt"), ("debt", "high"))
    assert neighbouring_pairs(("debt",)) == ()


@given(st.text(max_size=200))
def test_the_stems_of_a_question_are_among_its_terms(question):
    assert set(asked(question)) <= set(question_terms(question).stems)


@given(st.text(max_size=200))
def test_nothing_but_words_that_say_nothing_is_left_out(text):
    said = [part for word in words_of(text) if says_something(word) for part in parts_of(word)]
    everything = {stem for word in words_of(text) for stem in stems_of(word)}
    assert list(kept_stems(text, named=frozenset())) == said
    assert list(kept_stems(text, named=everything)) == [part for word in words_of(text) for part in parts_of(word)]
