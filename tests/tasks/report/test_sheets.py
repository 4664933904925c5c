"""Boxes stand where they are cited, and their badges hide none of each other."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.report.evidence import Exhibit, Mark, Sheet
from tasks.report.pictures import Picture
from tasks.report.report_settings import ReportSettings
from tasks.report.sheets import box_rules, citation_targets, place_badges, show_sheets
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import BOX, a_node, a_record, cite, evidence_of, named

PAPER = a_record(document_id("paper"), "paper.pdf")
NODE = a_node(PAPER.id, 0, "the words")


def a_sheet(*marks, picture=True, exhibits=(), remark=""):
    return Sheet(named(PAPER), 1, Picture(b"x", 10, 20) if picture else None, marks, exhibits, remark)


def show(*sheets, citations=3):
    evidence = evidence_of(NODE, records=(PAPER,), sheets=sheets)
    return show_sheets(evidence, [cite(NODE, PAPER)] * citations, ReportSettings())


def test_a_page_has_its_picture_with_a_numbered_link_for_each_box():
    shown = show(a_sheet(Mark(BOX, (1, 3)), Mark((0, 0, 1, 1), (2,))))
    assert 'alt="page 1 of paper.pdf, with 2 cited places marked"' in shown
    assert '<a class="box" id="box-1" href="#citation-1"' in shown
    assert 'data-citations="1 3"' in shown
    assert ">1, 3</span>" in shown
    assert "cited as 1 to 3" in shown


def test_one_place_is_one_place():
    assert "with 1 cited place marked" in show(a_sheet(Mark(BOX, (1,))))


def test_a_page_without_picture_says_why_and_shows_the_element():
    shown = show(a_sheet(picture=False, exhibits=(Exhibit(NODE, (1,), ("the words",), None),), remark="its file was moved"))
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
