"""A document as a tree of sections, and the pages that it leads to."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Section
from tasks.algorithms.graphs.section_map import (
    NodeHeights,
    best_section_pages,
    locate_sections,
    map_document,
    widen_pages,
)

TREE = (("One", None), ("One one", 0), ("One one one", 1), ("One one two", 1), ("One two", 0), ("Two", None))
"""Titles and the places of their parents."""

LYING = ((None, 1), (0, 1), (1, 2), (2, 2), (2, 3), (3, 4), (3, 5), (3, 6), (4, 7), (5, 8), (5, 9), (5, 10), (5, 11))
"""Section and page of each node, in reading order; page 12 is blank."""


def make_sections(tree, document="d"):
    """Make the sections of (title, place of the parent), all of which say pages that nobody is to believe."""
    levels = []
    for _, parent in tree:
        levels.append(1 if parent is None else levels[parent] + 1)
    return [
        Section(f"s{place}", document, "v", place, title, level, None if parent is None else f"s{parent}", 1, 1)
        for place, ((title, parent), level) in enumerate(zip(tree, levels, strict=True))
    ]


def make_map(tree=TREE, lying=LYING, *, pages=12, document="d"):
    return map_document(document_id=document, page_count=pages, sections=make_sections(tree, document), lying=under(lying))


def under(lying):
    """Return the page of each node and the id of its section."""
    return [(page, None if section is None else f"s{section}") for section, page in lying]


def heights_of(lying, values):
    return NodeHeights(
        homes=np.array([0 if section is None else section + 1 for section, _ in lying], dtype=np.int64),
        pages=np.array([page for _, page in lying], dtype=np.int64),
        values=np.array(values, dtype=float),
    )


@st.composite
def outlines(draw):
    """Draw tree, nodes and number of pages: any depth, sections without a node and pages without one, nodes in any section."""
    tree = []
    for place in range(draw(st.integers(0, 8))):
        tree.append((f"T{place}", draw(st.none() | st.integers(0, place - 1)) if place else None))
    pages = draw(st.integers(1, 12))
    section = st.none() | st.integers(0, len(tree) - 1) if tree else st.none()
    return tree, draw(st.lists(st.tuples(section, st.integers(1, pages)), max_size=20)), pages


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


NONE, ONE, ONE_ONE, FIRST, SECOND, ONE_TWO, TWO = [0.0], [0.0], [0.0], [0.0, 0.2], [0.9, 0.6, 0.3], [0.7], [0.75, 0.75, 0.75, 0.1]
HEIGHTS = np.array([*NONE, *ONE, *ONE_ONE, *FIRST, *SECOND, *ONE_TWO, *TWO])
"""Of the nodes of the tree of three levels."""


def world(values=HEIGHTS, tree=TREE, lying=LYING, *, pages=12, document="d"):
    """A document's map and the heights of its nodes."""
    return make_map(tree, lying, pages=pages, document=document), heights_of(lying, values)


def located(*worlds, said=None, best_nodes=3, sections=2, pages_each=2):
    """The pages of the located sections, each once, with their document."""
    maps, nodes = [world[0] for world in worlds], [world[1] for world in worlds]
    found = locate_sections(
        maps, nodes, said=said or [()] * len(maps), best_nodes=best_nodes, sections=sections, pages_each=pages_each
    )
    return tuple(dict.fromkeys((section.document_id, page) for section in found for page in section.pages))


def pages_of(keys, document="d"):
    assert {key[0] for key in keys} <= {document}
    return [page for _, page in keys]


def around(*pages, seen=(), nearest=4, most=10):
    found = widen_pages(
        {"d": make_map()}, [("d", page) for page in pages], seen={("d", page) for page in seen}, nearest=nearest, most=most
    )
    return pages_of(found)


def test_the_best_sections_by_the_mean_of_their_three_best_nodes():
    # "Two" 0.75 (its 0.1 does not count), "One two" 0.7, "One one two" 0.6; of equal pages the first.
    assert pages_of(located(world())) == [8, 9, 7]
    assert pages_of(located(world(), sections=3)) == [8, 9, 7, 4, 5]
    assert pages_of(located(world(), pages_each=3)) == [8, 9, 10, 7]
    # By its best node alone "One one two" is the first.
    assert pages_of(located(world(), best_nodes=1)) == [4, 5, 8, 9]


