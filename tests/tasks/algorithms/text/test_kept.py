import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.questions.terms import question_terms
from tasks.algorithms.text.kept import asked_part, asked_stems, kept_stems, names_in, neighbouring_pairs, parts_of, says_something
from tasks.algorithms.text.stems import words_of


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ('Which slides show a boat? Write the answer as a list, e.g. ["Slide 1", "Slide 4"].', "Which slides show a boat?"),
        ("Who signed it? Please give the answer in one word.", "Who signed it?"),
        ("How much? Your answer should be rounded.", "How much?"),
        ("Is it so? Directly answer yes or no.", "Is it so?"),
        ("Give the list of members. Who left?", "Give the list of members. Who left?"),
        ("What does [NA] mean?", "What does [NA] mean?"),
        ("It fell in May. Why?", "It fell in May. Why?"),
        ("", ""),
        ("   ", "   "),
    ],
)
def test_words_about_the_form_of_the_answer_are_left_out(question, asked):
    assert asked_part(question) == asked


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Merrow Tidal Systems pay in Port Aldre?", ["Merrow Tidal Systems", "Port Aldre"]),
        ("What did New York, New Jersey and General Mills pay?", ["York", "Jersey", "Mills"]),
        ("Is the Bank of England in London or the bank of a river?", ["Bank of England", "London"]),
        ("Costs of CS-09 and GPT-4?", ["CS-09", "GPT-4"]),
        ("GDP in May?", ["GDP"]),
        ("Costs in the US?", ["US"]),
        ("Best practices of Best Tidal", ["Tidal"]),
        ("What Is The Revenue Of The Company?", []),
        ("WHAT IS THE REVENUE OF MERROW?", []),
        ("One Two Three Alpha Beta Gamma Delta Epsilon Zeta", ["Alpha Beta Gamma Delta Epsilon Zeta"]),
        ("what costs 3 pounds?", []),
        ("", []),
    ],
)
def test_names_are_capitalised_words_in_a_row(question, names):
    assert [" ".join(name) for name in names_in(question)] == names


def asked(question):
    return asked_stems(question, question_terms(question).stems)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("debt-to-equity", ("debt", "equiti")),
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
    assert kept_stems("The costs of the turbine, and - as before - costs in the US") == (
        "cost",
        "turbin",
        "cost",
        "US",
    )
    assert kept_stems("x 7 of it") == ("7",)
    assert kept_stems("") == ()


def test_a_question_keeps_what_stands_next_to_what():
    assert asked("What is the return on assets, and the return on equity?") == ("return", "asset", "return", "equiti")
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
    assert list(kept_stems(text)) == [part for word in words_of(text) if says_something(word) for part in parts_of(word)]
