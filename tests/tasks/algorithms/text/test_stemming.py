import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.stems import stem, stems_of, words_of


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
        "annual annually",
        "house houses housing",
        "family families",
        "supply supplies supplied",
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
        "news new",
        "early ear",
        "string str",
        "speed spe",
        "apply app",
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


@pytest.mark.parametrize("words", ["Выручка выручки выручку", "έσοδα έσοδο", "लड़का लड़के", "الكتاب كتاب"])
def test_words_of_other_scripts_have_the_stemmer_of_their_language(words):
    assert len({stem(word) for word in words.split()}) == 1


LANGUAGES = """
from tasks.algorithms.text.counting import CodedTexts, Vocabulary, code_texts, count_stems
from tasks.algorithms.text.stems import stem
words = Vocabulary()
texts = CodedTexts.of(code_texts(["Die Häuser am Fluss", "Der Fluss"], words), words)
print(count_stems(texts, [stem("Haus")]).ravel().tolist(), stem("выручки") == stem("Выручка"))
"""


@pytest.mark.parametrize(("language", "counts"), [("", "[0.0, 0.0]"), ("english", "[0.0, 0.0]"), ("German", "[1.0, 0.0]")])
def test_words_in_latin_letters_have_the_stemmer_that_the_environment_names(language, counts):
    environment = {**os.environ, "FLOWREADER_LANGUAGE": language}
    done = subprocess.run([sys.executable, "-c", LANGUAGES], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{counts} True\n"


def test_scripts_without_a_stemmer_are_folded_in_case_only():
    assert stem("収益は高い") == "収益は高い" and stem("ኢትዮጵያዊነት") == "ኢትዮጵያዊነት"


def test_threads_share_the_stemmers():
    words = [
        f"{beginning}{ending}" for beginning in ("install", "control", "turbin") for ending in ("s", "ed", "ing", "ation")
    ] * 200
    alone = [stem.__wrapped__(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem.__wrapped__, words)) == alone


@given(st.text(max_size=30))
def test_any_text_has_a_stem_that_does_not_depend_on_plain_case(text):
    assert isinstance(stem(text), str)
    assert stem(text.lower()) == stem(text.lower().capitalize().lower())


@given(st.from_regex(r"[a-z]{4,12}", fullmatch=True))
def test_a_stem_keeps_the_beginning_of_its_word(word):
    assert stem(word)[:2] == word[:2]
    assert len(stem(word)) >= 2


@pytest.mark.parametrize(
    ("word", "stems"),
    [
        ("turbines", ["turbin"]),
        ("COVID-19", ["covid-19", "covid"]),
        ("follow-ups", ["follow-ups", "follow", "ups"]),
        ("and/or", ["and/or"]),
        ("CS-09", ["cs-09"]),
        ("2019/2020", ["2019/2020", "2019", "2020"]),
        ("FY2021", ["fy2021", "2021"]),
        ("1,234.5", ["1234.5"]),
        ("U.S.", ["US"]),
        ("収入高", ["収入", "入高"]),
        ("年", ["年"]),
        ("GDP成長", ["成長", "gdp"]),
    ],
)
def test_a_word_counts_for_itself_and_its_parts(word, stems):
    assert list(stems_of(word)) == stems


def test_signs_are_no_words():
    assert words_of("Up 7%, (net) \u2014 R&D.") == ["Up", "7%", "net", "R&D"]
