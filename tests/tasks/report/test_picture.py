"""What carried the answer is seen at a glance: the passages that say something, page by page, each a link to its proof."""

import itertools
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.service.web.html import TEMPLATES
from storage.records.answers import PagePlace, TraceKind, TraceStep
from storage.records.documents import NodeKind
from tasks.report.graph import BOXES, JOINT, LEFT, RIGHT, THINNEST, draw_paths
from tasks.report.pictures import Picture
from tasks.report.sheets import Mark, Sheet
from tasks.views.answers import view_answer
from tasks.views.render import draw
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import BOX, a_node, a_path, a_record, a_table, an_answer, cite, evidence_of, named, render

PAPER, OTHER = a_record(document_id("paper"), "paper.pdf"), a_record(document_id("other"), "other.pdf")
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi")
NODES = tuple(a_node(PAPER.id, place, f"about {word}", page=1 + place // 3) for place, word in enumerate(WORDS))
FIRST, SECOND, THIRD, FOURTH, FIFTH, *_ = NODES
ABROAD = a_node(OTHER.id, 0, "from elsewhere")


def drawn(*paths, cited=(), nodes=(*NODES, ABROAD), **more):
    records = {PAPER.id: PAPER, OTHER.id: OTHER}
    answer = an_answer(tuple(cite(node, records[node.document_id]) for node in cited), paths, **more)
    return draw_paths(answer, evidence_of(*nodes, records=(PAPER, OTHER)))


def words(picture):
    return [box.words for box in picture.boxes] if picture else []


def arcs(picture):
    return {(line.source, line.target): line.flow for line in picture.into + picture.out}


def page(*paths, cited=(), nodes=(*NODES, ABROAD), sheets=(), **more):
    evidence = evidence_of(*nodes, records=(PAPER, OTHER), sheets=sheets)
    return render(an_answer(tuple(cite(node, PAPER) for node in cited), paths, **more), evidence).split('id="way-title"')[1]


@pytest.mark.parametrize(
    "silent",
    [
        a_node(PAPER.id, 20, "No words of use", meaningless=True),
        a_node(PAPER.id, 20, ""),
        a_node(PAPER.id, 20, ". . . . . . 12 ."),
        a_node(PAPER.id, 20, "Paper of 2024", kind=NodeKind.HEADER),
        a_node(PAPER.id, 20, "2 about alpha"),
    ],
    ids=["meaningless", "empty", "dots", "furniture", "as another"],
)
def test_a_passage_that_says_nothing_is_no_box_and_the_chain_goes_on_past_it(silent):
    drawing = drawn(a_path(0.5, FIRST, silent, SECOND), cited=[SECOND], nodes=(*NODES, silent))
    for picture in (drawing.carried, drawing.whole):
        assert words(picture) == ["about alpha", "about beta"]
        assert arcs(picture) == {(-1, 0): 0.5, (0, 1): 0.5, (1, 2): 0.5}


def test_a_running_head_is_known_by_standing_on_several_pages_and_a_caption_by_its_table():
    heads = [a_node(PAPER.id, 20 + number, f"{number} Annual report", page=number) for number in (1, 2)]
    caption, table = a_node(PAPER.id, 30, "Table 1: Intervals"), a_table(PAPER.id, 31)
    path = a_path(0.5, FIRST, heads[0], heads[1], caption, table)
    assert words(drawn(path, nodes=(*NODES, *heads, caption, table)).whole) == ["about alpha", "Table 1: Intervals"]
    drawing = drawn(path, cited=[table], nodes=(*NODES, *heads, caption, table))
    assert [box.cited for box in drawing.whole.boxes] == [(), (1,)] and drawing.whole.boxes[1].node == table


def test_what_is_cited_is_drawn_whatever_it_says_with_its_numbers_and_what_it_came_by():
    silent = a_node(PAPER.id, 20, "reference list", meaningless=True)
    drawing = drawn(a_path(0.5, FIRST, silent, SECOND), cited=[silent, FOURTH, silent], nodes=(*NODES, silent))
    assert [(box.words, box.cited) for box in drawing.carried.boxes] == [
        *(("about alpha", ()), ("reference list", (1, 3)), ("about delta", (2,)))
    ]
    assert "about beta" in words(drawing.whole)


def test_an_uncited_heading_takes_no_place_at_a_glance():
    title = a_node(PAPER.id, 20, "Revenue", kind=NodeKind.TITLE)
    drawing = drawn(a_path(0.5, title, FIRST), cited=[FIRST], nodes=(title, FIRST))
    assert words(drawing.carried) == ["about alpha"] and words(drawing.whole) == ["Revenue", "about alpha"]


def test_at_a_glance_are_few_boxes_the_cited_first_and_all_are_behind_one_fold():
    drawing = drawn(a_path(0.5, *NODES), cited=[NODES[12], FIRST, *NODES[1:12]])
    assert len(drawing.carried.boxes) == BOXES and [box.cited for box in drawing.carried.boxes][::9] == [(2,), (1,)]
    assert words(drawing.carried) == [f"about {word}" for word in (*WORDS[:9], WORDS[12])]
    assert words(drawn(a_path(0.5, *NODES), cited=[NODES[12]]).carried) == [f"about {word}" for word in WORDS[10:13]]
    assert len(drawing.whole.boxes) == len(NODES)
    shown = page(a_path(0.5, *NODES), cited=[FIRST])
    assert (
        shown.index('<div class="picture">') < shown.index("<summary>All paths</summary>") < shown.rindex('<div class="picture">')
    )
    assert "2 cited passages on 2 pages, and what led to them" in page(a_path(0.5, *NODES), cited=[NODES[12], FIRST])


def test_pages_are_frames_each_once_with_its_place_and_document():
    drawing = drawn(a_path(0.5, FIRST, FOURTH, SECOND, ABROAD), cited=[SECOND, ABROAD])
    assert [[box.words for box in frame] for frame in drawing.carried.frames] == [
        *(["about alpha", "about beta"], ["about delta"], ["from elsewhere"])
    ]
    assert arcs(drawing.carried) == {(-1, 0): 0.5, (0, 2): 0.5, (2, 1): 0.5, (1, 3): 0.5, (3, 4): 0.5}
    heads = re.findall('<p class="head">(.*?)</p>', page(a_path(0.5, FIRST, FOURTH), cited=[FOURTH]))
    assert heads[:2] == [f"<strong>page {number}</strong> · <bdi>paper.pdf</bdi>" for number in (1, 2)]


def test_a_box_leads_to_the_page_with_the_mark():
    sheet = Sheet(named(PAPER), 1, Picture(b"x", 10, 20), (Mark(BOX, (1, 2)),), (), "")
    shown = page(a_path(0.5, FIRST, SECOND, FOURTH), cited=[SECOND, SECOND, FOURTH], sheets=(sheet,))
    links = re.findall('<a class="passage[^"]*"([^>]*)>', shown)[:3]
    assert links == ["", ' href="#box-1"', ' href="#citation-3"']
    assert '<span class="number">1</span> <span class="number">2</span> about beta' in shown


def test_on_a_page_of_the_service_every_passage_is_opened_beside_the_answer():
    answer = an_answer((cite(SECOND, PAPER),), (a_path(0.5, FIRST, SECOND),))
    evidence = evidence_of(*NODES, records=(PAPER,))
    view = view_answer(answer, SimpleNamespace(documents=lambda: [PAPER], location=SimpleNamespace(name="default")))
    given = {"answer": view, "evidence": evidence, "drawing": draw_paths(view, evidence), "corpus": "default"}
    links = re.findall('<a class="passage[^>]*href="([^"]*)" target="page"', draw(TEMPLATES, "picture.html", **given))
    there = f"/documents/{PAPER.id}/pages/1?corpus=default&amp;answer={answer.answer_id}"
    assert links[:2] == [there, f"{there}&amp;cited=1"]


def test_what_no_path_passed_is_drawn_where_its_page_was_read_or_by_itself():
    drawing = drawn(a_path(0.5, FIRST, FOURTH), cited=[SECOND, ABROAD])
    assert words(drawing.carried) == ["about alpha", "about beta", "from elsewhere"]
    assert arcs(drawing.carried) == {(-1, 0): 0.5, (0, 1): 0.5, (1, 3): 0.5, (-1, 2): 0.0, (2, 3): 0.0}
    without_paths = drawn(cited=[FIRST, SECOND, ABROAD])
    assert [len(frame) for frame in without_paths.carried.frames] == [2, 1]


def test_a_passage_that_is_gone_is_known_by_its_quote_and_one_without_a_quote_is_passed():
    drawing = drawn(a_path(0.5, FIRST, SECOND, THIRD), cited=[THIRD], nodes=(FIRST,))
    assert words(drawing.carried) == ["about alpha", "about gamma"] and drawing.carried.boxes[1].node is None
    assert 'class="passage is-cited is-gone"' in page(a_path(0.5, THIRD), cited=[THIRD], nodes=())


def a_step(number, asked, *nodes, kind=TraceKind.SUB_QUESTION):
    places = tuple(PagePlace(named(PAPER), node.page) for node in nodes)
    return TraceStep(number, kind, asked, "something", pages=places)


def test_pages_of_other_readers_come_of_the_step_that_ranked_them_highest_and_what_they_read_is_no_chain():
    steps = (a_step(1, "how much", FIRST, FOURTH), a_step(2, "how many", FOURTH), a_step(3, "enough?", FIRST, kind=TraceKind.CHECK))
    drawing = drawn(a_path(1.0, FIRST, FOURTH), a_path(1.0, FOURTH, FIRST), cited=[FIRST, FIFTH], trace=steps)
    assert words(drawing.carried) == ["how much", "about alpha", "how many", "about epsilon"]
    assert arcs(drawing.carried) == {(-1, 0): 1, (0, 1): 1, (1, 4): 1, (-1, 2): 1, (2, 3): 1, (3, 4): 1}
    assert drawing.whole.boxes[0].step == steps[0]
    shown = page(a_path(1.0, FIRST), cited=[FIRST], trace=steps)
    assert '<a class="passage" href="#step-1">' in shown and shown.count('id="step-1"') == 1
    assert "<summary>All paths and steps</summary>" in shown


def test_a_step_that_looked_for_the_question_itself_is_no_box():
    trace = (a_step(1, "How often is the gearbox sampled?", FIRST),)
    assert words(drawn(a_path(1.0, FIRST), cited=[FIRST], trace=trace).carried) == ["about alpha"]


def test_the_lines_are_sound_xml_and_say_what_they_carry():
    shown = page(a_path(0.5, FIRST, FOURTH), a_path(0.25, FIFTH, answer=""), cited=[FIRST, FOURTH])
    drawings = [ElementTree.fromstring(svg) for svg in re.findall("<svg class=.*?</svg>", shown, re.S)]
    assert {svg.get("role") for svg in drawings} == {"img"}
    assert "page 1 [1] to page 2 [2]: flow 0.5" in drawings[2].get("aria-label")
    assert "the question to page 2: flow 0.25, supports no answer" in drawings[2].get("aria-label")


def test_twice_the_flow_is_twice_the_width_and_no_flow_a_thin_line():
    picture = drawn(a_path(1.0, FIRST), a_path(2.0, FOURTH), cited=[FIRST, FOURTH]).carried
    assert picture.out[1].width == pytest.approx(2 * picture.out[0].width)
    assert {line.width for line in drawn(a_path(0.0, FIRST), cited=[FIRST]).carried.out} == {THINNEST}


@st.composite
def chains(draw):
    ways = draw(st.lists(st.lists(st.integers(0, 13), min_size=1, max_size=6, unique=True), min_size=1, max_size=12))
    return [a_path(draw(st.floats(0, 9)), *(NODES[place] for place in way)) for way in ways]


@given(chains(), st.lists(st.sampled_from(NODES), max_size=12, unique=True))
def test_all_flow_goes_from_the_question_to_the_answer_and_lines_stay_beside_each_other_in_the_picture(paths, cited):
    drawing = drawn(*paths, cited=cited)
    assert {box.node for box in drawing.whole.boxes} == {node for node in NODES if any(node.id in path.nodes for path in paths)} | {
        *cited
    }
    for picture in filter(None, (drawing.carried, drawing.whole)):
        rows = len(picture.boxes)
        for row in range(rows):
            into = sum(line.flow for line in picture.into if line.target == row)
            assert into == pytest.approx(sum(line.flow for line in picture.into + picture.out if line.source == row))
        for lines, width in ((picture.into, LEFT), (picture.out, RIGHT + JOINT)):
            ends = [line for line in lines if line.source < 0 or line.target == rows]
            spans = sorted((float(re.search(r"Q(\S+)", line.curve)[1]), line.width / 2) for line in ends)
            assert all(a + half <= b - other + 0.11 for (a, half), (b, other) in itertools.pairwise(spans))
            assert all(0 < at < width for at, _ in spans)
