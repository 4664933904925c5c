"""Headers, footers and page numbers: which blocks they are, and what number is printed on each page."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product

from storage.records.documents import NodeKind, ParsedPage
from tasks.algorithms.layout.boxes import BODY_KINDS, FURNITURE_KINDS, count_words

Place = tuple[int, int]
"""(index of the page, index of the block on it)."""

_Numbering = tuple[str, int]
"""(what stands before the number: "", "roman", "ROMAN" or a prefix such as "F-"; printed number minus physical page)."""

_EDGE_KINDS = BODY_KINDS | {NodeKind.TITLE, NodeKind.FOOTNOTE}
_MAXIMUM_WORDS = 40  # a header is short; a longer block under that name is text
_NUMBER = re.compile(
    r"(?:page|p\.|seite|pg\.?)?\s*[-\u2013\u2014|\[(]?\s*([A-Z]-)?(\d{1,4})\s*[-\u2013\u2014|\])]?(?:\s*(?:of|/)\s*\d{1,4})?",
    re.I,
)
_NUMBER_AT_END = re.compile(r"(?:^([A-Z]-)?(\d{1,4})\b)|(?:(?<![\w.,-])([A-Z]-)?(\d{1,4})$)")
_TENS = ("", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx", "xc")
_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ROMAN = {tens + ones: number for number, (tens, ones) in enumerate(product(_TENS, _ONES)) if number}
"""The Roman numerals of 1..99."""


def read_roman(text: str) -> int | None:
    """Return the value of a Roman numeral below 100, None where it is none."""
    return _ROMAN.get(text.casefold())


def write_roman(number: int) -> str:
    """Return the lower-case Roman numeral of 1..99."""
    return _TENS[number // 10] + _ONES[number % 10]


def find_furniture(pages: Sequence[ParsedPage], *, repeated_share: float, edge_band: float) -> frozenset[Place]:
    """Return the blocks that are headers, footers or page numbers.

    What the parser calls so is, unless it has over 40 words. So is a line at a page's edge that returns, up to its digits,
    on `repeated_share` of the pages (three at least); a title must return on half of them (five at least), since slides
    repeat real ones. A bare number counts where it follows the numbering of several pages.
    """
    found = {
        (index, position)
        for index, page in enumerate(pages)
        for position, block in enumerate(page.blocks)
        if block.kind in FURNITURE_KINDS and count_words(block.text) <= _MAXIMUM_WORDS
    }
    edges = [place for index, page in enumerate(pages) for place in _edge_places(index, page, edge_band=edge_band)]
    found |= _find_repeated(pages, edges, repeated_share=repeated_share)
    numberings = _fit_numberings(pages, found | set(edges))
    for place in edges:
        if numberings.get(place[0]) in _numberings_of(pages, place, bare=True):
            found.add(place)
    return frozenset(found)


def fit_labels(pages: Sequence[ParsedPage], furniture: frozenset[Place]) -> tuple[str | None, ...]:
    """Return the printed label of each page: the file's own where it has any, else what its furniture agrees on.

    A number is believed when three pages (or all of a shorter document) are numbered the same way; a page without one
    between two of these takes what is due to it.
    """
    if any(page.label for page in pages):
        return tuple(page.label for page in pages)
    numberings = _fit_numberings(pages, furniture)
    return tuple(_write_label(numberings.get(index), page.number) for index, page in enumerate(pages))


def _edge_places(index: int, page: ParsedPage, *, edge_band: float) -> list[Place]:
    """Return the short blocks in the edge bands, and the outermost ones of a page that does not reach its edges."""
    short = [
        (position, block.box)
        for position, block in enumerate(page.blocks)
        if block.kind in _EDGE_KINDS and block.text.strip() and count_words(block.text) <= _MAXIMUM_WORDS
    ]
    if not short:
        return []
    chosen = {position for position, box in short if box[3] <= edge_band or box[1] >= 1 - edge_band}
    chosen.add(min(short, key=lambda item: item[1][1])[0])
    chosen.add(max(short, key=lambda item: item[1][3])[0])
    return [(index, position) for position in sorted(chosen)]


def _find_repeated(pages: Sequence[ParsedPage], edges: Sequence[Place], *, repeated_share: float) -> set[Place]:
    groups: defaultdict[tuple[str, bool, bool], list[Place]] = defaultdict(list)
    for place in edges:
        block = pages[place[0]].blocks[place[1]]
        line = re.sub(r"\d+", "#", " ".join(block.text.casefold().split()))
        if re.search(r"[^\W\d_]", line):
            groups[line, block.kind is NodeKind.TITLE, block.box[1] < 0.5].append(place)
    found: set[Place] = set()
    for (_, is_title, _), places in groups.items():
        needed = max(5, len(pages) / 2) if is_title else max(3, repeated_share * len(pages))
        if len({index for index, _ in places}) >= needed:
            found.update(places)
    return found


def _numberings_of(pages: Sequence[ParsedPage], place: Place, *, bare: bool) -> set[_Numbering]:
    """Return what numbering a block's number would belong to; `bare` asks for a block that is nothing but a number."""
    page = pages[place[0]]
    text = page.blocks[place[1]].text.strip()
    found: set[_Numbering] = set()
    if match := _NUMBER.fullmatch(text):
        found.add(((match[1] or "").upper(), int(match[2]) - page.number))
    elif roman := read_roman(text):
        found.add(("ROMAN" if text.isupper() else "roman", roman - page.number))
    elif not bare:
        for match in _NUMBER_AT_END.finditer(text):
            found.add((match[1] or match[3] or "", int(match[2] or match[4]) - page.number))
    return found


def _fit_numberings(pages: Sequence[ParsedPage], places: Iterable[Place]) -> dict[int, _Numbering]:
    """Return the numbering of each page (by index) within the runs of pages that enough of them agree on.

    The strongest numbering takes all pages between its first and its last; a weaker one only counts where most of its
    pages lie outside of stronger ones, so that years and other numbers at an edge are none.
    """
    voters: defaultdict[_Numbering, set[int]] = defaultdict(set)
    for place in places:
        for numbering in _numberings_of(pages, place, bare=False):
            voters[numbering].add(place[0])
    fitted: dict[int, _Numbering] = {}
    for numbering, indices in sorted(voters.items(), key=lambda item: (-len(item[1]), item[0])):
        free = [index for index in indices if index not in fitted]
        if len(indices) < min(3, len(pages)):
            break
        if 2 * len(free) > len(indices):
            for index in range(min(free), max(free) + 1):
                fitted.setdefault(index, numbering)
    return fitted


def _write_label(numbering: _Numbering | None, page: int) -> str | None:
    if numbering is None:
        return None
    prefix, offset = numbering
    if prefix.casefold() == "roman":
        roman = write_roman(page + offset)
        return roman.upper() if prefix == "ROMAN" else roman
    return f"{prefix}{page + offset}"
