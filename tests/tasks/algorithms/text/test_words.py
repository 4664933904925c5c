import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.words import STOP_WORDS, count_words, first_words, looks_english, sentences_of, tokens_of, word_rarity


def test_stop_words_are_lower_case():
    assert {"the", "of", "and"} <= STOP_WORDS
    assert all(word == word.lower() and not word.isdigit() for word in STOP_WORDS)


def test_words_that_carry_meaning_are_no_stop_words():
    assert not {"revenue", "total", "year", "increase", "report"} & STOP_WORDS


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Revenue was 1,234.5 million, up 7%.", ["Revenue", "was", "1,234.5", "million", ",", "up", "7%", "."]),
        ("The U.S. GPT-4 and R&D", ["The", "U.S.", "GPT-4", "and", "R&D"]),
        ("Nike's plan", ["Nike", "'", "s", "plan"]),
        ("one\n\ntwo", ["one", "\n\n", "two"]),
        ("it costs $5", ["it", "costs", ";", "5"]),
        (r"let $x_{i}$ be \alpha small", ["let", ";", "be", ";", "small"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("النص العربي", ["النص", "العربي"]),
    ],
)
def test_tokens_are_words_numbers_and_signs(text, tokens):
    assert tokens_of(text) == tokens


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rose. It fell! Why? Nobody knows", ["It rose.", "It fell!", "Why?", "Nobody knows"]),
        ("Smith et al. Show it in Fig. 3 by J. Doe.", ["Smith et al. Show it in Fig. 3 by J. Doe."]),
        ("It grew, e.g. by 3.5 points.", ["It grew, e.g. by 3.5 points."]),
        ("- one\n- two", ["- one", "- two"]),
        ("\u7b2c\u4e00\u53e5\u3002\u7b2c\u4e8c\u53e5\u3002", ["\u7b2c\u4e00\u53e5\u3002", "\u7b2c\u4e8c\u53e5\u3002"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, sentences):
    assert sentences_of(text) == sentences


@given(st.text())
def test_no_visible_character_is_lost_between_sentences(text):
    assert "".join("".join(sentences_of(text)).split()) == "".join(text.split())


@given(st.text(), st.integers(1, 30))
def test_a_cut_text_is_no_longer_than_asked(text, limit):
    cut = first_words(text, limit)
    assert count_words(cut.removesuffix(" …")) <= limit
    assert bool(cut) == bool(text.split())


def test_a_cut_is_marked():
    assert first_words("one two, three", 2) == "one two …"
    assert first_words("one\ntwo", 2) == "one two"


def test_rarity_counts_a_single_text_as_two():
    rarity = word_rarity([frozenset("ab"), frozenset("ac"), frozenset("ac")])
    assert rarity == {"a": math.log(2), "b": math.log(2.5), "c": math.log(2.5)}


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("What does a unicorn eat?", True),
        ("HOW DEEP IS LOCH NESS?", True),
        ("Who founded Müller?", True),
        ("Name the zebra.", True),
        ("Is price of x y?", True),
        ("Was kostet ein Apfelkuchen mit Sahne?", False),
        ("Quel est le prix de la tarte ?", False),
        ("¿Cuánto cuesta la tarta?", False),
        ("Hvad koster en kage?", False),
        ("Wat is de prijs van de taart?", False),
        ("Какова выручка?", False),
        ("収益はいくらですか", False),
        ("كم الإيرادات؟", False),
        ("torque bolts", False),
        ("", False),
    ],
)
def test_english_is_known_by_its_small_words(question, english):
    assert looks_english(question) is english
