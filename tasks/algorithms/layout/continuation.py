"""Continuation: paragraphs and tables that a page or column break cuts in two."""

import re
from collections.abc import Iterator, Mapping, Sequence

from storage.records.documents import NodeKind
from tasks.algorithms.layout.boxes import BODY_KINDS, Element, count_words, shared_width
from tasks.algorithms.layout.headings import strip_continued
from tasks.algorithms.layout.tables import Table

_SENTENCE_END = re.compile(r"[.!?:;。\uff01\uff1f][\"'”\u2019)\]\d]*\s*$")
_FEWEST_WORDS = 5  # of the first half; a shorter one is a label, not a sentence
_CONTINUED = re.compile(r"\bcont(?:inued|['\u2019]?d|\.)", re.I)


def find_continued_paragraphs(elements: Sequence[Element]) -> list[tuple[int, int]]:
    """Return pairs of serials: a paragraph and the one that goes on with it, on the same page or the next.

    The parser's word is taken; beyond it, at a page or column break, a sentence without an end that goes on in lower case.
    Figures, tables, captions and footnotes may stand between, a title may not.
    """
    pairs: list[tuple[int, int]] = []
    previous: Element | None = None
    for element in elements:
        if element.block.kind is NodeKind.TITLE:
            previous = None
        elif element.block.kind in BODY_KINDS:
            if previous is not None and element.page - previous.page <= 1 and _goes_on(previous, element):
                pairs.append((previous.serial, element.serial))
            previous = element
    return pairs


def find_continued_tables(elements: Sequence[Element], tables: Mapping[int, Table]) -> list[tuple[int, int]]:
    """Return pairs of serials: a table that ends its page and the one that opens the next with its columns.

    Only footnotes may follow the first; only captions or titles that say "continued" may stand before the second,
    whose header and title, if any, must be the first's. `tables` holds the cells of every TABLE element by serial.
    """
    pairs: list[tuple[int, int]] = []
    last: Element | None = None
    opened = -1
    for element in elements:
        kind = element.block.kind
        if kind is NodeKind.TABLE:
            if (
                last is not None
                and element.page == last.page + 1
                and opened != element.page
                and _is_same_table(last, element, tables)
            ):
                pairs.append((last.serial, element.serial))
            last, opened = element, element.page
        elif kind is not NodeKind.FOOTNOTE and not _belongs_to_table(element, last):
            last = None
    return pairs


def _belongs_to_table(element: Element, table: Element | None) -> bool:
    """Tell a caption of the open table, or a "(continued)" line on the page after it, from running text."""
    if table is None:
        return False
    is_own_caption = element.caption_of is not None and element.caption_of == table.serial
    says_continued = element.page == table.page + 1 and bool(_CONTINUED.search(element.block.text))
    return is_own_caption or says_continued


def _is_same_table(first: Element, second: Element, tables: Mapping[int, Table]) -> bool:
    before, after = tables[first.serial], tables[second.serial]
    if not before.columns or before.columns != after.columns or shared_width(first.block.box, second.block.box) < 0.5:
        return False
    caption = second.block.caption
    renamed = caption and not _CONTINUED.search(caption) and strip_continued(caption) != first.block.caption
    headed = after.header == before.header and strip_continued(after.title) in ("", before.title)
    return not renamed and (not after.header_rows or headed)


def _goes_on(first: Element, second: Element) -> bool:
    if second.block.continues:
        return True
    breaks = second.page != first.page or second.block.box[3] <= first.block.box[1]
    before, after = first.block.text.rstrip(), second.block.text.lstrip()
    unfinished = count_words(before) >= _FEWEST_WORDS and not _SENTENCE_END.search(before)
    return breaks and unfinished and after[:1].islower()


def find_chains(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield each continued element with the first of its chain; pairs come in reading order."""
    first_of: dict[int, int] = {}
    for first, second in pairs:
        first_of[second] = first_of.get(first, first)
        yield second, first_of[second]
