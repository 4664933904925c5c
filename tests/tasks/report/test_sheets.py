"""The drawing has each node once and each route; boxes stand where they are cited, elements with the quoted words marked."""

import itertools
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.drawing import lay_out_paths
from tasks.algorithms.layout.tables import Table
from tasks.report.graph import SCREEN_WIDTH, THINNEST, draw_ribbons, frame_of
from tasks.report.pictures import Picture
from tasks.report.sheets import Exhibit, Mark, Sheet, box_rules, find_quote, mark_quotes, place_badges, rows_shown
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import (
    BOX,
    DOCX,
    a_node,
    a_path,
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
    return [words for words, is_quoted in mark_quotes(text, quotes) if is_quoted]


@pytest.mark.parametrize(
    ("text", "quotes", "found"),
    [
        ("First,\n drain  the oil & wait.", ["drain the oil &"], ["drain  the oil &"]),
        ("some words", ["other words", ""], []),
        ("one two three four", ["two three", "three", "four"], ["two three", "four"]),
        ("first " + "between " * 500 + "last", ["first", "last"], ["first"]),
    ],
)
def test_the_quoted_words_are_marked_however_they_are_spaced_each_once(text, quotes, found):
    assert quoted(text, *quotes) == found


def test_of_a_long_text_the_part_around_the_quote_is_shown():
    text = "before " * 1000 + "the needle" + " after" * 1000
    shown = "".join(words for words, _ in mark_quotes(text, ["the needle"]))
    assert quoted(text, "the needle") == ["the needle"]
    assert shown.startswith("… ") and shown.endswith(" …") and len(shown) == 3004


def test_too_many_words_are_not_looked_for():
    assert find_quote("a " * 1000, "a " * 1000) is None


def test_a_long_table_shows_the_rows_around_the_quoted_one_and_a_wide_one_is_cut():
    rows = rows_shown(Table((("Name", "Value"), *((f"row {number}", str(number)) for number in range(1000))), 1), ["row 500 500"])
    assert rows.head == [["Name", "Value"]] and len(rows.body) == 24 and rows.left_out == 976
    assert [cells for cells, cited in rows.body if cited] == [["row 500", "500"]]
    assert rows_shown(Table((tuple(map(str, range(100))),), 0), []).body[0][0][23:] == ["23", "and 76 more"]


@pytest.mark.parametrize(
    ("quote", "cited"),
    [("row 500 cost 1.3", []), ("gearbox 3", []), ("row 50: 1; gear, 3.", [0, 1]), ("12 of 21", [])],
)
def test_a_row_is_quoted_where_every_cell_stands_in_words_of_its_own_and_not_by_digits_alone(quote, cited):
    body = rows_shown(Table((("row 50", "1"), ("gear", "3"), ("1", "2"), ("", "")), 0), [quote]).body
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
    assert '<tr class="cited"><td dir="auto">Gearbox</td>' in shown
    cells = "<td><script>alert(1)</script><img src=x onerror=y()>a</td><td><a href='javascript:z()'>b</a></td>"
    shown = show(a_table(PAPER.id, 0, html=f"<table onclick='x()'><tr>{cells}</tr></table>"), "a")
    assert not re.search("onclick|<img|javascript|<script|<thead", shown)
    assert "| Part | Every |" in show(a_table(PAPER.id, 0, html="<table></table>"), "")


def test_a_figure_is_its_crop_with_the_words_in_it():
    crop = Picture(b"x", 30, 20)
    node = a_node(PAPER.id, 0, "Water in oil", caption="Figure 1: Water", picture_text="Water in oil 120 180")
    shown = show(node, "120", crop=crop)
    assert '<img src="data:image/webp;base64,eA==" alt="Figure: Figure 1: Water" width="30" height="20">' in shown
    assert "<mark>120</mark>" in shown
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
    assert "<mark>the words</mark>" in shown


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


LETTER = a_record(document_id("letter"), "letter.docx", media_type=DOCX)
FIRST, SECOND = a_node(PAPER.id, 0, "the first words", page=3), a_node(PAPER.id, 1, "the second words", page=4)
INTERVALS, ALONE = a_table(PAPER.id, 2, page=5), a_node(LETTER.id, 0, "a letter")


def draw(*paths, citations=(), nodes=(FIRST, SECOND, INTERVALS, ALONE)):
    page = render(an_answer(citations, paths), evidence_of(*nodes, records=(PAPER, LETTER)))
    return re.search('<div class="graph".*?</svg>\\s*</div>', page, re.S)[0]


def test_the_drawing_is_sound_xml_also_where_paths_run_in_a_circle():
    tree = ElementTree.fromstring(draw(a_path(0.5, FIRST, SECOND), a_path(0.25, SECOND, FIRST), a_path(0.2, ALONE)))
    assert [part.tag for part in tree] == ["p", "svg"]


def test_each_node_stands_once_with_its_place_and_words_and_leads_to_the_list():
    drawn = draw(a_path(0.5, FIRST, SECOND), a_path(0.25, FIRST, INTERVALS))
    assert re.findall('<a class="node [^>]*href="([^"]*)"', drawn) == ["#node-1", "#node-2", "#node-3"]
    assert ">page 5 · Table 1 · paper.pdf</div>" in drawn
    assert "paper.pdf, page 3: the first words</title>" in drawn


def test_only_a_drawing_too_wide_for_a_usual_screen_says_on_every_screen_that_it_scrolls():
    chain = tuple(a_node(PAPER.id, place, page=1 + place) for place in range(11))
    assert "hint always" in draw(a_path(0.5, *chain), nodes=chain)
    assert "hint always" not in draw(*(a_path(0.5, node) for node in chain), nodes=chain)


def test_cited_nodes_carry_their_numbers_and_lead_to_their_citation():
    drawn = draw(a_path(0.5, FIRST), citations=[cite(node, PAPER) for node in (SECOND, FIRST, SECOND, SECOND, FIRST)])
    assert 'class="node text is-cited" href="#citation-2"' in drawn
    assert "(cited as 2, 5)" in drawn


def test_a_route_says_its_flow_and_whether_it_supports_an_answer():
    drawn = draw(a_path(0.5, FIRST, SECOND), a_path(0.25, INTERVALS, answer=""))
    assert "paper.pdf, page 3 to paper.pdf, page 4: flow 0.5<" in drawn
    assert "Question to paper.pdf, page 5: flow 0.25, supports no answer" in drawn
    assert drawn.count('class="ribbon idle"') == drawn.count('class="dashes"') == 2


def test_nodes_that_are_gone_say_so():
    drawn = draw(a_path(0.5, FIRST, SECOND), nodes=(FIRST,))
    assert "This element is gone." in drawn
    assert 'class="node gone"' in drawn


@st.composite
def layouts(draw):
    raw = draw(st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True), min_size=1, max_size=8))
    number = {node: place for place, node in enumerate(dict.fromkeys(node for path in raw for node in path))}
    flows = draw(st.lists(st.floats(0, 3), min_size=len(raw), max_size=len(raw)))
    return lay_out_paths(paths=[[number[node] for node in path] for path in raw], flows=flows, nodes=len(number))


