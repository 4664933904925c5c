"""What a text claims: its quotes, however they are set off, and the sentences outside of them."""

import pytest

from tasks.algorithms.text.claims import split_claims


def quotes(text):
    return [" ".join(quote.text.split()) for quote in split_claims(text)[0]]


@pytest.mark.parametrize(
    "text",
    [
        'It says "the tide turns twice".',
        "It says “the tide turns twice”.",
        "Es heißt „the tide turns twice“.",
        "On lit « the tide turns twice ».",
        "Es heißt »the tide turns twice«.",
        "It says ‘the tide turns twice’.",  # noqa: RUF001
        "> the tide turns\n> twice",
        "As it says:\n\n> the tide turns twice\n> — report.pdf, p. 4\n\nSo be it.",
        '{"quotes": ["the tide turns twice"]}',
    ],
)
def test_a_quote_is_what_stands_between_marks_or_in_a_block(text):
    assert quotes(text) == ["the tide turns twice"]


@pytest.mark.parametrize(
    "text",
    ["", "\n \n", "no quote", '"two words"', 'a board of 5" x 7" or 6" x 8"', 'one "that never ends', "> a", "don’t say it’s"],  # noqa: RUF001
)
def test_a_few_words_inches_and_apostrophes_are_no_quote(text):
    assert quotes(text) == []


def test_a_mark_that_is_never_closed_reaches_no_other_paragraph():
    assert quotes('one "that never ends\n\nand "the tide turns twice" here') == ["the tide turns twice"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('"the tide turns twice" (a.pdf, p. 4), it says', "(a.pdf, p. 4)"),
        ('"the tide turns twice" on page 3 and "the blade is cut off" on page 4', "on page 3 and"),
        ("> the tide turns twice\n> — a.pdf, p. 4\n\nOn page 9 there is more.", "(— a.pdf, p. 4)"),
        ("> the tide turns twice\n\n(a.pdf, p. 4)", "(a.pdf, p. 4)"),
        ('All of it. Page 3 says "the tide turns twice" and page 4 says otherwise', "Page 3 says"),
    ],
)
def test_beside_a_quote_stands_where_it_is_from(text, first):
    assert next(beside.strip() for beside in split_claims(text)[0][0].beside if beside) == first


def test_quotes_references_and_the_numbers_of_items_are_no_part_of_sentences():
    text = '# 2. Sums\n\n1. It rose by 5 % [3].\n2. "The tide turns 2 times a day", it says on p. 7.\n\n| a | 5 |\n| b | 6 |'
    sentences = ["Sums", "It rose by 5 % .", "… , it says on page.", "| a | 5 |", "| b | 6 |"]
    assert split_claims(text)[1] == sentences
