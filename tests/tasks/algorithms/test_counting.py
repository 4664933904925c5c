import math
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.feature_extraction.text import CountVectorizer

from tasks.algorithms.counting import CodedTexts, Vocabulary, bm25_scores, code_texts, count_pairs, count_stems, count_terms
from tasks.algorithms.kept import kept_stems
from tasks.algorithms.stemming import stem
from tasks.algorithms.word_stems import stems_of, words_of

WORDS = [
    "Turbines",
    "turbine,",
    "organisation",
    "organizations",
    "U.S.",
    "us",
    "COVID-19",
    "(covid)",
    "1,234",
    "1234",
    "café",
    "Cafe",
]
WORDS += ["“growth”", "growing", "年収入", "収入", "राजस्व", "children", "child", "FY2021", "2021", "R&D", "-", "$x_1$", "\n\n"]


def test_inflections_compounds_and_ideographs_are_counted():
    texts = ["Turbines: a turbine-driven pump", "no", "", "収入と収入"]
    counts, lengths = count_terms(texts, ["turbin", "pump", "収入", "turbin"])
    assert counts.tolist() == [[2, 1, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 2, 0]]
    assert lengths.tolist() == [4, 1, 0, 3]


def test_nothing_to_count_has_the_right_shape():
    assert count_terms([], ["a"])[0].shape == (0, 1)
    counts, lengths = count_terms(["one two"], [])
    assert counts.shape == (1, 0)
    assert lengths.tolist() == [2]


@given(st.lists(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), max_size=12).map(" ".join), max_size=5))
def test_the_counts_are_those_of_every_word_looked_at(texts):
    stems = sorted({part for word in WORDS for part in stems_of(word.strip("(),\u201c\u201d"))})
    # Word by word as they stand between spaces; a formula with spaces in it is cut there, too.
    expected = [[part for chunk in text.split() for word in words_of(chunk) for part in stems_of(word)] for text in texts]
    counts, lengths = count_terms(texts, stems)
    assert counts.tolist() == [[parts.count(wanted) for wanted in stems] for parts in expected]
    assert all(length >= len(text.split()) / 2 for text, length in zip(texts, lengths, strict=True))


def test_thousands_of_texts_are_counted_in_a_moment():
    words = np.array([f"{start}{end}" for start in "abcdefghijklmnopqrstuvwxyz" for end in "aeiou" for _ in range(1)] * 8)
    random = np.random.default_rng(7)
    texts = [" ".join(random.choice(words, 80) + random.choice(["ing", "s", "ted", "x"], 80)) for _ in range(2000)]
    stem.cache_clear()
    stems_of.cache_clear()
    started = time.process_time()
    counts, lengths = count_terms(texts, ["basing", "cote", "dix", "ruting"])
    # Measured at 55 ms on real text; the bound leaves room for a busy machine.
    assert time.process_time() - started < 0.5
    assert lengths.tolist() == [80] * 2000
    assert counts.shape == (2000, 4)


CHUNKS = [
    "Net",
    "income,",
    "of",
    "the",
    "(debt)",
    "debt-to-equity",
    "long-term",
    "-",
    "US",
    "us",
    "2021",
    "FY2021",
    "収入",
    "収入高",
]
CHUNKS += ["and/or", "R&D", "equity.", "$x_1$", "\n\n"]
STEMS = ["net", "incom", "debt", "equity", "term", "2021", "収入", "入高", "r&d", "absent"]
TEXTS = st.lists(st.lists(st.sampled_from(CHUNKS), max_size=14).map(" ".join), max_size=5)


def coded(texts, vocabulary=None):
    vocabulary = Vocabulary() if vocabulary is None else vocabulary
    return CodedTexts.of(code_texts(texts, vocabulary), vocabulary)


def count(texts, stems):
    return count_stems(coded(texts), stems)


