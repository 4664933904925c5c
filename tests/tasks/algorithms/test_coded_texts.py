"""Counting in arrays of codes says what counting in the texts themselves says."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from tasks.algorithms.coded_texts import CodedTexts, Vocabulary, code_texts, count_pairs, count_stems
from tasks.algorithms.kept_stems import kept_stems
from tasks.algorithms.term_counts import count_terms

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


@given(TEXTS, TEXTS)
def test_what_was_learned_before_changes_no_count(before, texts):
    vocabulary = Vocabulary()
    code_texts(before, vocabulary)
    assert np.array_equal(count_stems(coded(texts, vocabulary), STEMS), count(texts, STEMS))
    assert np.array_equal(coded(texts, vocabulary).words, coded(texts).words)


def test_on_plain_words_it_counts_what_scikit_learn_counts():
    random = np.random.default_rng(3)
    words = ["alpha", "beta", "gamma", "delta", "omega"]
    texts = [" ".join(random.choice(words, 30)) for _ in range(40)]
    stems = [next(iter(kept_stems(word, named=frozenset()))) for word in words]
    assert np.array_equal(count(texts, stems), CountVectorizer(vocabulary=words).fit_transform(texts).toarray())
    pairs = [(first, second) for first in range(5) for second in range(5)]
    expected = CountVectorizer(vocabulary=[f"{words[a]} {words[b]}" for a, b in pairs], ngram_range=(2, 2)).fit_transform(texts)
    assert np.array_equal(count_pairs(coded(texts), [(stems[a], stems[b]) for a, b in pairs]), expected.toarray())
