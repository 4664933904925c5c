"""Boxes stand where they are cited, elements with the quoted words marked."""

import re

import pytest

from tasks.algorithms.layout.tables import Table
from tasks.report.pictures import Picture
from tasks.report.sheets import Exhibit, Mark, Sheet, box_rules, find_quote, mark_quotes, place_badges, rows_shown
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import (
    BOX,
    a_node,
    a_record,
    a_table,
    an_answer,
    cite,
    evidence_of,
    named,
    render,
)

PAPER = a_record(document_id("paper"), "paper.pdf")
NODE = a_node(PAPER.id, 0, "the words")


def quoted(text, *quotes):
    return [(words, *numbers) for words, numbers in mark_quotes(text, list(enumerate(quotes, 1))) if numbers]


@pytest.mark.parametrize(
    ("text", "quotes", "found"),
    [
        ("First,\n drain  the oil & wait.", ["drain the oil &"], [("drain  the oil &", 1)]),
        ("some words", ["other words", ""], []),
        ("one two three four", ["two three", "four", "four"], [("two three", 1), ("four", 2, 3)]),
        ("one two three four", ["one two three", "two"], [("one ", 1), ("two", 1, 2), (" three", 1)]),
        ("first " + "between " * 500 + "last", ["first", "last"], [("first", 1)]),
    ],
)
def test_the_quoted_words_are_marked_by_citation_however_they_are_spaced_each_once(text, quotes, found):
    assert quoted(text, *quotes) == found


def test_of_a_long_text_the_part_around_the_quote_is_shown():
    text = "before " * 1000 + "the needle" + " after" * 1000
    shown = "".join(words for words, _ in mark_quotes(text, [(1, "the needle")]))
    assert quoted(text, "the needle") == [("the needle", 1)]
    assert shown.startswith("… ") and shown.endswith(" …") and len(shown) == 3004


def test_too_many_words_are_not_looked_for():
    assert find_quote("a " * 1000, "a " * 1000) is None


def test_a_long_table_shows_the_rows_around_the_quoted_one_and_a_wide_one_is_cut():
    rows = rows_shown(
        Table((("Name", "Value"), *((f"row {number}", str(number)) for number in range(1000))), 1), [(7, "row 500 500")]
    )
    assert rows.head == [["Name", "Value"]] and len(rows.body) == 24 and rows.left_out == 976
    assert [row for row in rows.body if row[1]] == [(["row 500", "500"], (7,))]
    assert rows_shown(Table((tuple(map(str, range(100))),), 0), []).body[0][0][23:] == ["23", "and 76 more"]


@pytest.mark.parametrize(
    ("quote", "cited"),
    [("row 500 cost 1.3", []), ("gearbox 3", []), ("row 50: 1; gear, 3.", [0, 1]), ("12 of 21", [])],
)
def test_a_row_is_quoted_where_every_cell_stands_in_words_of_its_own_and_not_by_digits_alone(quote, cited):
    body = rows_shown(Table((("row 50", "1"), ("gear", "3"), ("1", "2"), ("", "")), 0), [(1, quote)]).body
    assert [place for place, (_, is_cited) in enumerate(body) if is_cited] == cited


def a_sheet(*marks, picture=True, exhibits=(), remark=""):
    return Sheet(named(PAPER), 1, Picture(b"x", 10, 20) if picture else None, marks, exhibits, remark)


def show_pages(*sheets):
    return render(an_answer((cite(NODE, PAPER),) * 3), evidence_of(NODE, records=(PAPER,), sheets=sheets))


def show(node, *quotes, crop=None):
    page = show_pages(a_sheet(exhibits=(Exhibit(node, tuple(range(1, len(quotes) + 1)), quotes, crop),)))
    return page.split('<div class="exhibit"')[1].split("</figure>")[0]


def test_a_table_is_a_table_of_ours_with_the_quoted_row_marked_and_nothing_of_its_own_html():
    shown = show(a_table(PAPER.id, 0), "Part: Gearbox | Every: 6 months")
    assert shown.count("<tr") == 3 and shown.count("cited") == 1 and "Table 1: Intervals" in shown
    assert '<tr class="cited"><td dir="auto"><span class="number">1</span> Gearbox</td>' in shown
    cells = "<td><script>alert(1)</script><img src=x onerror=y()>a</td><td><a href='javascript:z()'>b</a></td>"
    shown = show(a_table(PAPER.id, 0, html=f"<table onclick='x()'><tr>{cells}</tr></table>"), "a")
    assert not re.search("onclick|<img|javascript|<script|<thead", shown)
    assert "| Part | Every |" in show(a_table(PAPER.id, 0, html="<table></table>"), "")


def test_a_figure_is_its_crop_with_the_words_in_it():
    crop = Picture(b"x", 30, 20)
    node = a_node(PAPER.id, 0, "Water in oil", caption="Figure 1: Water", picture_text="Water in oil 120 180")
    shown = show(node, "120", crop=crop)
    assert '<img src="data:image/webp;base64,eA==" alt="Figure: Figure 1: Water" width="30" height="20">' in shown
    assert '<mark class="cited"><span class="number">1</span> 120</mark>' in shown
    assert "without words" in show(a_node(PAPER.id, 0, "", picture="x"), "", crop=crop)


def test_a_node_that_is_gone_keeps_its_quote_and_says_so():
    shown = show(None, "the words", "")
    assert "the words" in shown and "read again with other settings" in shown


def test_a_page_has_its_picture_with_a_numbered_link_for_each_box():
    shown = show_pages(a_sheet(Mark(BOX, (1, 3)), Mark((0, 0, 1, 1), (2,))))
    assert 'alt="page 1 of paper.pdf, with 2 cited places marked"' in shown
    assert '<a class="box" id="box-1" href="#citation-1"' in shown
    assert 'data-citations="1 3"' in shown and ">1, 3</span>" in shown and "cited as 1-3" in shown


def test_a_page_without_picture_says_why_and_shows_the_element():
    shown = show_pages(a_sheet(picture=False, exhibits=(Exhibit(NODE, (1,), ("the words",), None),), remark="its file was moved"))
    assert "The page is not shown: its file was moved." in shown
    assert "</span> the words</mark>" in shown


def test_the_rules_put_each_box_in_its_place_and_hold_nothing_but_numbers():
    rules = box_rules([a_sheet(Mark(BOX, (1, 3)), Mark((-1.0, 0.5, 2.0, 0.5), (2,)))])
    assert rules.splitlines() == [
        "#box-1{left:25.000%;top:50.000%;width:25.000%;height:12.500%}",
        "#box-2{left:0.000%;top:50.000%;width:100.000%;height:0.400%}",
    ]
    assert re.fullmatch(r"[#\w{}:.%;\n-]*", rules)


def test_a_citation_leads_to_the_box_that_it_shares_or_to_the_element():
    sheet = a_sheet(Mark(BOX, (1, 3)), exhibits=(Exhibit(NODE, (2, 4), ("", ""), None),))
    assert evidence_of(sheets=(sheet,)).targets == {1: "#box-1", 3: "#box-1", 2: "#box-2", 4: "#box-2"}


def test_badges_in_the_same_corner_go_to_different_ones():
    inner = (0.11, 0.11, 0.5, 0.5)
    assert place_badges([(0.1, 0.1, 0.9, 0.9), inner]) == ["start", "end"]
    assert place_badges([(0.1, 0.1, 0.11, 0.11)] * 2) == ["start", "start"]
