import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.bm25 import bm25_scores


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


def test_scores_worked_by_hand():
    # Of four texts one holds the first word: ln(1 + 3.5 / 1.5) = ln(10 / 3); three the second: ln(1 + 1.5 / 3.5) = ln(10 / 7).
    # Text 0 has the mean length: 1 * 2 / (1 + 1) = 1 and 2 * 2 / (2 + 1) = 4 / 3. Text 1 has twice it: 1 - 0.5 + 0.5 * 2 = 1.5.
    scores = bm25_scores(
        term_counts=np.array([[1.0, 2.0], [0.0, 1.0], [0.0, 0.0]]),
        lengths=np.array([10.0, 20.0, 5.0]),
        document_frequencies=np.array([1.0, 3.0]),
        documents=4,
        mean_length=10.0,
        k1=1.0,
        b=0.5,
    )
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
    scores = bm25_scores(
        term_counts=counts,
        lengths=lengths,
        document_frequencies=frequencies,
        documents=documents,
        mean_length=mean_length,
        k1=k1,
        b=b,
    )
    assert np.allclose(scores, slow_scores(counts, lengths, frequencies, documents, mean_length, k1, b), rtol=1e-12)
    assert (scores >= 0).all()
    assert (scores[~counts.any(axis=1)] == 0).all()


def score_of(count=1.0, length=10.0, frequency=2.0, k1=1.2, mean_length=10.0):
    return bm25_scores(
        term_counts=np.array([[count]]),
        lengths=np.array([length]),
        document_frequencies=np.array([frequency]),
        documents=5,
        mean_length=mean_length,
        k1=k1,
        b=0.75,
    )[0]


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
        scores = bm25_scores(
            term_counts=np.zeros(shape),
            lengths=np.zeros(shape[0]),
            document_frequencies=np.zeros(shape[1]),
            documents=0,
            mean_length=0.0,
            k1=1.2,
            b=0.75,
        )
        assert scores.tolist() == [0.0] * shape[0]


def test_impossible_counts_are_refused():
    for mean_length in (0.0, np.nan):
        with pytest.raises(ValueError, match=f"mean length of the texts is {mean_length} words, but words were found"):
            score_of(mean_length=mean_length)
    with pytest.raises(ValueError, match=r"BM25 scores must be finite, .*, not nan at place 0"):
        score_of(count=np.nan)
