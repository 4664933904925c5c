"""The drawing: each node once and with its page, each route with its flow, each citation with its number."""

import re
from xml.etree import ElementTree

from tasks.report.page import show_page
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import DOCX, PPTX, a_node, a_path, a_record, a_table, an_answer, cite, evidence_of

PAPER = a_record(document_id("paper"), "paper.pdf")
LETTER = a_record(document_id("letter"), "letter.docx", media_type=DOCX)
DECK = a_record(document_id("deck"), "deck.pptx", media_type=PPTX)
FIRST, SECOND = a_node(PAPER.id, 0, "the first words", page=3), a_node(PAPER.id, 1, "the second words", page=4)
TABLE, ALONE = a_table(PAPER.id, 2, page=5), a_node(LETTER.id, 0, "a letter")


def draw(*paths, citations=(), nodes=(FIRST, SECOND, TABLE, ALONE)):
    page = show_page(an_answer(citations, paths), evidence_of(*nodes, records=(PAPER, LETTER, DECK)))
    return re.search('<div class="graph".*?</div>', page, re.S)[0]


def test_the_drawing_is_sound_xml_twice_also_where_paths_run_in_a_circle():
    tree = ElementTree.fromstring(draw(a_path(0.5, FIRST, SECOND), a_path(0.25, SECOND, FIRST), a_path(0.2, ALONE)))
    assert [svg.get("class") for svg in tree] == ["lying", "standing"]


def test_each_node_stands_once_with_its_place_and_words_and_leads_to_the_list():
    lying = draw(a_path(0.5, FIRST, SECOND), a_path(0.25, FIRST, TABLE)).split('<svg class="standing"')[0]
    assert re.findall('<a class="node [^>]*href="([^"]*)"', lying) == ["#node-1", "#node-2", "#node-3"]
    assert "p. 5 · Table 1" in lying
    assert "the first words" in lying
    assert "paper, p. 3: the first words</title>" in lying


def test_only_a_drawing_too_wide_for_a_desk_says_that_it_scrolls():
    chain = tuple(a_node(PAPER.id, place, page=1 + place) for place in range(11))
    assert "scroll sideways" in draw(a_path(0.5, *chain), nodes=chain)
    assert "scroll sideways" not in draw(*(a_path(0.5, node) for node in chain), nodes=chain)


def test_cited_nodes_carry_their_numbers_and_lead_to_their_citation():
    drawn = draw(a_path(0.5, FIRST), citations=[cite(node, PAPER) for node in (SECOND, FIRST, SECOND, SECOND, FIRST)])
    assert 'class="node text is-cited" href="#citation-2"' in drawn
    assert "(cited as 2, 5)" in drawn


def test_a_route_says_its_flow_and_whether_it_supports_an_answer():
    drawn = draw(a_path(0.5, FIRST, SECOND), a_path(0.25, TABLE, answer=""))
    assert "paper, p. 3 to paper, p. 4: flow 0.5<" in drawn
    assert "Question to paper, p. 5: flow 0.25, supports no answer" in drawn
    assert drawn.count('class="ribbon idle"') == drawn.count('class="dashes"') == 4


def test_nodes_that_are_gone_say_so():
    drawn = draw(a_path(0.5, FIRST, SECOND), nodes=(FIRST,))
    assert "This element is gone." in drawn
    assert 'class="node gone"' in drawn


def test_a_document_without_pages_is_named_by_what_the_element_is():
    standing = draw(a_path(0.5, ALONE)).split('<svg class="standing"')[1]
    assert ">text</text>" in standing
    crowded = [a_node(PAPER.id, place, page=1000 + place) for place in range(12)]
    assert ">1000<" in draw(*(a_path(1.0, node) for node in crowded), nodes=tuple(crowded))
    slides = [a_node(DECK.id, place, page=1 + place) for place in range(11)]
    assert ">11</text>" in draw(*(a_path(1.0, node) for node in slides), nodes=tuple(slides)).split('<svg class="standing"')[1]


def test_words_of_documents_are_only_words():
    drawn = draw(
        a_path(0.5, a_node(PAPER.id, 9, "</text><script>alert(1)</script>")),
        nodes=(a_node(PAPER.id, 9, "</text><script>x</script>"),),
    )
    assert "<script" not in drawn
    ElementTree.fromstring(drawn)
