"""Headings: the number that one opens with, and those that the parser took for text."""

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from storage.records.documents import NodeKind
from tasks.algorithms.layout.boxes import BODY_KINDS, Element, count_words, simplify

MAXIMUM_WORDS = 14  # of a heading that is promoted; the parser's own may be longer
_FOLLOWING_WORDS = 15  # of the paragraph that a promoted heading opens
_SIMILAR = 0.2  # relative difference of heights within a kind of heading
_ALIGNED = 0.02  # of the page's width

_KEYWORD = re.compile(
    r"\s*(part|item|chapter|appendix|annex|section|note|lecture|unit|module|step)\s+(\d{1,3}[A-Z]?(?:\.\d{1,3})*|[IVXLC]{1,6}|[A-Z])\b"
    r"(?=\s*[.:)\u2013\u2014\-]|\s|$)",
    re.I,
)
_NUMBERED = re.compile(r"\s*§?\s*(\d{1,2}(?:\.\d{1,3}){0,4})(\.?\)?)\s+(?=[^\W\d_]|[\"“'\u2018(])")
_LETTERED = re.compile(r"\s*([A-Z](?:\.\d{1,3}){1,4})\.?\s+(?=\S)|\s*([A-Z])[.)]?\s+(?=[A-Z][\w-]+)")
_ROMAN = re.compile(r"\s*([IVX]{1,5})[.)]\s+(?=\S)")
_BULLETS = frozenset("\u2022\u00b7\u25aa\u25cf\u25e6\uf0b7")
_CONTINUED = re.compile(r"\s*[(\[]?\s*\b(?:continued|cont['\u2019]?d|cont)\b\.?\s*[)\]]?\s*$", re.I)


@dataclass(frozen=True, slots=True)
class Numbering:
    """What a heading is numbered as: `scheme` is "arabic", "letter", "roman" or the word before the number, folded."""

    scheme: str
    number: str
    dotted: bool = False

    @property
    def depth(self) -> int:
        """How many numbers it has: 3 for 4.1.2, 1 for a word with its number."""
        return self.number.count(".") + 1


def read_numbering(title: str) -> Numbering | None:
    """Return the numbering that a heading opens with ("4.1 Results", "IV. Method", "Item 7A. Risks"), None without one."""
    if match := _KEYWORD.match(title):
        return Numbering(match[1].casefold(), match[2].upper(), dotted=True)
    if match := _NUMBERED.match(title):
        return Numbering("arabic", match[1], dotted=bool(match[2]) or "." in match[1])
    if match := _ROMAN.match(title):
        return Numbering("roman", match[1], dotted=True)
    if match := _LETTERED.match(title):
        return Numbering("letter", match[1] or match[2], dotted=match[1] is not None)
    return None


def read_numberings(titles: Sequence[str]) -> list[Numbering | None]:
    """Return the numbering of each title of a document; "1 Year" is none where the others are numbered "1." and so on."""
    numberings = [read_numbering(title) for title in titles]
    single = [numbering.dotted for numbering in numberings if _is_single(numbering)]
    dotted = 2 * sum(single) >= len(single)
    return [None if _is_single(numbering) and numbering.dotted != dotted else numbering for numbering in numberings]


def _is_single(numbering: Numbering | None) -> TypeGuard[Numbering]:
    return numbering is not None and numbering.scheme == "arabic" and numbering.depth == 1


def strip_continued(title: str) -> str:
    """Return a title without the "(continued)" at its end; the title itself where nothing else is left."""
    return _CONTINUED.sub("", title).strip() or title.strip()


def correct_headings(elements: Sequence[Element], bookmarks: Mapping[str, frozenset[int]]) -> list[Element]:
    """Return the elements with headings that the parser took for paragraphs as titles, and titles without words as paragraphs.

    A heading is short and closed by no sentence sign, and is named by a bookmark (`bookmarks` gives the pages of each
    simplified title), opens with a word and number as in "PART I", or is the first on its page and looks like the
    document's other titles, with a paragraph under it.
    """
    heights = [element.block.box[3] - element.block.box[1] for element in elements if element.block.kind is NodeKind.TITLE]
    usual_height = statistics.median(heights) if heights else 0.0
    promoted: list[Element] = []
    for position, element in enumerate(elements):
        following = elements[position + 1] if position + 1 < len(elements) else None
        opens_page = position == 0 or elements[position - 1].page != element.page
        if _could_be_heading(element) and (
            element.page in bookmarks.get(simplify(element.block.text), ())
            or _is_keyword_heading(element, following)
            or (opens_page and _looks_like_a_title(element, following, usual_height))
        ):
            element = replace(element, block=replace(element.block, kind=NodeKind.TITLE, continues=False))
        elif element.block.kind is NodeKind.TITLE and not _says_something(element.block.text):
            element = replace(element, block=replace(element.block, kind=NodeKind.PARAGRAPH))
        promoted.append(element)
    return promoted


def _says_something(title: str) -> bool:
    """Tell a title from a number, sign or list item that only looked like one: two letters, or a sign that is a word."""
    if title.lstrip()[:1] in _BULLETS:
        return False
    letters = [sign for sign in title if sign.isalpha()]
    return len(letters) > 1 or any(sign > "\u2fff" for sign in letters)


def _could_be_heading(element: Element) -> bool:
    block = element.block
    return (
        block.kind is NodeKind.PARAGRAPH
        and count_words(block.text) <= MAXIMUM_WORDS
        and "\n" not in block.text.strip()
        and block.text.strip()[:1].isalnum()
        and not block.text.strip()[:1].islower()
    )


def _is_keyword_heading(element: Element, following: Element | None) -> bool:
    """Tell "Item 7. Properties" and "PART II" from sentences and entries of a table of contents."""
    match = _KEYWORD.match(element.block.text)
    if match is None or match[1].casefold() not in {"part", "item", "chapter", "appendix", "annex"} or not match[1][0].isupper():
        return False
    rest = element.block.text[match.end() :].strip(" .:\u2013\u2014-)")
    entry = re.search(r"\d\s*$", rest) or (
        following is not None and following.page == element.page and _opens_same(element, following)
    )
    return not entry and (not rest or rest[0].isupper())


def _opens_same(first: Element, second: Element) -> bool:
    numberings = [_KEYWORD.match(element.block.text) for element in (first, second)]
    return all(numberings) and len({match[1].casefold() for match in numberings if match}) == 1


def _looks_like_a_title(element: Element, following: Element | None, usual_height: float) -> bool:
    block = element.block
    if following is None or following.page != element.page or following.block.kind not in BODY_KINDS | {NodeKind.TITLE}:
        return False
    is_body = following.block.kind in BODY_KINDS
    if is_body and (count_words(following.block.text) < _FOLLOWING_WORDS or following.block.text[:1].islower()):
        return False
    if block.text.rstrip()[-1:] in ".,;:?!-" or abs(block.box[0] - following.block.box[0]) > _ALIGNED:
        return False
    height = block.box[3] - block.box[1]
    return abs(height - usual_height) <= _SIMILAR * usual_height
