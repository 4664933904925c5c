"""Which documents a question is about: the words that much of their pages say, and how much it leans to each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.leaning import WORDS, lean_by_words, widespread_words


def test_a_document_is_known_by_the_words_on_most_of_its_pages():
    pages = [(1, "Nike report"), (2, "Nike shoes"), (2, "the revenue of Nike"), (3, "Nike revenue")]
    assert widespread_words(pages)[:2] == (("nike", 3 / 4), ("revenu", 2 / 4))
    assert dict(widespread_words(pages))["shoe"] == 1 / 4
    assert widespread_words([]) == ()
    alone = dict(widespread_words([(1, " ".join(f"{number}" for number in range(2 * WORDS))), (1, "Nike"), (1, "of Nike")]))
    assert alone["nike"] == 0.5 and "of" not in alone, "of the stems on its only page those in most of its texts"
    assert len(widespread_words([(1, " ".join(f"word{number}" for number in range(2 * WORDS)))])) == WORDS


def test_a_question_leans_by_the_share_of_pages_times_the_rarity_of_the_word_among_documents():
    shares = {"nike": {"a": 0.8}, "revenue": {"a": 0.5, "b": 0.5, "c": 0.5}, "wind": {}}
    # by hand: nike 0.8 ln(3 / 0.8) for a; revenue 0.5 ln(3 / 1.5) for all
    common = 0.5 * np.log(2)
    assert lean_by_words(shares, ["a", "b", "c"]) == pytest.approx([0.8 * np.log(3 / 0.8) + common, common, common])


@given(st.dictionaries(st.sampled_from("xyz"), st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1)), max_size=3))
def test_leanings_are_never_negative_and_what_all_documents_say_leans_to_none(shares):
    documents = ["a", "b", "c", "d"]
    assert (lean_by_words(shares, documents) >= 0).all()
    said_by_all = shares | {"all": dict.fromkeys(documents, 1.0)}
    assert lean_by_words(said_by_all, documents) == pytest.approx(lean_by_words(shares, documents))