def test_counted_by_hand():
    texts = ["Net income in 2021; the net incomes of others. Income net.", "debt-to-equity swaps of a net debt", ""]
    assert count(texts, ["net", "incom", "debt", "absent"]).tolist() == [[3, 3, 0, 0], [1, 0, 2, 0], [0, 0, 0, 0]]
    pairs = [("net", "incom"), ("incom", "net"), ("debt", "equity"), ("net", "debt")]
    assert count_pairs(coded(texts), pairs).tolist() == [[2, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert coded(texts).words.tolist() == [11, 6, 0] and len(coded(texts)) == 3


def test_what_no_text_holds_is_nowhere_and_no_text_has_no_count():
    assert count(["net"], []).shape == (1, 0) and count([], ["net"]).shape == (0, 1)
    assert count_pairs(coded(["net net"]), [("absent", "absent")]).tolist() == [[0]]
    assert count_pairs(coded([]), [("net", "net")]).shape == (0, 1)
    assert len(coded([])) == 0 and coded(["", " "]).words.tolist() == [0, 0]


@given(TEXTS)
def test_the_counts_are_those_of_counting_in_the_texts(texts):
    assert np.array_equal(count(texts, STEMS), count_terms(texts, STEMS)[0])


@given(TEXTS, st.lists(st.tuples(st.sampled_from(STEMS), st.sampled_from(STEMS)), max_size=6, unique=True))
def test_the_pairs_are_the_neighbours_among_the_words_that_say_something(texts, pairs):
    rows = [list(pairwise(kept_stems(text, named=frozenset()))) for text in texts]
    assert count_pairs(coded(texts), pairs).tolist() == [[row.count(pair) for pair in pairs] for row in rows]


def test_on_plain_words_it_counts_what_scikit_learn_counts():
    random = np.random.default_rng(3)
    words = ["alpha", "beta", "gamma", "delta", "omega"]
    texts = [" ".join(random.choice(words, 30)) for _ in range(40)]
    stems = [next(iter(kept_stems(word, named=frozenset()))) for word in words]
    assert np.array_equal(count(texts, stems), CountVectorizer(vocabulary=words).fit_transform(texts).toarray())
    pairs = [(first, second) for first in range(5) for second in range(5)]
    expected = CountVectorizer(vocabulary=[f"{words[a]} {words[b]}" for a, b in pairs], ngram_range=(2, 2)).fit_transform(texts)
    assert np.array_equal(count_pairs(coded(texts), [(stems[a], stems[b]) for a, b in pairs]), expected.toarray())


def slow_scores(counts, lengths, frequencies, documents, mean_length, k1, b):
    """The definition, word by word, in plain Python."""
    scores = []
    for row, length in zip(counts.tolist(), lengths.tolist(), strict=True):
        score = 0.0
        for count, frequency in zip(row, frequencies.tolist(), strict=True):
            if count:
                held = min(frequency, documents)
                rarity = math.log(1 + (documents - held + 0.5) / (held + 0.5))
                score += rarity * count * (k1 + 1) / (count + k1 * (1 - b + b * length / mean_length))
        scores.append(score)
    return scores


def bm25(counts, lengths, frequencies, documents, mean_length, k1, b):
    return bm25_scores(
        term_counts=np.array(counts, dtype=float),
        lengths=np.array(lengths, dtype=float),
        document_frequencies=np.array(frequencies, dtype=float),
        documents=documents,
        mean_length=mean_length,
        k1=k1,
        b=b,
    )


def test_scores_worked_by_hand():
    # Of four texts one holds the first word: ln(1 + 3.5 / 1.5) = ln(10 / 3); three the second: ln(1 + 1.5 / 3.5) = ln(10 / 7).
    # Text 0 has the mean length: 1 * 2 / (1 + 1) = 1 and 2 * 2 / (2 + 1) = 4 / 3. Text 1 has twice it: 1 - 0.5 + 0.5 * 2 = 1.5.
    scores = bm25([[1, 2], [0, 1], [0, 0]], [10, 20, 5], [1, 3], documents=4, mean_length=10.0, k1=1.0, b=0.5)
    assert np.allclose(scores, [math.log(10 / 3) + 4 / 3 * math.log(10 / 7), 2 / 2.5 * math.log(10 / 7), 0.0], rtol=1e-12)


worlds = st.tuples(st.integers(0, 6), st.integers(0, 4)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=st.integers(0, 5)),
        arrays(np.float64, shape[0], elements=st.integers(0, 50)),
        arrays(np.float64, shape[1], elements=st.integers(0, 30)),
    )
)


@given(worlds, st.integers(1, 20), st.floats(0.5, 40), st.floats(0, 3), st.floats(0, 1))
def test_scores_equal_the_definition_and_are_never_negative(world, documents, mean_length, k1, b):
    counts, lengths, frequencies = world
    lengths = np.maximum(lengths, counts.sum(axis=1))  # no text holds more words than it has
    scores = bm25(counts, lengths, frequencies, documents, mean_length, k1, b)
    assert np.allclose(scores, slow_scores(counts, lengths, frequencies, documents, mean_length, k1, b), rtol=1e-12)
    assert (scores >= 0).all()
    assert (scores[~counts.any(axis=1)] == 0).all()


def score_of(count=1.0, length=10.0, frequency=2.0, k1=1.2, mean_length=10.0):
    return bm25([[count]], [length], [frequency], documents=5, mean_length=mean_length, k1=k1, b=0.75)[0]


def test_more_of_a_rarer_word_in_a_shorter_text_scores_more():
    assert score_of(count=2) > score_of()
    assert score_of(frequency=1) > score_of()
    assert score_of(length=5) > score_of()
    assert score_of(count=9, k1=0.0) == score_of(k1=0.0)


def test_a_word_of_all_texts_still_counts_and_no_more_texts_than_there_are_are_believed():
    assert score_of(frequency=5) > 0
    assert score_of(frequency=7) == score_of(frequency=5)


def test_without_words_texts_or_matches_all_scores_are_zero():
    for shape in ((0, 3), (3, 0), (2, 2)):
        scores = bm25(np.zeros(shape), np.zeros(shape[0]), np.zeros(shape[1]), documents=0, mean_length=0.0, k1=1.2, b=0.75)
        assert scores.tolist() == [0.0] * shape[0]


def test_impossible_counts_are_refused():
    for mean_length in (0.0, np.nan):
        with pytest.raises(ValueError, match=f"mean length of the texts is {mean_length} words, but words were found"):
            score_of(mean_length=mean_length)
    with pytest.raises(ValueError, match=r"BM25 scores must be finite, .*, not nan at place 0"):
        score_of(count=np.nan)
