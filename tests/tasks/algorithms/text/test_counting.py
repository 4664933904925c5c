import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.text.counting import CodedTexts, Vocabulary, bm25_scores, code_texts, count_pairs, count_stems
from tasks.algorithms.text.kept import kept_stems
from tasks.algorithms.text.stems import stems_of, words_of

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


def coded(texts):
    vocabulary = Vocabulary()
    return CodedTexts.of(code_texts(texts, vocabulary), vocabulary)


def count(texts, stems):
    return count_stems(coded(texts), stems)


def test_counted_by_hand():
    texts = ["Net income in 2021; the net incomes of others. Income net.", "debt-to-equity swaps of a net debt", ""]
    assert count(texts, ["net", "incom", "debt", "absent"]).tolist() == [[3, 3, 0, 0], [1, 0, 2, 0], [0, 0, 0, 0]]
    pairs = [("net", "incom"), ("incom", "net"), ("debt", "equiti"), ("net", "debt")]
    assert count_pairs(coded(texts), pairs).tolist() == [[2, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert coded(texts).words.tolist() == [11, 6, 0] and len(coded(texts)) == 3


def test_what_no_text_holds_is_nowhere_and_no_text_has_no_count():
    assert count(["net"], []).shape == (1, 0) and count([], ["net"]).shape == (0, 1)
    assert count_pairs(coded(["net net"]), [("absent", "absent")]).tolist() == [[0]]
    assert count_pairs(coded([]), [("net", "net")]).shape == (0, 1)
    assert len(coded([])) == 0 and coded(["", " "]).words.tolist() == [0, 0]


@given(TEXTS)
def test_the_counts_are_those_of_every_word_looked_at(texts):
    # Word by word as they stand between spaces; a formula with spaces in it is cut there, too.
    stems_of_texts = [[stem for chunk in text.split() for word in words_of(chunk) for stem in stems_of(word)] for text in texts]
    assert count(texts, STEMS).tolist() == [[stems.count(stem) for stem in STEMS] for stems in stems_of_texts]


@given(TEXTS, st.lists(st.tuples(st.sampled_from(STEMS), st.sampled_from(STEMS)), max_size=6, unique=True))
def test_the_pairs_are_the_neighbours_among_the_words_that_say_something(texts, pairs):
    rows = [list(pairwise(kept_stems(text))) for text in texts]
    assert count_pairs(coded(texts), pairs).tolist() == [[row.count(pair) for pair in pairs] for row in rows]


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


def test_without_words_texts_or_matches_all_scores_are_zero():
    for shape in ((0, 3), (3, 0), (2, 2)):
        scores = bm25(np.zeros(shape), np.zeros(shape[0]), np.zeros(shape[1]), documents=0, mean_length=0.0, k1=1.2, b=0.75)
        assert scores.tolist() == [0.0] * shape[0]


def test_impossible_counts_are_refused():
    for mean_length in (0.0, np.nan):
        with pytest.raises(ValueError, match=f"mean length of the texts is {mean_length} words, but words were found"):
            bm25([[1]], [10], [2], documents=5, mean_length=mean_length, k1=1.2, b=0.75)
    with pytest.raises(ValueError, match=r"BM25 scores must be finite, .*, not nan at place 0"):
        bm25([[np.nan]], [10], [2], documents=5, mean_length=10.0, k1=1.2, b=0.75)
