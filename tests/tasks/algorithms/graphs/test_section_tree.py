import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import NodeKind
from tasks.algorithms.graphs.section_tree import map_document, section_summaries
from tasks.algorithms.text.words import count_words
from tests.tasks.algorithms.map_worlds import make_map, make_nodes, make_sections, outlines


def test_a_tree_of_three_levels_worked_by_hand():
    mapped = make_map(kinds={6: NodeKind.FIGURE, 7: NodeKind.TABLE})
    assert [(section.title, section.level, section.parent, section.pages) for section in mapped.sections] == [
        ("", 0, 0, tuple(range(1, 13))),
        ("One", 1, 0, (1, 2, 3, 4, 5, 6, 7)),
        ("One one", 2, 1, (2, 3, 4, 5, 6)),
        ("One one one", 3, 2, (2, 3)),
        ("One one two", 3, 2, (4, 5, 6)),
        ("One two", 2, 1, (7,)),
        ("Two", 1, 0, (8, 9, 10, 11)),
    ]
    assert [page.sections for page in mapped.pages] == [(0, 1), (2, 3), (3,), (4,), (4,), (4,), (5,), (6,), (6,), (6,), (6,), (0,)]
    assert [[node.id for node in page.elements] for page in mapped.pages[3:7]] == [[], ["n6"], ["n7"], []]
    assert mapped.homes == (0, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6, 6, 6)


def test_the_smallest_section_of_a_page_has_the_fewest_pages_and_is_the_deepest_of_equals():
    assert [make_map().smallest_section(page) for page in (1, 2, 6, 7, 12)] == [1, 3, 4, 5, 0]
    # Chapter and part hold the one page alike, and so does the root.
    assert make_map([("Chapter", None), ("Part", 0)], [(0, 1), (1, 1)], pages=1).smallest_section(1) == 2
    # Of two on the same level the first.
    assert make_map([("A", None), ("B", None)], [(0, 1), (1, 1)], pages=2).smallest_section(1) == 1


def test_a_document_without_outline_or_nodes_is_all_root():
    for lying in ([], [(None, 2)]):
        mapped = make_map([], lying, pages=3)
        assert [section.pages for section in mapped.sections] == [(1, 2, 3)]
        assert [page.sections for page in mapped.pages] == [(0,), (0,), (0,)]


@given(outlines())
def test_every_page_is_under_something_and_a_section_holds_what_its_children_hold(outline):
    tree, lying, pages = outline
    mapped = make_map(tree, lying, pages=pages)
    assert [page.number for page in mapped.pages] == list(range(1, pages + 1))
    assert all(page.sections for page in mapped.pages)
    for page in mapped.pages:
        assert all(page.number in mapped.sections[place].pages for place in page.sections)
    for section in mapped.sections:
        assert set(section.pages) <= set(mapped.sections[section.parent].pages)
    # Reference: the pages of all nodes that can be reached from the section.
    arrows = nx.DiGraph([(section.parent, place) for place, section in enumerate(mapped.sections) if place])
    arrows.add_nodes_from(range(len(mapped.sections)))
    for place, section in list(enumerate(mapped.sections))[1:]:
        under = {place, *nx.descendants(arrows, place)}
        assert section.pages == tuple(sorted({page for home, page in lying if home is not None and home + 1 in under}))


@given(outlines(), st.data())
def test_the_map_is_equal_whatever_the_order_of_arrival(outline, data):
    tree, lying, pages = outline
    kinds = dict.fromkeys(range(0, len(lying), 2), NodeKind.TABLE)
    sections = data.draw(st.permutations(make_sections(tree)))
    nodes = data.draw(st.permutations(make_nodes(lying, kinds)))
    mapped = map_document(document_id="d", page_count=pages, sections=sections, nodes=nodes)
    assert mapped == make_map(tree, lying, pages=pages, kinds=kinds)


def test_a_summary_has_the_titles_right_under_a_section_and_sentences_of_its_own_nodes():
    summaries = {1: "Rivers rise. Snow melts.", 2: "Floods come.", 3: "Dams break.", 5: "", 8: "Lakes dry."}
    mapped = make_map(kinds={2: NodeKind.TITLE}, summaries=summaries)
    assert section_summaries(mapped, [1, 2, 3, 4, 5, 6], words=40) == (
        "One one; One two: Rivers rise. Snow melts.",
        "One one one; One one two",  # its title is not said again
        "Dams break.",
        "",
        "Lakes dry.",
        "",
    )
    assert section_summaries(mapped, [5], words=40) == ("Lakes dry.",)
    assert section_summaries(mapped, [0], words=40) == ("One; Two",)
    assert section_summaries(mapped, [], words=40) == ()


def test_the_words_of_its_title_choose_the_sentences_of_a_section():
    lying, summary = [(0, 1), (1, 1)], "Snow falls. Rivers rise. Winds blow."
    mapped = make_map([("Winds blow", None), ("Rivers rise", None)], lying, pages=1, summaries=dict.fromkeys((0, 1), summary))
    assert section_summaries(mapped, [1, 2], words=2) == ("Winds blow.", "Rivers rise.")


@pytest.mark.parametrize("words", [10, 40])
@given(st.lists(st.text("ab .", max_size=80), max_size=6), st.text("xy ", max_size=120))
def test_a_summary_is_no_longer_than_asked(words, summaries, title):
    mapped = make_map([("A", None), (title, 0)], [(0, 1)] * len(summaries), pages=1, summaries=dict(enumerate(summaries)))
    summary = section_summaries(mapped, [1], words=words)[0]
    assert count_words(summary.removesuffix(" …")) <= words


@given(outlines(), st.data())
def test_summaries_do_not_depend_on_the_order_of_arrival(outline, data):
    tree, lying, pages = outline
    summaries = {place: f"Word{place % 3} is here. More of word{place % 2}." for place in range(len(lying))}
    nodes = data.draw(st.permutations(make_nodes(lying, summaries=summaries)))
    mapped = map_document(document_id="d", page_count=pages, sections=make_sections(tree), nodes=nodes)
    places = range(len(mapped.sections))
    assert section_summaries(mapped, places, words=8) == section_summaries(
        make_map(tree, lying, pages=pages, summaries=summaries), places, words=8
    )
