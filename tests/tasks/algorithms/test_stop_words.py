"""The stop words are words as the tokeniser makes them, and none that carries a document's meaning."""

from tasks.algorithms.stop_words import STOP_WORDS


def test_stop_words_are_lower_case():
    assert {"the", "of", "and"} <= STOP_WORDS
    assert all(word == word.lower() and not word.isdigit() for word in STOP_WORDS)


def test_words_that_carry_meaning_are_no_stop_words():
    assert not {"revenue", "total", "year", "increase", "report"} & STOP_WORDS
