import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from tasks.algorithms.kept_stems import kept_stems
from tasks.algorithms.pair_counts import count_pairs, neighbouring_pairs
from tasks.algorithms.stop_words import STOP_WORDS
from tasks.algorithms.term_counts import count_terms

CHUNKS = "Net income, of the (debt) debt-to-equity long-term - best Best Buy US us 2021 FY2021 収入 収入高 and/or R&D equity. $x_1$ \n\n".split(
    " "
)
STEMS = ["net", "incom", "debt", "equity", "term", "best", "buy", "US", "2021", "収入", "入高", "r&d"]


def count(texts, pairs, stems=None):
    stems = stems or sorted({stem for pair in pairs for stem in pair})
    return count_pairs(texts, pairs, stems=stems, counts=count_terms(texts, stems)[0]).tolist()


def slow_counts(texts, pairs):
    """The definition: every word of every text is read."""
    wanted = {stem for pair in pairs for stem in pair}
    rows = []
    for text in texts:
        stems = [stem for chunk in text.split() for stem in kept_stems(chunk, named=wanted)]
        rows.append([list(pairwise(stems)).count(pair) for pair in pairs])
    return rows


def test_a_question_has_each_pair_of_neighbours_once_in_order():
    assert neighbouring_pairs(["net", "incom", "net", "incom", "2021"]) == (("net", "incom"), ("incom", "net"), ("incom", "2021"))
    assert neighbouring_pairs(["net"]) == neighbouring_pairs([]) == ()


def test_pairs_counted_by_hand():
    texts = [
        "Net income in 2021; the net incomes of others. Income net.",
        "income tax, net of income from debt-to-equity swaps",
        "net sales and income",
        "",
    ]
    pairs = [("net", "incom"), ("incom", "net"), ("debt", "equity"), ("incom", "2021")]
    assert count(texts, pairs) == [[2, 1, 0, 1], [1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_a_word_without_meaning_parts_nothing_unless_the_pair_names_it():
    assert count(["Best of all Buy", "buy the best buy"], [("best", "buy")]) == [[1], [1]]
    assert count(["sales at best buy in"], [("sale", "buy")]) == [[1]]
    assert count(["sales at best buy in"], [("sale", "buy"), ("best", "buy")]) == [[0, 1]]


texts_of_chunks = st.lists(st.lists(st.sampled_from(CHUNKS), max_size=14).map(" ".join), max_size=5)
pairs_of_stems = st.lists(st.tuples(st.sampled_from(STEMS), st.sampled_from(STEMS)), max_size=6, unique=True)


@given(texts_of_chunks, pairs_of_stems)
def test_a_close_look_at_few_texts_finds_what_reading_all_of_them_finds(texts, pairs):
    assert count(texts, pairs, STEMS) == slow_counts(texts, pairs)


@given(texts_of_chunks, pairs_of_stems)
def test_a_pair_never_occurs_more_often_than_either_of_its_words(texts, pairs):
    terms, _ = count_terms(texts, STEMS)
    found = count_pairs(texts, pairs, stems=STEMS, counts=terms)
    assert found.shape == (len(texts), len(pairs))
    assert found.dtype == np.int32
    for column, pair in enumerate(pairs):
        for stem in pair:
            assert (found[:, column] <= terms[:, STEMS.index(stem)]).all()


@given(
    st.lists(
        st.lists(st.sampled_from("turbin pump of cost the rotor and".split()), max_size=20).map(" ".join), min_size=1, max_size=5
    )
)
def test_plain_words_are_paired_as_scikit_learn_pairs_them(texts):
    pairs = [("turbin", "pump"), ("pump", "cost"), ("rotor", "rotor"), ("cost", "turbin")]
    bigrams = [" ".join(pair) for pair in pairs]
    reference = CountVectorizer(ngram_range=(2, 2), vocabulary=bigrams, stop_words=sorted({"of", "the", "and"} & STOP_WORDS))
    assert count(texts, pairs) == reference.transform(texts).toarray().tolist()


def test_nothing_to_count_has_the_right_shape():
    for texts, pairs in (([], [("a", "b")]), (["a b"], []), ([], [])):
        found = count_pairs(texts, pairs, stems=["a", "b"], counts=np.zeros((len(texts), 2), dtype=np.int32))
        assert found.shape == (len(texts), len(pairs))


def test_a_pair_of_stems_that_nobody_counted_is_refused():
    with pytest.raises(ValueError, match='stem "pump" of a pair was not counted; count the stems of all pairs'):
        count_pairs(["a"], [("turbin", "pump")], stems=["turbin"], counts=np.zeros((1, 1), dtype=np.int32))


def test_thousands_of_texts_are_counted_in_a_moment():
    random = np.random.default_rng(7)
    words = [f"{start}{middle}{end}" for start in "bcdfghklm" for middle in "aeiou" for end in ("ting", "x", "rl", "nk", "mp")]
    texts = [" ".join(random.choice(words, 80)) for _ in range(2000)]
    stems = ["bax", "cerl", "dink", "fomp"]
    terms, _ = count_terms(texts, stems)
    started = time.process_time()
    found = count_pairs(texts, neighbouring_pairs(stems), stems=stems, counts=terms)
    # Measured at 3 ms on real text, where fewer texts hold both; the bound leaves room for a busy machine.
    assert time.process_time() - started < 0.3
    assert found.any()
