import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.graphs.section_tree import map_document
from tests.tasks.algorithms.map_worlds import make_map, make_sections, outlines, under


def test_a_tree_of_three_levels_worked_by_hand():
    mapped = make_map()
    assert [(section.title, section.level, section.parent, section.pages) for section in mapped.sections] == [
        ("", 0, 0, tuple(range(1, 13))),
        ("One", 1, 0, (1, 2, 3, 4, 5, 6, 7)),
        ("One one", 2, 1, (2, 3, 4, 5, 6)),
        ("One one one", 3, 2, (2, 3)),
        ("One one two", 3, 2, (4, 5, 6)),
        ("One two", 2, 1, (7,)),
        ("Two", 1, 0, (8, 9, 10, 11)),
    ]
    assert mapped.on_pages == ((0, 1), (2, 3), (3,), (4,), (4,), (4,), (5,), (6,), (6,), (6,), (6,), (0,))
    assert mapped.places == {None: 0, **{f"s{place}": place + 1 for place in range(6)}}


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
        assert mapped.on_pages == ((0,), (0,), (0,))


@given(outlines())
def test_every_page_is_under_something_and_a_section_holds_what_its_children_hold(outline):
    tree, lying, pages = outline
    mapped = make_map(tree, lying, pages=pages)
    assert len(mapped.on_pages) == pages and all(mapped.on_pages)
    for page, places in enumerate(mapped.on_pages, 1):
        assert all(page in mapped.sections[place].pages for place in places)
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
    sections, nodes = data.draw(st.permutations(make_sections(tree))), data.draw(st.permutations(under(lying)))
    mapped = map_document(document_id="d", page_count=pages, sections=sections, lying=nodes)
    assert mapped == make_map(tree, lying, pages=pages)
