import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.stemming import stem
from tasks.algorithms.term_counts import count_terms
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
    "caf\u00e9",
    "Cafe",
]
WORDS += [
    "\u201cgrowth\u201d",
    "growing",
    "年収入",
    "収入",
    "राजस्व",
    "children",
    "child",
    "FY2021",
    "2021",
    "R&D",
    "-",
    "\n\n",
    "$x_1$",
]


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
