from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.graphs.section_pages import best_section_pages, locate_sections, section_heights, widened
from tests.tasks.algorithms.map_worlds import LYING, TREE, heights_of, make_map, outlines

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
    found = widened(
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


def test_no_page_is_located_twice_and_nothing_where_nothing_is_high():
    heights = HEIGHTS.copy()
    heights[2:5] = 1.0, 1.0, 0.2  # "One one" and its first part share page 2
    assert pages_of(located(world(heights))) == [2, 4, 8, 9]
    assert pages_of(located(world(heights), sections=3)) == [2, 4, 8, 9, 7]
    assert located(world(np.zeros(13))) == ()
    # Only A is high: B is not taken for want of another, though page 3 has a node of A.
    lying = [(0, 1), (0, 2), (0, 3), (1, 3)]
    assert pages_of(located(world([0.75, 0.5, 0.25, 0.0], [("A", None), ("B", None)], lying, pages=3))) == [1, 2]


def test_a_document_without_outline_has_pages_by_its_root():
    assert pages_of(located(world([0.1, 0.5, 0.3], [], [(None, 1), (None, 3), (None, 2)], pages=3))) == [3, 2]
    assert located(world([], [], [], pages=3)) == ()
    assert located() == ()


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


@given(outlines(), st.data())
def test_a_section_is_the_mean_of_its_best_nodes_as_worked_one_by_one(outline, data):
    tree, lying, _pages = outline
    values = data.draw(st.lists(st.sampled_from([0.0, 0.125, 0.5, 1.0]), min_size=len(lying), max_size=len(lying)))
    nodes = heights_of(lying, values)
    for place, height in enumerate(section_heights(nodes, sections=len(tree) + 1, best_nodes=2)):
        own = sorted(value for value, home in zip(values, nodes.homes, strict=True) if home == place)[-2:]
        assert height == (sum(own) / len(own) if own else 0.0)


@pytest.mark.parametrize("wrong", [np.nan, -0.1, np.inf])
def test_heights_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match="heights must be finite, from 0 to inf"):
        located(world([wrong], [], [(None, 1)], pages=1))


@given(outlines(), st.data())
def test_the_first_page_is_the_best_of_the_best_section(outline, data):
    tree, lying, pages = outline
    heights = data.draw(st.lists(st.sampled_from([0.0, 0.125, 0.25, 0.75]), min_size=len(lying), max_size=len(lying)))
    found = pages_of(located(world(heights, tree, lying, pages=pages)))
    assert len(found) == len(set(found)) <= 4
    assert bool(found) == any(heights)
    best = {page: max(h for (_, on), h in zip(lying, heights, strict=True) if on == page) for page in {page for _, page in lying}}
    assert all(best[page] > 0 for page in found)
    if found:
        groups = {home: sorted(h for (own, _), h in zip(lying, heights, strict=True) if own == home)[-3:] for home, _ in lying}
        means = {home: sum(map(Fraction, group)) / len(group) for home, group in groups.items()}
        first = min(means, key=lambda home: (-means[home], -1 if home is None else home))
        under = {first}
        for place, (_, parent) in enumerate(tree):
            if parent in under:
                under.add(place)
        assert found[0] == min((page for home, page in lying if home in under), key=lambda page: (-best[page], page))


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
    assert widened({"e": one}, [("e", 1)], seen=(), nearest=4, most=10) == ()
    maps = {"d": make_map(), "e": make_map([("A", None)], [(0, 1), (0, 2)], pages=2, document="e")}
    assert widened(maps, [("e", 1), ("d", 9)], seen={("d", 2)}, nearest=1, most=10) == (("e", 2), ("d", 10))


@given(outlines(), st.data(), st.integers(1, 4), st.integers(0, 10))
def test_widening_stays_in_the_document_and_away_from_what_was_seen(outline, data, nearest, most):
    tree, lying, pages = outline
    mapped, page = make_map(tree, lying, pages=pages), st.integers(1, pages)
    given_pages, seen = data.draw(st.lists(page, max_size=4)), data.draw(st.sets(page))
    keys, known = [("d", number) for number in given_pages], {*given_pages, *seen}
    found = pages_of(widened({"d": mapped}, keys, seen={("d", number) for number in seen}, nearest=nearest, most=most))
    assert len(found) == len(set(found)) <= min(most, 2 * nearest * len(keys))
    assert set(found) <= set(range(1, pages + 1)) - known
    beside = {number + step for number in given_pages for step in (-1, 1)} & set(range(1, pages + 1)) - known
    assert found or not beside or not most
    for number in found:
        lines = [{section.pages for section in mapped.sections[1:] if one in section.pages} for one in given_pages]
        assert number in beside or any(number in held for line in lines for held in line)
