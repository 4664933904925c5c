import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.questions.decomposed import sub_questions, uncovered
from tasks.algorithms.text.words import tokens_of


def asked(question, *titles, most=4):
    return sub_questions(question, titles=frozenset(titles), most=most)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Why did the pump fail, and what did it cost?", ["Why did the pump fail", "what did it cost"]),
        (
            "How many turbines do Merrow Tidal and Port Aldre have?",
            ["How many turbines do Merrow Tidal have?", "How many turbines do Port Aldre have?"],
        ),
        (
            "Which is larger, the sum for Aldre, for the Bank of England or for England?",
            [
                "Which is larger, the sum for Aldre?",
                "Which is larger, the sum for Bank of England?",
                "Which is larger, the sum for England?",
            ],
        ),
        (
            "Is Merrow's debt higher than that of Aldre in March 2021?",
            ["Is Merrow's debt higher than that in March 2021?", "Is debt higher than that of Aldre in March 2021?"],
        ),
        (
            "How much more do pumps cost in the U.S. compared to the U.K.?",
            ["How much more do pumps cost in the U.S.?", "How much more do pumps cost in the U.K.?"],
        ),
        (
            "In Aldre, do all of us pay what Merrow does? Answer in the format Python has for a list.",
            ["In Aldre, do all of us pay what does?", "do all of us pay what Merrow does?"],
        ),
        ("Is us the same as US or GDP?", ["Is us the same as US?", "Is us the same as GDP?"]),
    ],
)
def test_a_question_of_several_parts_or_of_names_that_it_compares_is_several(question, texts):
    assert asked(question) == tuple(texts)


@pytest.mark.parametrize(
    "question",
    [
        "What did Merrow Tidal pay in Port Aldre?",
        "How many turbines does Merrow Tidal have?",
        "How many turbines did Merrow have, in total, between March and May 2021, in FY 2022 and in Q3-2021?",
        "How many turbines are there?",
        "Who signed?",
        "",
    ],
)
def test_any_other_question_is_asked_as_it_is(question):
    assert asked(question) == (question,)


def test_the_title_of_the_document_is_no_name():
    question = "How many risks does the Survey of Merrow list for Aldre?"
    assert len(asked(question)) == 2
    assert asked(question, "survey") != asked(question, "survey", "merrow") == (question,)


def test_what_would_be_more_questions_than_may_be_asked_stays_one():
    names, parts = "How many are in Aldre, Merrow and Ostrand?", "Who? When? Why?"
    assert [len(asked(names, most=most)) for most in (1, 2, 3)] == [1, 1, 3]
    assert [len(asked(parts, most=most)) for most in (1, 2, 3)] == [1, 1, 3]
    assert asked(parts, most=2) == (parts,)


NAMES = st.sampled_from(["Merrow", "Port Aldre", "GDP", "Bank of England", "England", "U.S."])
WORDS = st.sampled_from(["how many", "of", "and", "the", "cost", ",", "2021", "May", "compared to", "than", "'s", "?"])


@given(st.lists(NAMES | WORDS, max_size=15).map(" ".join) | st.text(max_size=100), st.integers(1, 6))
def test_there_are_never_too_many_nor_a_word_that_was_not_asked(question, most):
    texts = asked(question, most=most)
    assert 1 <= len(texts) <= most
    for text in texts:
        assert set(tokens_of(text)) <= set(tokens_of(question))


@pytest.mark.parametrize("piece", ["of ", "Aldre   and ", ", ", "A & ", "Merrow\n\t "])
def test_a_long_hostile_question_is_read_in_time(piece):
    started = time.process_time()
    asked("How many Aldre or Merrow " + piece * (20_000 // len(piece)))
    asked("How many Aldre" + " " * 20_000 + "Merrow" + " " * 20_000 + piece)
    assert time.process_time() - started < 5


WEIGHTS = {"cost": 1.0, "turbin": 2.0, "merrow": 4.0, "aldr": 1.0}


@pytest.mark.parametrize(
    ("covered", "least", "lost"),
    [
        ([], 0.5, ("merrow", "turbin", "cost", "aldr")),
        ([{"merrow"}, {"other"}], 0.5, ("turbin", "cost", "aldr")),
        ([{"merrow"}], 0.51, ()),
        ([{"merrow", "aldr"}, {"turbin"}], 0.125, ("cost",)),
        ([{"merrow", "aldr"}, {"turbin"}], 0.126, ()),
        ([{"cost", "merrow"}, {"turbin", "aldr"}], 0.0, ()),
        ([], 1.0, ("merrow", "turbin", "cost", "aldr")),
    ],
)
def test_what_no_quote_covers_is_missing_where_it_weighs_enough(covered, least, lost):
    assert uncovered(weights=WEIGHTS, covered=covered, least=least) == lost


def test_a_weight_that_is_no_number_is_refused():
    assert uncovered(weights={}, covered=[], least=0.5) == ()
    with pytest.raises(ValueError, match="weights of stems must be finite"):
        uncovered(weights={"cost": np.nan}, covered=[], least=0.5)


STEMS = st.sets(st.sampled_from("abcdef"))


@given(st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 10)), st.lists(STEMS, max_size=4), STEMS, st.floats(0, 1))
def test_a_further_quote_never_leaves_more_open(weights, covered, further, least):
    lost = set(uncovered(weights=weights, covered=covered, least=least))
    assert set(uncovered(weights=weights, covered=[*covered, further], least=least)) in (lost - further, set())
    assert uncovered(weights=weights, covered=[], least=1.0) == tuple(sorted(weights, key=lambda stem: -weights[stem]))
