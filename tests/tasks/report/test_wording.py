"""Places, numbers and words, cut to their room."""

import math
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.report.wording import cut, few_words, figure, numbers_line, percent, short_place, wrap
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import DOCX, a_node, a_record, a_table, evidence_of

PAPER, LETTER = document_id("paper"), document_id("letter")
EVIDENCE = evidence_of(records=(a_record(PAPER, "paper.pdf"), a_record(LETTER, "letter.docx", media_type=DOCX)))


def width(text):
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def test_a_short_place_leaves_out_what_goes_without_saying():
    assert short_place(EVIDENCE, a_node(PAPER, 0), with_document=False) == "p. 1"
    assert short_place(EVIDENCE, a_node(PAPER, 0), with_document=True) == "paper, p. 1"
    assert short_place(EVIDENCE, a_node(LETTER, 0), with_document=False) == "letter"
    assert short_place(EVIDENCE, None, with_document=True) == "gone"


def test_a_figure_or_table_is_known_by_its_caption_and_text_by_itself():
    assert few_words(a_table(PAPER, 0)) == "Table 1: Intervals"
    assert few_words(a_node(PAPER, 0, "some\n  words \x1b[0m")) == "some words [0m"
    assert few_words(None) == ""


def test_a_table_without_a_caption_is_known_by_its_cells_in_plain_words():
    table = a_table(PAPER, 0, caption="")
    markdown = "| Budget | Budget | Budget |\n| :--- | ---: | --- |\n| Crew \\| cook | 820 |  |\n| Fuel | -145 | 145 |"
    assert few_words(replace(table, content=markdown)) == "Budget, Crew | cook, 820, Fuel, -145, 145"
    assert few_words(replace(table, content="Item 7\nItem 8")) == "Item 7, Item 8"
    assert few_words(replace(table, content="| --- |", summary="what it costs")) == "what it costs"
    assert few_words(a_node(PAPER, 0, "text | with | pipes")) == "text | with | pipes"


def test_numbers_are_shown_in_three_digits_and_never_in_powers_of_ten():
    shown = {0: "0", 0.5: "0.5", 0.12345: "0.123", 12345.6: "12,346", 0.00004: "0.0000", 999.6: "1,000", -2000.0: "-2,000"}
    assert {value: figure(value) for value in shown} == shown


def test_numbers_are_listed_in_order_and_runs_by_their_ends():
    assert numbers_line((3, 1)) == "1, 3"
    assert numbers_line((1, 2, 4, 5, 6, 9)) == "1, 2, 4 to 6, 9"
    assert numbers_line(()) == ""


@given(st.text(), st.integers(2, 40))
def test_what_is_cut_fits_and_what_fits_is_not_cut(text, room):
    assert width(cut(text, room)) <= room
    if width(text) <= room:
        assert cut(text, room) == text


@given(
    st.text(alphabet=st.characters(exclude_categories=("Cc", "Zs", "Zl", "Zp", "Cs"), exclude_characters=" ") | st.just(" ")),
    st.integers(4, 30),
)
def test_wrapped_lines_fit_and_begin_as_the_text_does(text, room):
    text = " ".join(text.split())
    lines = wrap(text, room, 2)
    assert len(lines) <= 2
    assert all(width(line) <= room for line in lines)
    if lines:
        assert text.startswith(lines[0].rstrip("…"))


def test_lines_break_between_words():
    assert wrap("alpha beta gamma delta", 11, 2) == ["alpha beta", "gamma delta"]
    assert wrap("alpha beta gamma delta epsilon", 11, 2) == ["alpha beta", "gamma delt…"]
    assert wrap("incomprehensibilities", 8, 2) == ["incompre", "hensibi…"]
    assert wrap("", 8, 2) == []


@pytest.mark.parametrize(("share", "filled"), [(0.5, 50), (2.0, 100), (-1.0, 0), (math.nan, 0)])
def test_a_bar_is_filled_to_its_share(share, filled):
    assert percent(share) == filled
