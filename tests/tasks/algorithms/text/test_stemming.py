import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.stems import stem


@pytest.mark.parametrize(
    "words",
    [
        "company companies",
        "increase increases increased increasing increasingly",
        "plan plans planned planning",
        "make makes making",
        "install installs installed installing",
        "control controlled controlling",
        "value values valued",
        "box boxes",
        "hero heroes",
        "class classes",
        "movie movies",
        "study studies studied studying",
        "add added adding",
        "agree agreed agreeing",
        "easy easily",
        "probable probably",
        "annual annually",
        "house houses housing",
        "family families",
        "supply supplies supplied",
        "analysis analyses",
        "child children",
        "colour color colours",
        "organisation organization",
        "programme programmes program",
        "GPU GPUs gpu",
        "Café cafe",
        "U.K. UK uk",
        "1,234 1234",
        "20 20%",
        "company\u2019 company'",
    ],
)
def test_a_word_and_its_inflections_have_one_stem(words):
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    "words",
    [
        "plane plan",
        "rate rat",
        "hope hop",
        "united unit",
        "news new",
        "early ear",
        "string str",
        "speed spe",
        "moral morale",
        "human humane",
        "apply app",
        "hardly hard",
        "wind wine",
        "organ organize",
        "US us",
        "IT it",
        "is island",
        "focus foc",
        "31,2003 312003",
        "need ned",
    ],
)
def test_words_that_differ_in_meaning_keep_stems_of_their_own(words):
    one, other = words.split()
    assert stem(one) != stem(other)


def test_other_scripts_are_folded_in_case_only():
    assert stem("राजस्व") == "राजस्व"
    assert stem("Выручка") == "выручка"


@given(st.text(max_size=30))
def test_any_text_has_a_stem_that_does_not_depend_on_plain_case(text):
    assert isinstance(stem(text), str)
    assert stem(text.lower()) == stem(text.lower().capitalize().lower())


@given(st.from_regex(r"[a-z]{4,12}", fullmatch=True))
def test_a_stem_keeps_the_beginning_of_its_word(word):
    assert stem(word)[:2] == word[:2]
    assert len(stem(word)) >= 2
