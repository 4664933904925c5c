"""Where words stand in a text, what of it is shown, and how it is summed up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.standing import LONGEST_GAP, excerpt, find_words, verbatim_terms, without_controls, words_around
from tasks.algorithms.text.summaries import is_meaningless_text, summarize
from tasks.algorithms.text.words import count_words


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("The  gearbox\nfailed because a seal was cut.", "the gearbox failed", "The  gearbox\nfailed"),
        ("| Total revenue | 184.6 | 152.3 |", "Total revenue: 184.6", "Total revenue | 184.6"),
        ("costs $1,850.", "1850", "1,850"),
        ("costs 1850 Nm", "1,850", "1850"),
        ("it grew by −5 %", "-5 %", "−5"),  # noqa: RUF001 - a minus as documents have it
        ("in 2020–2023", "2020-2023", "2020–2023"),  # noqa: RUF001
        ("First this. Then that. So there.", "First this ... So there", "First this. Then that. So there"),
        ("収益は10億円です", "収益は10", "収益は10"),
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
        ("cart inside", "art in"),
        ("it fell by -5 %", "5"),
        ("see 10 to 3", "10-3"),
        ("a c", "c ... a"),
        ("a c", "a b"),
        ("a " + "b " * LONGEST_GAP + "c", "a ... c"),
        ("anything", ""),
        ("anything", "?!"),
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
    assert verbatim_terms(terms=["Axis", "legend", "axis"], source=None, limit=10) == ("Axis", "legend")
    assert verbatim_terms(terms=["a", "b", "c"], source="a b c", limit=2) == ("a", "b")


def test_signs_of_formulas_go_and_a_term_of_nothing_else_goes_whole():
    source = r"where $x_{i}$ is the power \alpha"
    assert verbatim_terms(terms=[r"$x_{i}$", "$ {}", "power"], source=source, limit=10) == ("x_ i", "power")


def test_controls_become_spaces():
    assert without_controls("a\x00b\n\tc\x1b[31m d\x85") == "a b c [31m d"
    assert without_controls("क्‍ष stays") == "क्‍ष stays"


ENTRY = "Smith, J. and Doe, A. (2019). A study of rivers. Journal of Water, vol. 3, pp. 12-19."
PROSE = "As Smith (2019) and Doe (2020) found, rivers flow north; Lee (2021) disagreed, and most of the later work took his side."
STATEMENT = "Net sales ........ 46,298\nCost of sales ........ 35,505\nMargin ........ 10,793\nOther ........ 12\nTax ........ 9"


@pytest.mark.parametrize(
    ("text", "title", "meaning"),
    [
        ("", "", False),
        ("*** --- ///", "", False),
        ("#&%$ a ()[]{}<>", "", False),
        ("This page intentionally left blank.", "", False),
        (ENTRY, "References", False),
        ("[12] Someone. Something.", "7. REFERENCES", False),
        (f"{ENTRY} {ENTRY} {ENTRY}", "Appendix", False),
        ("Introduction ........ 1\nMethods . . . . . . 12\nResults .......... 30\nIndex ........ 30", "Contents", False),
        ("42%", "", True),
        (ENTRY, "Introduction", True),
        (PROSE, "Related work", True),
        (f"{ENTRY} {PROSE * 5}", "Related work", True),
        ("Please bring two letters from former employers.", "References", True),
        (STATEMENT, "Results", True),
        ("Name ........ Street ........ Town ........", "", True),
        ("这是一个关于河流的句子。", "", True),
    ],
)
def test_texts_have_meaning_or_none(text, title, meaning):
    assert is_meaningless_text(text=text, title=title, is_prose=True) is not meaning


def test_signs_are_the_nature_of_formulas_and_tables():
    assert not is_meaningless_text(text="| 1 | - | - | - | - | - |", title="", is_prose=False)
    assert is_meaningless_text(text="| - | - |", title="", is_prose=False)


# Weights: solar 2 (it stands twice), panels 1, filler 1, nice 1, weather 1 (twice, at half the rarity).
# Scores: 1.25 x 2 / sqrt 2 = 1.77 for the first sentence, 3 / sqrt 2 = 2.12 for the second, 2 / sqrt 2 = 1.41 for the last.
RARITY = {"solar": 1.0, "panels": 1.0, "weather": 0.5, "nice": 1.0, "filler": 1.0}
GREEK = dict.fromkeys(("alpha", "beta", "gamma", "delta", "epsilon"), 1.0)
SOLAR = ["filler weather.", "solar solar panels.", "nice weather."]


@pytest.mark.parametrize(
    ("sentences", "rarity", "title", "words", "summary"),
    [
        (["Revenue grew.", "Costs\nfell."], {}, (), 4, "Revenue grew. Costs fell."),
        (SOLAR, RARITY, (), 3, "solar solar panels."),
        (SOLAR, RARITY, (), 5, "filler weather. solar solar panels."),
        (["alpha.", "beta gamma.", "delta epsilon."], GREEK, {"delta"}, 2, "delta epsilon."),
        (["one long sentence about rivers"], {}, (), 3, "one long sentence …"),
        (["rivers flow north.", "of the."], {"rivers": 1.0}, (), 4, "rivers flow north."),
    ],
)
def test_the_best_sentences_worked_by_hand(sentences, rarity, title, words, summary):
    assert summarize(sentences=sentences, rarity=rarity, title_words=title, words=words) == summary


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1), st.integers(5, 20))
def test_a_summary_is_short_and_never_empty(sentences, words):
    summary = summarize(sentences=sentences, rarity={}, title_words=(), words=words)
    assert summary
    assert count_words(summary.removesuffix(" …")) <= words
