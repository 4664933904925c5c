import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.standing import LONGEST_GAP, excerpt, find_words, verbatim_terms, without_controls, words_around


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


CHART = "Where people work Ellary 418 Braye yard 212 Corran 137 Sula 96 Design office 71"


@pytest.mark.parametrize(
    ("weights", "most", "part"),
    [
        ({"bray": 1.0, "yard": 1.0}, 4, "418 Braye yard 212"),
        ({"corran": 2.0, "sula": 1.0}, 3, "Corran 137 Sula"),
        ({"corran": 1.0, "peopl": 2.0}, 2, "people work"),
        ({"absent": 1.0}, 3, "Where people work"),
        ({"yard": 0.0}, 2, "Where people"),
        ({}, 2, "Where people"),
        ({"yard": 1.0}, 99, CHART),
    ],
)
def test_the_run_with_most_of_the_question_is_taken(weights, most, part):
    assert excerpt(CHART, weights=weights, most_words=most) == part


def test_what_stands_on_either_side_of_the_terms_is_kept():
    assert excerpt("a b c d word e f g h", weights={"word": 1.0}, most_words=5) == "c d word e f"


def test_of_two_places_that_hold_the_same_the_first_is_taken_whole():
    assert excerpt("word b c d e f g h word", weights={"word": 1.0}, most_words=3) == "word b c"


@pytest.mark.parametrize(
    ("wanted", "most", "part"),
    [
        ("e", 3, "d (e) f"),
        ("e", 4, "d (e) f g"),
        ("a", 3, "a b c"),
        ("h", 3, "f g h."),
        ("c d", 3, "c d (e)"),
        ("b c d e", 2, "b c d (e)"),
        ("d", 99, "a b c d (e) f g h."),
    ],
)
def test_words_are_shown_with_those_around_them_and_all_of_them_in_any_case(wanted, most, part):
    text = "a b\nc d (e) f\tg h."
    start, end = find_words(text, wanted)
    assert words_around(text, start=start, end=end, most_words=most) == part


def test_a_text_without_words_has_an_empty_excerpt():
    assert excerpt(" \n", weights={"a": 1.0}, most_words=3) == ""


@given(st.lists(st.sampled_from(["cost", "a", "red", "5"]), max_size=30), st.integers(1, 12))
def test_an_excerpt_is_a_run_of_the_words_and_not_too_long(words, most):
    part = excerpt("\n".join(words), weights={"cost": 1.0, "red": 2.0}, most_words=most).split()
    assert len(part) == min(most, len(words))
    assert any(words[place : place + len(part)] == part for place in range(len(words) + 1))


def test_only_terms_of_the_source_stay_whatever_their_case_and_spaces():
    source = "The Corran\nSound array  delivered 4.2 GWh in 2021."
    terms = ["corran sound", "Corran Sound", "tidal energy", "4.2 GWh", "2021"]
    assert verbatim_terms(terms=terms, source=source, limit=10) == ("corran sound", "4.2 GWh", "2021")


def test_without_a_source_every_term_stays():
    assert verbatim_terms(terms=["Axis", "legend", "axis"], source=None, limit=10) == ("Axis", "legend")


def test_signs_of_formulas_go_and_a_term_of_nothing_else_goes_whole():
    source = r"where $x_{i}$ is the power \alpha"
    assert verbatim_terms(terms=[r"$x_{i}$", "$ {}", "power"], source=source, limit=10) == ("x_ i", "power")


def test_there_are_no_more_terms_than_asked_for():
    assert verbatim_terms(terms=["a", "b", "c"], source="a b c", limit=2) == ("a", "b")


def test_controls_become_spaces():
    assert without_controls("a\x00b\n\tc\x1b[31m d\x85") == "a b c [31m d"
    assert without_controls("क्‍ष stays") == "क्‍ष stays"
