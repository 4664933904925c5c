"""Words stand in a text whole, in order, and nowhere by half."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.standing_words import LONGEST_GAP, find_words


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("The  gearbox\nfailed because a seal was cut.", "the gearbox failed", "The  gearbox\nfailed"),
        ("| Total revenue | 184.6 | 152.3 |", "Total revenue: 184.6", "Total revenue | 184.6"),
        ("costs $1,850.", "1850", "1,850"),
        ("costs 1850 Nm", "1,850", "1850"),
        ("it grew by −5 %", "-5 %", "−5"),  # noqa: RUF001 - a minus as documents have it
        ("up +5", "5", "5"),
        ("in 2020–2023", "2020-2023", "2020–2023"),  # noqa: RUF001
        ("an MT-3 on the quay", "MT-3", "MT-3"),
        ("First this. Then that. So there.", "First this ... So there", "First this. Then that. So there"),
        ("a b. a c", "a … c", "a b. a c"),
        ("収益は10億円です", "収益は10", "収益は10"),
        ("a a b", "a b", "a b"),
        ("STRASSE", "straße", "STRASSE"),
    ],
)
def test_words_stand_however_they_are_spaced_set_off_or_capitalised(text, words, found):
    assert text[slice(*find_words(text, words))] == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("15", "5"),
        ("1,184.6", "184.6"),
        ("1.5", "5"),
        ("cart inside", "art in"),
        ("it fell by -5 %", "5"),
        ("it grew by 5 %", "-5"),
        ("see 10 to 3", "10-3"),
        ("a c", "c ... a"),
        ("a c", "a b"),
        ("a " + "b " * LONGEST_GAP + "c", "a ... c"),
        ("anything", ""),
        ("anything", "..."),
        ("anything", "?!"),
        ("", "a"),
    ],
)
def test_what_does_not_stand_there_in_full_is_not_found(text, words):
    assert find_words(text, words) is None


@given(st.text(max_size=60), st.text(alphabet="ab1-., ", min_size=1, max_size=20), st.text(max_size=60))
def test_words_between_spaces_stand_in_the_text_that_was_made_of_them(before, words, behind):
    text = f"{before} {words} {behind}"
    span = find_words(text, words)
    assert (span is not None) == any(sign.isalnum() for sign in words.replace("...", " ")) or "..." in words
    assert span is None or 0 <= span[0] < span[1] <= len(text)


@given(st.text(max_size=80), st.text(max_size=30))
def test_whatever_is_looked_for_in_whatever_has_a_place_or_none(text, words):
    span = find_words(text, words)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
