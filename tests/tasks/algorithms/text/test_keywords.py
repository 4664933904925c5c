from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.keywords import document_phrases, keywords_of
from tasks.algorithms.text.words import tokens_of, word_rarity


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


def test_words_that_meet_again_are_one_term():
    assert "net income" in keywords("strong net income", ["the net income fell"])
    assert "net income" not in keywords("strong net income", ["the income fell"])


def test_stop_words_adverbs_and_latex_are_no_terms():
    assert keywords(r"The of and quickly \alpha_{i} $x^2$ { } These") == ()


def test_a_term_of_the_title_comes_first_and_equal_terms_go_by_text():
    assert keywords("zebra apple") == ("apple", "zebra")
    assert keywords("zebra apple", titles=["zebra"]) == ("zebra", "apple")


def test_a_term_within_another_is_left_out():
    assert keywords("they met Angela Merkel and Merkel") == ("Angela Merkel", "met")


def test_a_name_has_four_words_at_most_and_a_term_sixty_characters():
    assert all(len(term.split()) <= 4 for term in keywords("so North Alpha Beta Gamma Delta Epsilon Zeta"))
    assert keywords("a" * 61) == ()


def test_no_more_terms_than_asked_for():
    assert len(keywords("alpha beta gamma delta", limit=2)) == 2


@given(st.text(max_size=200))
def test_every_term_stands_in_the_text(text):
    squeezed = "".join(text.split()).lower()
    for term in keywords(text):
        assert "".join(term.split()).lower() in squeezed
        assert not set("$\\{}") & set(term)
