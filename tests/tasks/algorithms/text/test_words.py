"""Words: tokens, sentences, stems and keywords."""

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.keywords import document_phrases, keywords_of
from tasks.algorithms.text.stems import stem, stems_of
from tasks.algorithms.text.words import count_words, first_words, looks_english, sentences_of, tokens_of, word_rarity


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Revenue was 1,234.5 million, up 7%.", ["Revenue", "was", "1,234.5", "million", ",", "up", "7%", "."]),
        ("The U.S. GPT-4 and R&D", ["The", "U.S.", "GPT-4", "and", "R&D"]),
        ("Nike's plan", ["Nike", "'", "s", "plan"]),
        ("one\n\ntwo", ["one", "\n\n", "two"]),
        ("it costs $5", ["it", "costs", ";", "5"]),
        (r"let $x_{i}$ be \alpha small", ["let", ";", "be", ";", "small"]),
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
        ("Who founded Müller?", True),
        ("Is price of x y?", True),
        ("Was kostet ein Apfelkuchen mit Sahne?", False),
        ("Quel est le prix de la tarte ?", False),
        ("¿Cuánto cuesta la tarta?", False),
        ("Какова выручка?", False),
        ("كم الإيرادات؟", False),
        ("torque bolts", False),
        ("", False),
    ],
)
def test_english_is_known_by_its_small_words(question, english):
    assert looks_english(question) is english


@pytest.mark.parametrize(
    "words",
    [
        "company companies",
        "plan plans planned planning",
        "make makes making",
        "control controlled controlling",
        "box boxes",
        "hero heroes",
        "study studies studied studying",
        "agree agreed agreeing",
        "annual annually",
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
        "news new",
        "string str",
        "wind wine",
        "organ organize",
        "US us",
        "is island",
        "31,2003 312003",
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


@given(st.from_regex(r"[a-z]{4,12}", fullmatch=True))
def test_a_stem_keeps_the_beginning_of_its_word(word):
    assert stem(word)[:2] == word[:2]
    assert len(stem(word)) >= 2


@pytest.mark.parametrize(
    ("word", "stems"),
    [
        ("turbines", ["turbin"]),
        ("follow-ups", ["follow-ups", "follow", "ups"]),
        ("and/or", ["and/or"]),
        ("2019/2020", ["2019/2020", "2019", "2020"]),
        ("FY2021", ["fy2021", "2021"]),
        ("1,234.5", ["1234.5"]),
        ("U.S.", ["US"]),
        ("収入高", ["収入", "入高"]),
        ("GDP成長", ["成長", "gdp"]),
    ],
)
def test_a_word_counts_for_itself_and_its_parts(word, stems):
    assert list(stems_of(word)) == stems


def keywords(text, others=(), titles=(), limit=20):
    tokens = [tokens_of(part) for part in (text, *others)]
    rarity = word_rarity([frozenset(token.lower() for token in part) for part in tokens])
    return keywords_of(
        tokens=tokens[0], rarity=rarity, phrases=document_phrases(tokens), title_words=frozenset(titles), limit=limit
    )


def test_names_numbers_acronyms_and_years_are_terms():
    found = keywords(
        "In 2021 the Bank of America and the IMF lent $12.5 million, 43% more than to GPT-4 users in Berlin. X is 7 of 250."
    )
    assert {"2021", "Bank of America", "IMF", "12.5 million", "43%", "GPT-4", "users", "lent", "Berlin", "250"} == set(found)


@pytest.mark.parametrize(
    ("text", "more", "found"),
    [
        ("strong net income", {"others": ["the net income fell"]}, ("net income", "strong")),  # words that meet again
        ("strong net income", {"others": ["the income fell"]}, ("income", "net", "strong")),
        (r"The of and quickly \alpha_{i} $x^2$ { } These", {}, ()),
        ("zebra apple", {}, ("apple", "zebra")),
        ("zebra apple", {"titles": ["zebra"]}, ("zebra", "apple")),
        ("they met Angela Merkel and Merkel", {}, ("Angela Merkel", "met")),
        ("a" * 61, {}, ()),
        ("alpha beta gamma delta", {"limit": 2}, ("alpha", "beta")),
    ],
)
def test_terms_say_something_those_of_the_title_first_and_none_within_another(text, more, found):
    assert keywords(text, **more) == found


def test_a_name_has_four_words_at_most():
    assert all(len(term.split()) <= 4 for term in keywords("so North Alpha Beta Gamma Delta Epsilon Zeta"))


@given(st.text(max_size=200))
def test_every_term_stands_in_the_text(text):
    squeezed = "".join(text.split()).lower()
    for term in keywords(text):
        assert "".join(term.split()).lower() in squeezed
        assert not set("$\\{}") & set(term)