def test_the_pages_of_a_section_are_those_of_its_subsections_too_and_count_whole():
    heights = HEIGHTS.copy()
    heights[2] = 1.0  # "One one" on page 2 has no other node; page 4 is its subsection's
    assert pages_of(located(world(heights), sections=1)) == [2, 4]
    assert best_section_pages(make_map(), 2, nodes=heights_of(LYING, heights), count=9) == (2, 4, 5, 6, 3)
    # Of two sections on page 1 the one is located by its node, and the page by the other's.
    mapped, nodes = world([0.1, 0.5, 0.8], [("A", None), ("B", None)], [(0, 1), (0, 2), (1, 1)], pages=2)
    assert best_section_pages(mapped, 1, nodes=nodes, count=2) == (1, 2)


def test_sections_of_several_documents_stand_in_one_order():
    other = world([0.75, 0.75], [("A", None)], [(0, 1), (0, 2)], pages=2, document="a")
    third = world([0.72], [("B", None)], [(0, 1)], pages=1, document="e")
    worlds = [third, world(), other]
    assert located(*worlds) == (("a", 1), ("a", 2), ("d", 8), ("d", 9))
    assert located(*worlds, sections=3)[4:] == (("e", 1),)
    assert located(*worlds[::-1]) == located(*worlds)


def test_sections_that_are_said_come_first_and_take_nobodys_place():
    assert pages_of(located(world(), said=[{3}])) == [3, 8, 9, 7]  # "One one one" 0.1, then the two best
    assert pages_of(located(world(), said=[{5, 6}], sections=0)) == [8, 9, 7], "among them the best first"
    assert pages_of(located(world(), said=[{1, 2}])) == [8, 9, 7], "what has no height is not taken for its title"


def test_heights_that_are_none_are_refused():
    with pytest.raises(ValueError, match="heights must be finite, from 0 to inf"):
        located(world([np.nan], [], [(None, 1)], pages=1))


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (4, [5, 6, 3, 2]),  # "One one two", then "One one"
        (5, [6, 4, 3, 2]),  # the following of two equally near
        (2, [3, 4, 5, 6]),
        (7, [6, 5, 4, 3]),  # "One two" has no other page; four of "One"
        (1, [2, 3, 4, 5]),  # over "One" stands nothing but the root
        (8, [9, 10, 11]),
        (12, [11]),  # blank: the page beside, and none beyond the document
    ],
)
def test_pages_around_one_in_a_tree_of_three_levels(page, found):
    assert around(page) == found


def test_seen_pages_make_room_for_those_behind_them():
    assert around(8, seen=(9,), nearest=2) == [10, 11]
    assert around(4, seen=(5, 3), nearest=1) == [6, 2]
    assert around(11, seen=(8, 9, 10)) == [12]
    assert around(11, seen=(8, 9, 10, 12)) == []


def test_the_sections_of_all_come_before_what_stands_over_them():
    assert around(4, 8) == [5, 6, 9, 10, 11, 3, 2]
    assert around(4, 8, most=6) == [5, 6, 9, 10, 11, 3]
    assert around(4, 5) == [6, 3, 2]
    assert around(8, 4)[:3] == [9, 10, 11]


def test_a_lone_page_has_nothing_around_it_and_documents_do_not_mix():
    one = make_map([], [(None, 1)], pages=1, document="e")
    assert widen_pages({"e": one}, [("e", 1)], seen=(), nearest=4, most=10) == ()
    maps = {"d": make_map(), "e": make_map([("A", None)], [(0, 1), (0, 2)], pages=2, document="e")}
    assert widen_pages(maps, [("e", 1), ("d", 9)], seen={("d", 2)}, nearest=1, most=10) == (("e", 2), ("d", 10))


@given(outlines(), st.data(), st.integers(1, 4), st.integers(0, 10))
def test_widening_stays_in_the_document_and_away_from_what_was_seen(outline, data, nearest, most):
    tree, lying, pages = outline
    mapped, page = make_map(tree, lying, pages=pages), st.integers(1, pages)
    given_pages, seen = data.draw(st.lists(page, max_size=4)), data.draw(st.sets(page))
    keys, known = [("d", number) for number in given_pages], {*given_pages, *seen}
    found = pages_of(widen_pages({"d": mapped}, keys, seen={("d", number) for number in seen}, nearest=nearest, most=most))
    assert len(found) == len(set(found)) <= min(most, 2 * nearest * len(keys))
    assert set(found) <= set(range(1, pages + 1)) - known
    beside = {number + step for number in given_pages for step in (-1, 1)} & set(range(1, pages + 1)) - known
    assert found or not beside or not most
    for number in found:
        lines = [{section.pages for section in mapped.sections[1:] if one in section.pages} for one in given_pages]
        assert number in beside or any(number in held for line in lines for held in line)
