"""What is counted of texts, and which words of a question and of a text count."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.questions.terms import question_terms
from tasks.algorithms.text.counting import CodedTexts, Vocabulary, bm25_scores, code_texts, count_pairs, count_stems
from tasks.algorithms.text.kept import content_stems, find_asked_stems, names_in, parts_of, strip_instructions
from tasks.algorithms.text.stems import stems_of, words_of

WRITTEN = "Net income, of the (debt) debt-to-equity long-term - US us 2021 FY2021 収入 収入高 and/or R&D equity. $x_1$"
CHUNKS = [*WRITTEN.split(), "\n\n"]
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


@given(TEXTS)
def test_the_counts_are_those_of_every_word_looked_at(texts):
    # Word by word as they stand between spaces; a formula with spaces in it is cut there, too.
    stems_of_texts = [[stem for chunk in text.split() for word in words_of(chunk) for stem in stems_of(word)] for text in texts]
    assert count(texts, STEMS).tolist() == [[stems.count(stem) for stem in STEMS] for stems in stems_of_texts]


@given(TEXTS, st.lists(st.tuples(st.sampled_from(STEMS), st.sampled_from(STEMS)), max_size=6, unique=True))
def test_the_pairs_are_the_neighbours_among_the_words_that_say_something(texts, pairs):
    rows = [list(pairwise(content_stems(text))) for text in texts]
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


def test_impossible_counts_are_refused():
    for mean_length in (0.0, np.nan):
        with pytest.raises(ValueError, match=f"mean length of the texts is {mean_length} words, but words were found"):
            bm25([[1]], [10], [2], documents=5, mean_length=mean_length, k1=1.2, b=0.75)
    with pytest.raises(ValueError, match=r"BM25 scores must be finite, .*, not nan at place 0"):
        bm25([[np.nan]], [10], [2], documents=5, mean_length=10.0, k1=1.2, b=0.75)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ('Which slides show a boat? Write the answer as a list, e.g. ["Slide 1", "Slide 4"].', "Which slides show a boat?"),
        ("Who signed it? Please give the answer in one word.", "Who signed it?"),
        ("How much? Your answer should be rounded.", "How much?"),
        ("Is it so? Directly answer yes or no.", "Is it so?"),
        ("Give the list of members. Who left?", "Give the list of members. Who left?"),
        ("What does [NA] mean?", "What does [NA] mean?"),
        ("It fell in May. Why?", "It fell in May. Why?"),
        ("", ""),
    ],
)
def test_words_about_the_form_of_the_answer_are_left_out(question, asked):
    assert strip_instructions(question) == asked


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Merrow Tidal Systems pay in Port Aldre?", ["Merrow Tidal Systems", "Port Aldre"]),
        ("What did New York, New Jersey and General Mills pay?", ["York", "Jersey", "Mills"]),
        ("Is the Bank of England in London or the bank of a river?", ["Bank of England", "London"]),
        ("Costs of CS-09 and GPT-4?", ["CS-09", "GPT-4"]),
        ("Costs in the US?", ["US"]),
        ("Best practices of Best Tidal", ["Tidal"]),
        ("What Is The Revenue Of The Company?", []),
        ("One Two Three Alpha Beta Gamma Delta Epsilon Zeta", ["Alpha Beta Gamma Delta Epsilon Zeta"]),
        ("what costs 3 pounds?", []),
        ("", []),
    ],
)
def test_names_are_capitalised_words_in_a_row(question, names):
    assert [" ".join(name) for name in names_in(question)] == names


def asked(question):
    return find_asked_stems(question, question_terms(question).stems)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("debt-to-equity", ("debt", "equiti")),
        ("Long-term", ("term",)),
        ("FY2021", ("2021",)),
        ("R&D", ("r&d",)),
        ("年収入", ("年収", "収入")),
    ],
)
def test_a_compound_counts_by_its_parts_and_any_other_word_by_itself(word, parts):
    assert parts_of(word) == parts


def test_words_that_say_something_stay_in_order_with_repetitions():
    assert content_stems("The costs of the turbine, and - as before - costs in the US") == ("cost", "turbin", "cost", "US")
    assert content_stems("x 7 of it") == ("7",)
    assert content_stems("") == ()


def test_a_question_keeps_what_stands_next_to_what():
    assert asked("What is the return on assets, and the return on equity?") == ("return", "asset", "return", "equiti")
    assert asked("How high is long-term debt on page 14? Write the answer as an integer.") == ("high", "term", "debt")
    assert asked("What was sold on pages 2019-2020, and in 2020?") == ("sold", "2020", "2020")
    assert asked("?!") == ()