def test_twice_the_flow_is_twice_the_width():
    layout = lay_out_paths(paths=[[0, 1], [2, 3]], flows=[1.0, 2.0], nodes=4)
    widths = {
        ribbon.route.source: ribbon.width for ribbon in draw_ribbons(layout, frame_of(layout)) if ribbon.route.target in (1, 3)
    }
    assert widths[2] == pytest.approx(2 * widths[0])


def test_no_flow_at_all_is_drawn_as_thin_lines():
    layout = lay_out_paths(paths=[[0, 1]], flows=[0.0], nodes=2)
    assert {ribbon.width for ribbon in draw_ribbons(layout, frame_of(layout))} == {THINNEST}


def test_long_chains_make_a_drawing_wider_and_no_drawing_is_shrunk_until_its_words_are_small():
    short, long = (frame_of(lay_out_paths(paths=[[*range(count)]], flows=[1.0], nodes=count)) for count in (2, 12))
    assert short.width == SCREEN_WIDTH < long.least_width
    assert 12 * long.least_width / long.width >= 11


@given(layouts())
def test_everything_lies_within_the_drawing(layout):
    frame = frame_of(layout)
    for ribbon in draw_ribbons(layout, frame):
        for x, y in ribbon.points:
            assert 0 <= x <= frame.width
            assert y - ribbon.width / 2 >= -1e-6 or ribbon.width == THINNEST
            assert y + ribbon.width / 2 <= frame.height + 1e-6 or ribbon.width == THINNEST


@given(layouts())
def test_ribbons_that_meet_at_a_side_do_not_overlap(layout):
    ribbons = draw_ribbons(layout, frame_of(layout))
    for end in range(-1, len(layout.columns) + 1):
        for own, place in (("source", 0), ("target", -1)):
            spans = sorted(
                (ribbon.points[place][1] - ribbon.width / 2, ribbon.points[place][1] + ribbon.width / 2)
                for ribbon in ribbons
                if getattr(ribbon.route, own) == end
            )
            assert all(before[1] <= after[0] + 1e-6 for before, after in itertools.pairwise(spans))


@given(layouts())
def test_ribbons_run_from_side_to_side_past_the_columns_between(layout):
    for ribbon in draw_ribbons(layout, frame_of(layout)):
        assert len(ribbon.points) == 2 + 2 * len(ribbon.route.between)
        if ribbon.route.between:
            assert all(a[0] <= b[0] for a, b in itertools.pairwise(ribbon.points))
