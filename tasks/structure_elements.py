"""A document's elements in reading order, each to become a node: out of its blocks, without furniture, with its titles found."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from storage.records import NodeKind, PageParser, ParsedDocument, ParsedPage
from tasks.algorithms.boxes import Element, count_words, order_boxes
from tasks.algorithms.captions import join_captions
from tasks.algorithms.headings import correct_headings
from tasks.algorithms.outline import find_slide_titles, index_bookmarks, rank_titles
from tasks.algorithms.passages import shape_passages
from tasks.settings import StructureSettings
from tasks.structure_records import MODALITIES

_ORDERLESS_PARSERS = frozenset({PageParser.PDFIUM, PageParser.OCR})
_SLIDE_WORDS = 150  # a landscape page with more words is a report's


def read_elements(
    parsed: ParsedDocument, furniture: frozenset[tuple[int, int]], settings: StructureSettings
) -> tuple[list[Element], dict[int, int]]:
    """Return the document's elements in reading order, each to become a node, and the level of each title's serial."""
    placed = _place_elements(parsed.pages, furniture)
    bookmarks = index_bookmarks(parsed.outline)
    page_sizes = {page.number: (page.width_points, page.height_points) for page in parsed.pages}
    elements = correct_headings(placed, {title: frozenset(pages) for title, pages in bookmarks.items()})
    elements = join_captions(elements)
    slide_titles = find_slide_titles(elements, page_sizes=page_sizes) if _is_slides(elements, parsed.pages) else []
    elements = _as_titles(elements, frozenset(slide_titles))
    shaped = shape_passages(elements, merge_words=settings.merge_words, split_words=settings.split_words)
    if not slide_titles:
        return shaped, rank_titles(shaped, bookmarks, page_sizes=page_sizes)
    own = set(slide_titles)
    return shaped, {element.serial: 1 if element.serial in own else 2 for element in shaped if element.block.kind is NodeKind.TITLE}


def _place_elements(pages: Sequence[ParsedPage], furniture: frozenset[tuple[int, int]]) -> list[Element]:
    elements: list[Element] = []
    for index, page in enumerate(pages):
        positions = [
            position
            for position, block in enumerate(page.blocks)
            if (index, position) not in furniture and (block.text.strip() or block.kind in MODALITIES)
        ]
        if page.parser in _ORDERLESS_PARSERS:
            positions = [positions[place] for place in order_boxes([page.blocks[position].box for position in positions])]
        for position in positions:
            block = page.blocks[position]
            # What is called a header but was not furniture is text.
            kept = NodeKind.PARAGRAPH if block.kind in {NodeKind.HEADER, NodeKind.FOOTER, NodeKind.PAGE_NUMBER} else block.kind
            elements.append(Element(len(elements), page.number, replace(block, kind=kept)))
    return elements


def _is_slides(elements: Sequence[Element], pages: Sequence[ParsedPage]) -> bool:
    words = Counter({page.number: 0 for page in pages})
    for element in elements:
        words[element.page] += count_words(element.block.text)
    wide = sum(page.width_points > page.height_points for page in pages)
    return len(pages) > 1 and wide > 0.8 * len(pages) and statistics.median(words.values()) <= _SLIDE_WORDS


def _as_titles(elements: Sequence[Element], serials: frozenset[int]) -> list[Element]:
    return [
        replace(element, block=replace(element.block, kind=NodeKind.TITLE)) if element.serial in serials else element
        for element in elements
    ]
