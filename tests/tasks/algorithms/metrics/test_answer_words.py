import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.metrics.answer_words import (
    BOUNDS,
    NEGATIONS,
    abstains,
    answer_words,
    find_run,
    holds_all,
    items_of,
    meaningful,
    runs_in,
    same_words,
    statements_of,
    written_list,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Berlin School", "berlin  school."),
        ("a quiet and relaxed environment", "A quiet, relaxed environment".replace(",", " and")),
        ("10:08AM", "10:08 a.m."),
        ("U.S. index", "US index"),
        ("Iran's programs", "Iran\u2019s program"),
        ("82 per cent", "82%"),
        ("6.3M users", "6,300,000 user"),
        ("three charts", "3 charts"),
        (r"$\beta_{2}$", "\u03b22"),
        (r"\textbf{CoT} w. 5\,\% off", "CoT w. 5% off"),
        (r"$\mathrm{H}_2\text{O}$", "H2O"),
        ("Park & Avenues", "Park and Avenues"),
        ("post-hoc correction", "post hoc correction"),
        ("3840x2160", "3840 x 2160"),
        ("\uff21\uff22\uff23 \ufb01ne", "ABC fine"),
        ("http://dx.doi.org/10.1016/j", "http dx doi org 10.1016 j"),
    ],
)
def test_what_makes_no_difference_is_gone(one, other):
    assert answer_words(one) == answer_words(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Group A", "Group B"),
        ("Group A", "Group"),
        ("5", "-5"),
        ("5", "5%"),
        ("version 3.6.8", "version 3.6"),
        ("not profitable", "profitable"),
        ("1 2", "12"),
        ("6.3 M", "6.3M"),
    ],
)
def test_what_makes_a_difference_stays(one, other):
    assert answer_words(one) != answer_words(other) and not same_words(answer_words(one), answer_words(other))


def test_an_article_goes_only_before_a_word():
    assert answer_words("the") == ["the"] and answer_words("A") == ["a"] and answer_words("plan A, plan a") == ["plan", "a"] * 2
    assert answer_words("An oak and THE a tree") == ["oak", "and", "tree"]


def test_ideographs_are_words_of_their_own_and_versions_words_of_digits():
    assert answer_words("\u6771\u4eac v3.6.8") == ["\u6771", "\u4eac", "v", "3", "6", "8"]


def test_words_that_deny_are_written_as_answers_give_them():
    """A list that does not go through the same mill as the answers would never deny anything."""
    assert all(answer_words(word) == [word] for word in NEGATIONS) and answer_words("isn't") == ["isnt"]


def test_words_are_joined_or_not_but_numbers_never():
    assert same_words(["post", "hoc"], ["posthoc"]) and not same_words(["1", "23"], ["12", "3"])


def test_function_words_and_letters_are_not_meaningful():
    assert meaningful(["the", "b", "is", "yes", "-5", "5", "pyke", "\u6771", "%"]) == ["-5", "5", "pyke", "\u6771"]


def test_statements_are_lines_without_the_numbers_of_their_sources():
    assert statements_of("One [2005] thing. [1]\n\n  Another [2] [3] \n[4]") == ["One [2005] thing.", "Another"]
    assert statements_of(" \n") == []


@pytest.mark.parametrize(
    ("run", "words", "place"),
    [
        ("b c", "a b c b c", 1),
        ("b c", "b d c", -1),
        ("b", "not b or b", 3),
        ("b", "never x b", -1),
        ("b", "not x y b", 3),
        ("a b", "a", -1),
        ("45", "not rise to 45", -1),
        ("45", "not x y z 45", 4),
        ("45 x", "abov 45 x", -1),
        ("b", "more than b", 2),
    ],
)
def test_a_run_is_found_where_nothing_before_it_denies_it(run, words, place):
    assert find_run(run.split(), words.split()) == place


def test_every_place_of_a_run_is_found():
    assert list(runs_in(["b", "a", "not", "b", "x", "b"], ["b"])) == [0, 5]


def test_words_that_bound_are_known_by_their_stems_too():
    assert all(find_run(["5"], [*answer_words(word), "5"]) < 0 for word in BOUNDS)


@given(st.text(max_size=60))
def test_any_text_has_words_and_equals_itself_in_capitals(text):
    words = answer_words(text)
    assert all(words) and same_words(words, answer_words(f"  {text}\t"))


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        ('["Circle", "a, b and c", "7"]', ["Circle", "a, b and c", "7"]),
        ("[1, 2]", ["1", "2"]),
        ("red; green and blue", ["red", "green and blue"]),
        ("red\ngreen", ["red", "green"]),
        ("red, green, and 1,234 and blue", ["red", "green", "1,234", "blue"]),
        ("[red, green]", ["red", "green"]),
        ("red", ["red"]),
        ("; red;", ["red"]),
        ("[]", []),
        ("", []),
    ],
)
def test_a_list_is_read_however_it_is_written(answer, items):
    assert items_of(answer) == items


@pytest.mark.parametrize("answer", ["red", '"red"', '{"a": 1}', "[red]", "[" * 100_000, "7"])
def test_what_is_no_array_is_no_written_list(answer):
    assert written_list(answer) is None


def test_all_items_are_there_in_any_order_and_in_any_statement():
    assert holds_all(["gray", "red ball"], ["a red ball, blue", "and gray"])
    assert not holds_all(["gray", "red ball"], ["red and gray balls"])
    assert not holds_all(["gray", "red"], ["red, but not gray"])
    assert holds_all([], ["anything"]) and not holds_all(["?"], ["anything ?"])


def test_no_word_serves_two_items():
    items = ["birth", "place of birth", "member"]
    assert not holds_all(items, ["member, place of birth"]) and holds_all(items, ["member, place of birth, birth"])
    assert not holds_all(["2", "2"], ["2"]) and holds_all(["2", "2"], ["2 and 2"])


@pytest.mark.parametrize(
    ("answer", "abstaining"),
    [
        ("", True),
        (" \n", True),
        ("Not answerable", True),
        ("Not  answerable\n by the text", True),
        ("unanswerable.", True),
        ("not found in these documents", True),
        ("The question cannot be answered.", True),
        ("The answer is not given in the text", True),
        ("This can't be determined from the passages.", True),
        ("Unknown", True),
        ("No information is given about it.", True),
        ("The document does not mention any bike, or its colour.", True),
        ("These documents don't say who.", True),
        ("Insufficient information", True),
        ("I don't know", True),
        ("fail to answer", True),
        ("None", True),
        ("N/A", True),
        ("No", False),
        ("0", False),
        ("None of the three", False),
        ("Not answerable, but about 5", False),
        ("It was not found guilty", False),
        ("The report does not support wars", False),
        ("nation", False),
    ],
)
def test_what_says_that_there_is_no_answer_abstains(answer, abstaining):
    assert abstains(answer) is abstaining
