"""Maps of documents for the tests: a tree of three levels, and outlines drawn at random."""

import numpy as np
from hypothesis import strategies as st

from storage.records.documents import Section
from tasks.algorithms.graphs.section_pages import NodeHeights
from tasks.algorithms.graphs.section_tree import map_document

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
