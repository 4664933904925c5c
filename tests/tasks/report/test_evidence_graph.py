"""The drawing: each node once and with its page, each route with its flow, each citation with its number."""

import itertools
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.drawing import lay_out_paths
from tasks.report.graph import SCREEN_WIDTH, THINNEST, draw_ribbons, frame_of
from tasks.report.page import show_page
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import DOCX, a_node, a_path, a_record, a_table, an_answer, cite, evidence_of

PAPER = a_record(document_id("paper"), "paper.pdf")
LETTER = a_record(document_id("letter"), "letter.docx", media_type=DOCX)
FIRST, SECOND = a_node(PAPER.id, 0, "the first words", page=3), a_node(PAPER.id, 1, "the second words", page=4)
TABLE, ALONE = a_table(PAPER.id, 2, page=5), a_node(LETTER.id, 0, "a letter")


def draw(*paths, citations=(), nodes=(FIRST, SECOND, TABLE, ALONE)):
    page = show_page(an_answer(citations, paths), evidence_of(*nodes, records=(PAPER, LETTER)))
    return re.search('<div class="graph".*?</div>', page, re.S)[0]


def test_the_drawing_is_sound_xml_also_where_paths_run_in_a_circle():
    tree = ElementTree.fromstring(draw(a_path(0.5, FIRST, SECOND), a_path(0.25, SECOND, FIRST), a_path(0.2, ALONE)))
    assert [part.tag for part in tree] == ["p", "svg"]


def test_each_node_stands_once_with_its_place_and_words_and_leads_to_the_list():
    drawn = draw(a_path(0.5, FIRST, SECOND), a_path(0.25, FIRST, TABLE))
    assert re.findall('<a class="node [^>]*href="([^"]*)"', drawn) == ["#node-1", "#node-2", "#node-3"]
    assert "p. 5 · Table 1" in drawn
    assert "the first words" in drawn
    assert "paper, p. 3: the first words</title>" in drawn


def test_only_a_drawing_too_wide_for_a_usual_screen_says_on_every_screen_that_it_scrolls():
    chain = tuple(a_node(PAPER.id, place, page=1 + place) for place in range(11))
    assert "hint always" in draw(a_path(0.5, *chain), nodes=chain)
    assert "hint always" not in draw(*(a_path(0.5, node) for node in chain), nodes=chain)


def test_cited_nodes_carry_their_numbers_and_lead_to_their_citation():
    drawn = draw(a_path(0.5, FIRST), citations=[cite(node, PAPER) for node in (SECOND, FIRST, SECOND, SECOND, FIRST)])
    assert 'class="node text is-cited" href="#citation-2"' in drawn
    assert "(cited as 2, 5)" in drawn


def test_a_route_says_its_flow_and_whether_it_supports_an_answer():
    drawn = draw(a_path(0.5, FIRST, SECOND), a_path(0.25, TABLE, answer=""))
    assert "paper, p. 3 to paper, p. 4: flow 0.5<" in drawn
    assert "Question to paper, p. 5: flow 0.25, supports no answer" in drawn
    assert drawn.count('class="ribbon idle"') == drawn.count('class="dashes"') == 2


def test_words_of_documents_are_only_words():
    hostile = a_node(PAPER.id, 9, "</text><script>alert(1)</script>")
    drawn = draw(a_path(0.5, hostile), nodes=(hostile,))
    assert "<script" not in drawn
    ElementTree.fromstring(drawn)


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
