"""The outline: how deep each title stands, and the tree of sections that follows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from storage.records.documents import NodeKind, OutlineEntry
from tasks.algorithms.layout.boxes import BODY_KINDS, Element, count_words, letter_height, simplify
from tasks.algorithms.layout.headings import Numbering, read_numbering, read_numberings, strip_continued

PageSizes = Mapping[int, tuple[float, float]]
"""Width and height in points of each page."""

_SAME_SIZE = 0.12  # relative difference of letter heights within one level; boxes of one font differ by descenders
_LARGEST_STEP = 3  # headings that the parser missed between two numbers of one series
_KEYWORD_LEVELS = {"part": 1, "item": 2, "chapter": 2, "appendix": 2, "annex": 2}
_UNNUMBERED = frozenset(
    {"abstract", "summary", "executive summary", "introduction", "conclusion", "conclusions", "limitations", "references"}
    | {"bibliography", "acknowledgments", "acknowledgements", "ethics statement", "ethical considerations", "broader impact"}
    | {"appendix", "appendices", "contents", "table of contents", "index", "glossary", "preface", "foreword", "disclaimer"}
)
"""Titles without a number on the level of a numbered document's highest sections."""

_SLIDE_WORDS = 12
_SLIDE_TITLE_BAND = 0.35


@dataclass(frozen=True, slots=True)
class Heading:
    """A section: the serials of its title elements (more where it is "continued"), its level and its parent's place."""

    serials: tuple[int, ...]
    title: str
    level: int
    parent: int | None
    first_page: int
    last_page: int


@dataclass(frozen=True, slots=True)
class SectionOutline:
    """The sections in reading order, and for each element of the document the place of its section, None before the first."""

    headings: tuple[Heading, ...]
    section_of: tuple[int | None, ...]


def index_bookmarks(bookmarks: Iterable[OutlineEntry]) -> dict[str, dict[int, int]]:
    """Return for each simplified bookmark title the pages where it may stand (its own and the next) and its level there."""
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for entry in bookmarks:
        found[simplify(entry.title)].setdefault(entry.page + 1, entry.level)
        found[simplify(entry.title)][entry.page] = entry.level
    return {title: pages for title, pages in found.items() if title}


def find_slide_titles(elements: Sequence[Element], *, page_sizes: PageSizes) -> list[int]:
    """Return the serial of each slide's title: its first TITLE, else its largest line where that stands first and is short."""
    pages: defaultdict[int, list[Element]] = defaultdict(list)
    for element in elements:
        if element.block.kind in BODY_KINDS | {NodeKind.TITLE}:
            pages[element.page].append(element)
    found: list[int] = []
    for page in pages.values():
        titles = [element for element in page if element.block.kind is NodeKind.TITLE]
        if titles:
            found.append(max(titles, key=lambda element: (round(_size(element, page_sizes)), -element.block.box[1])).serial)
        elif _is_slide_title(page[0], page, page_sizes):
            found.append(page[0].serial)
    return found


def rank_titles(
    elements: Sequence[Element], bookmarks: Mapping[str, Mapping[int, int]], *, page_sizes: PageSizes
) -> dict[int, int]:
    """Return a level for each TITLE's serial, 1 the highest; levels may still leave gaps.

    Bookmarks say it first, then numbering, then what numbered titles of the same letter height have,
    else the rank of the letter height. The document's own title (level 1 by the parser, on the first pages) stands over all.
    """
    titles = [element for element in elements if element.block.kind is NodeKind.TITLE]
    root = next((element.serial for element in titles[:3] if element.block.level == 1 and element.page <= 2), None)
    body = [element for element in titles if element.serial != root]
    sizes = _cluster_sizes([_size(element, page_sizes) for element in body])
    stated = _state_levels(body, bookmarks)
    levels = _fill_levels(body, sizes, stated)
    shift = 0 if root is None else 1
    ranked = {element.serial: level + shift for element, level in zip(body, levels, strict=True)}
    return ranked if root is None else {root: 1, **ranked}


def build_outline(elements: Sequence[Element], levels: Mapping[int, int]) -> SectionOutline:
    """Return the tree of sections that titles with these levels open; a child's level is its parent's plus one.

    A title that repeats the open section's ("(continued)" or not) opens none but belongs to it. Elements whose serial
    is not in `levels` open nothing. The last page of a section is that of the last element in it or its children.
    """
    headings: list[Heading] = []
    section_of: list[int | None] = []
    open_sections: list[int] = []
    for element in elements:
        if element.serial in levels:
            _open_section(headings, open_sections, element, levels)
        section_of.append(open_sections[-1] if open_sections else None)
        for place in open_sections:
            headings[place] = replace(headings[place], last_page=element.page)
    return SectionOutline(tuple(headings), tuple(section_of))


def _open_section(headings: list[Heading], open_sections: list[int], element: Element, levels: Mapping[int, int]) -> None:
    """Add a section, or join the title to the open one that it repeats; `open_sections` goes from the top down."""
    title = strip_continued(element.block.text)
    is_continued = title != element.block.text.strip()
    candidates = open_sections if is_continued else open_sections[-1:]
    for depth, place in enumerate(candidates, start=len(open_sections) - len(candidates)):
        if simplify(headings[place].title) == simplify(title):
            headings[place] = replace(headings[place], serials=(*headings[place].serials, element.serial))
            del open_sections[depth + 1 :]
            return
    while open_sections and levels[headings[open_sections[-1]].serials[0]] >= levels[element.serial]:
        open_sections.pop()
    parent = open_sections[-1] if open_sections else None
    level = 1 if parent is None else headings[parent].level + 1
    open_sections.append(len(headings))
    headings.append(Heading((element.serial,), " ".join(title.split()), level, parent, element.page, element.page))


