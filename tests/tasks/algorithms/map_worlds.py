"""Maps of documents for the tests: a tree of three levels, and outlines drawn at random."""

from hypothesis import strategies as st

from storage.records.documents import NodeKind, Section
from tasks.algorithms.graphs.section_tree import MappedNode, map_document

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


def make_nodes(lying, kinds=(), summaries=()):
    """Make the nodes of (section, page), paragraphs without words but for the kinds and summaries given by place."""
    kinds, summaries = dict(kinds), dict(summaries)
    return [
        MappedNode(
            id=f"n{place}",
            ordinal=place,
            page=page,
            kind=kinds.get(place, NodeKind.PARAGRAPH),
            section_id=None if section is None else f"s{section}",
            summary=summaries.get(place, ""),
            label="",
        )
        for place, (section, page) in enumerate(lying)
    ]


def make_map(tree=TREE, lying=LYING, *, pages=12, document="d", **of_nodes):
    return map_document(
        document_id=document, page_count=pages, sections=make_sections(tree, document), nodes=make_nodes(lying, **of_nodes)
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
