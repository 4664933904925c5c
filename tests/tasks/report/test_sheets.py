"""Boxes stand where they are cited, their badges hide none of each other; an element is shown itself, the quoted words marked."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.table_rows import Table
from tasks.report.evidence import Exhibit, Mark, Sheet
from tasks.report.pictures import Picture
from tasks.report.report_settings import ReportSettings
from tasks.report.sheets import box_rules, citation_targets, find_quote, place_badges, show_exhibit, show_sheets, show_table
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import BOX, a_node, a_record, a_table, cite, evidence_of, named

LETTER = document_id("letter")
SETTINGS = ReportSettings()


def show(node, *quotes, crop=None, settings=SETTINGS):
    return show_exhibit(Exhibit(node, tuple(range(1, len(quotes) + 1)), quotes, crop), settings)


def test_the_quoted_words_are_marked_however_they_are_spaced():
    shown = show(a_node(LETTER, 0, "First,\n drain  the oil & wait."), "drain the oil &")
    assert "<mark>drain  the oil &amp;</mark> wait." in shown


def test_a_text_without_the_quote_is_shown_unmarked():
    shown = show(a_node(LETTER, 0, "some words"), "other words")
    assert "some words" in shown
    assert "<mark>" not in shown


def test_two_quotes_are_both_marked_and_one_inside_the_other_once():
    shown = show(a_node(LETTER, 0, "one two three four"), "two three", "three", "four")
    assert re.findall("<mark>(.*?)</mark>", shown) == ["two three", "four"]


def test_of_a_long_text_the_part_around_the_quote_is_shown():
    node = a_node(LETTER, 0, "before " * 500 + "the needle" + " after" * 500)
    shown = show(node, "the needle", settings=ReportSettings(element_characters=300))
    assert "<mark>the needle</mark>" in shown
    assert "… " in shown and " …" in shown
    assert len(shown) < 1200


def test_a_second_quote_outside_of_the_part_shown_is_not_marked():
    node = a_node(LETTER, 0, "first " + "between " * 500 + "last")
    assert re.findall("<mark>(.*?)</mark>", show(node, "first", "last", settings=ReportSettings(element_characters=300))) == [
        "first"
    ]


def test_a_table_is_a_table_of_ours_with_the_quoted_row_marked():
    shown = show(a_table(LETTER, 0), "Part: Gearbox | Every: 6 months")
    assert shown.count("<tr") == 3
    assert '<tr class="cited"><td dir="auto">Gearbox</td>' in shown
    assert shown.count("cited") == 1
    assert "Table 1: Intervals" in shown


def test_nothing_of_a_tables_own_html_comes_through():
    cells = "<td><script>alert(1)</script><img src=x onerror=y()>a</td><td><a href='javascript:z()'>b</a></td>"
    html = f"<table onclick='x()'><tr>{cells}</tr></table>"
    shown = show(a_table(LETTER, 0, html=html), "a")
    assert "onclick" not in shown and "<img" not in shown and "javascript" not in shown
    assert "<script" not in shown


def test_a_table_without_cells_is_shown_as_text():
    assert "| Part | Every |" in show(a_table(LETTER, 0, html="<table></table>"), "")


def test_a_long_table_shows_the_rows_around_the_quoted_one_and_says_so():
    rows = tuple((f"row {number}", str(number)) for number in range(1000))
    shown = show_table(Table((("Name", "Value"), *rows), 1), ["row 500 500"], 10)
    assert shown.count("<tr") == 11
    assert '<tr class="cited"><td dir="auto">row 500</td>' in shown
    assert "990 more rows are not shown" in shown


def test_a_wide_table_is_cut_and_says_so():
    shown = show_table(Table((tuple(map(str, range(100))),), 0), [], 10)
    assert "and 76 more" in shown
    assert "<thead>" not in shown


def test_a_cell_is_not_found_inside_another_number_or_word():
    rows = (("row 50", "1"), ("gear", "3"))
    assert "cited" not in show_table(Table(rows, 0), ["row 500 cost 1.3", "gearbox 3"], 10)
    assert show_table(Table(rows, 0), ["row 50: 1; gear, 3."], 10).count("cited") == 2


def test_a_row_of_single_digits_is_never_taken_for_the_quote():
    assert "cited" not in show_table(Table((("1", "2"), ("", "")), 0), ["12 of 21"], 10)


def test_a_figure_is_its_crop_with_the_words_in_it():
    crop = Picture(b"x", 30, 20)
    node = a_node(LETTER, 0, "Water in oil", caption="Figure 1: Water", picture_text="Water in oil 120 180")
    shown = show(node, "120", crop=crop)
    assert '<img src="data:image/webp;base64,eA==" alt="Figure: Figure 1: Water" width="30" height="20">' in shown
    assert "<mark>120</mark>" in shown
    bare = show(a_node(LETTER, 0, "", picture="x"), "", crop=crop)
    assert "without words" in bare


def test_a_node_that_is_gone_keeps_its_quote_and_says_so():
    shown = show(None, "the words", "")
    assert "the words" in shown
    assert "read again with other settings" in shown


@given(st.lists(st.sampled_from(["one", "two", "(three)", "f*ur"]), min_size=1, max_size=6), st.integers(0, 3))
def test_a_quote_is_found_where_it_stands(words, before):
    text = "x " * before + "\n ".join(words)
    start, end = find_quote(text, " ".join(words))
    assert text[start:end].split() == words


def test_no_words_and_too_many_are_not_looked_for():
    assert find_quote("a", " ") is None
    assert find_quote("a " * 1000, "a " * 1000) is None


PAPER = a_record(document_id("paper"), "paper.pdf")
NODE = a_node(PAPER.id, 0, "the words")


def a_sheet(*marks, picture=True, exhibits=(), remark=""):
    return Sheet(named(PAPER), 1, Picture(b"x", 10, 20) if picture else None, marks, exhibits, remark)


def show_pages(*sheets, citations=3):
    evidence = evidence_of(NODE, records=(PAPER,), sheets=sheets)
    return show_sheets(evidence, [cite(NODE, PAPER)] * citations, ReportSettings())


def test_a_page_has_its_picture_with_a_numbered_link_for_each_box():
    shown = show_pages(a_sheet(Mark(BOX, (1, 3)), Mark((0, 0, 1, 1), (2,))))
    assert 'alt="page 1 of paper.pdf, with 2 cited places marked"' in shown
    assert '<a class="box" id="box-1" href="#citation-1"' in shown
    assert 'data-citations="1 3"' in shown
    assert ">1, 3</span>" in shown
    assert "cited as 1 to 3" in shown


def test_one_place_is_one_place():
    assert "with 1 cited place marked" in show_pages(a_sheet(Mark(BOX, (1,))))


def test_a_page_without_picture_says_why_and_shows_the_element():
    shown = show_pages(a_sheet(picture=False, exhibits=(Exhibit(NODE, (1,), ("the words",), None),), remark="its file was moved"))
    assert "The page is not shown: its file was moved." in shown
    assert "<mark>the words</mark>" in shown


def test_the_rules_put_each_box_in_its_place_and_hold_nothing_but_numbers():
    rules = box_rules([a_sheet(Mark(BOX, (1, 3)), Mark((-1.0, 0.5, 2.0, 0.5), (2,)))])
    assert rules.splitlines() == [
        "#box-1{left:25.000%;top:50.000%;width:25.000%;height:12.500%}",
        "#box-2{left:0.000%;top:50.000%;width:100.000%;height:0.400%}",
    ]
    assert re.fullmatch(r"[#\w{}:.%;\n-]*", rules)


def test_a_citation_leads_to_the_box_that_it_shares_or_to_the_element():
    sheets = [a_sheet(Mark(BOX, (1, 3)), exhibits=(Exhibit(NODE, (2, 4), ("", ""), None),))]
    assert citation_targets(sheets) == {1: "box-1", 3: "box-1", 2: "box-2", 4: "box-2"}


def test_badges_in_the_same_corner_go_to_different_ones():
    inner = (0.11, 0.11, 0.5, 0.5)
    assert place_badges([(0.1, 0.1, 0.9, 0.9), inner]) == ["start", "end"]
    assert place_badges([(0.1, 0.1, 0.11, 0.11)] * 2) == ["start", "start"]


edges = st.tuples(*[st.floats(0, 1)] * 2).map(sorted)


@given(st.lists(st.tuples(edges, edges), max_size=3))
def test_up_to_three_large_boxes_have_badges_apart(pairs):
    boxes = [(x[0] / 4, y[0] / 4, 0.7 + x[1] / 4, 0.7 + y[1] / 4) for x, y in pairs]
    corners = place_badges(boxes)
    points = [
        ((box[0] if corner in ("start", "low-start") else box[2]), (box[1] if corner in ("start", "end") else box[3]))
        for box, corner in zip(boxes, corners, strict=True)
    ]
    assert all(max(abs(a[0] - b[0]), abs(a[1] - b[1])) > 0.04 for a, b in itertools.combinations(points, 2))


@pytest.mark.parametrize("count", [0, 1])
def test_few_boxes_need_no_moving(count):
    assert place_badges([BOX] * count) == ["start"] * count