def _size(element: Element, page_sizes: PageSizes) -> float:
    return letter_height(element.block.box, len(element.block.text), page_size=page_sizes[element.page])


def _is_slide_title(element: Element, page: Sequence[Element], page_sizes: PageSizes) -> bool:
    largest = max(_size(other, page_sizes) for other in page)
    short = count_words(element.block.text) <= _SLIDE_WORDS
    return short and element.block.box[1] <= _SLIDE_TITLE_BAND and _size(element, page_sizes) >= 0.95 * largest


def _cluster_sizes(sizes: Sequence[float]) -> list[int]:
    """Return the rank of each size's cluster, 0 the largest; a cluster's sizes lie within a share of its largest."""
    ranks: dict[float, int] = {}
    rank = -1
    largest = float("inf")
    for size in sorted(set(sizes), reverse=True):
        if rank < 0 or size < largest * (1 - _SAME_SIZE):
            rank += 1
            largest = size
        ranks[size] = rank
    return [ranks[size] for size in sizes]


def _state_levels(titles: Sequence[Element], bookmarks: Mapping[str, Mapping[int, int]]) -> list[int | None]:
    """Return the level that a bookmark or a number states for each title, None where neither does."""
    numberings = read_numberings([element.block.text for element in titles])
    reader = _NumberReader(numberings)
    stated: list[int | None] = []
    for element, numbering in zip(titles, numberings, strict=True):
        marked = bookmarks.get(simplify(element.block.text), {}).get(element.page)
        numbered = reader.read(numbering)
        stated.append(marked if marked is not None else numbered)
    return stated


class _NumberReader:
    """Turns numberings, one after the other, into levels; remembers the open chapter and where the series stands."""

    def __init__(self, numberings: Sequence[Numbering | None]) -> None:
        known = [numbering for numbering in numberings if numbering is not None]
        keywords = [_KEYWORD_LEVELS[numbering.scheme] for numbering in known if numbering.scheme in _KEYWORD_LEVELS]
        letters = {numbering.number[0] for numbering in known if numbering.scheme == "letter"}
        self._top = min(keywords, default=1)
        self._under_roman = int(sum(numbering.scheme == "roman" for numbering in known) > 1)
        self._has_letters = {"A", "B"} <= letters
        self._base = 0
        self._chapter = ""
        self._last = 0

    def read(self, numbering: Numbering | None) -> int | None:
        """Return the level of the next title; None where its number says nothing."""
        if numbering is None:
            return None
        if numbering.scheme in _KEYWORD_LEVELS:
            self._base = _KEYWORD_LEVELS[numbering.scheme] - self._top + 1
            self._chapter, self._last = numbering.number, 0
            return self._base
        readers = {"arabic": self._read_arabic, "letter": self._read_letter, "roman": self._read_roman}
        return readers[numbering.scheme](numbering) if numbering.scheme in readers else None

    def _read_arabic(self, numbering: Numbering) -> int | None:
        """Read 4, 4.1 or 4.1.2; a first number that does not follow its series ("3 ways to save") is none."""
        first = int(numbering.number.split(".")[0])
        if numbering.depth == 1:
            if first > 1 and not self._last < first <= self._last + _LARGEST_STEP:
                return None
            self._last = first
        # 3.1 in chapter 3 counts the chapter's number; 2.1 in an item does not.
        own = self._base - 1 if self._chapter == str(first) and numbering.depth > 1 else self._base
        return own + numbering.depth + (self._under_roman if self._base == 0 else 0)

    def _read_letter(self, numbering: Numbering) -> int | None:
        """Read A or A.1; a lone letter counts where A and B are both there."""
        in_appendix = self._chapter == numbering.number[0]
        if not numbering.dotted and not self._has_letters:
            return None
        return self._base + numbering.depth - in_appendix + (self._under_roman if numbering.depth == 1 else 0)

    def _read_roman(self, _: Numbering) -> int | None:
        return self._base + 1 if self._under_roman else None


def _fill_levels(titles: Sequence[Element], sizes: Sequence[int], stated: Sequence[int | None]) -> list[int]:
    """Give each title without a stated level one.

    Where chapters or items are numbered it stands under the open one; in a numbered document "References" and the like
    have the level of the highest; others have the level that is usual for their letter height.
    """
    votes: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for size, level in zip(sizes, stated, strict=True):
        if level is not None:
            votes[size][level] += 1
    usual = {size: min(counts, key=lambda level: (-counts[level], level)) for size, counts in votes.items()}
    schemes = {numbering.scheme for element in titles if (numbering := read_numbering(element.block.text))}
    has_keywords = bool(schemes & set(_KEYWORD_LEVELS))
    levels: list[int] = []
    enclosing = 0
    for element, size, level in zip(titles, sizes, stated, strict=True):
        if level is not None:
            enclosing = level
        elif has_keywords:
            level = enclosing + 1
        elif usual and simplify(element.block.text) in _UNNUMBERED:
            level = min(level for level in stated if level is not None)
        else:
            level = _guess_level(size, usual)
        levels.append(level)
    return levels


def _guess_level(size: int, usual: Mapping[int, int]) -> int:
    if size in usual:
        return usual[size]
    larger = [place for place in usual if place < size]
    if larger:
        nearest = max(larger)
        return usual[nearest] + 1
    return min(size + 1, min(usual.values(), default=size + 1))
