"""References: "Figure 3", "Section 4.1", "page 12" in the text, and the elements that they point to."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storage.records.documents import NodeKind
from tasks.algorithms.layout.boxes import VISUAL_KINDS, Element, simplify
from tasks.algorithms.layout.captions import LABEL_KINDS, LABEL_NUMBER
from tasks.algorithms.layout.headings import read_numberings

_LONGEST_RANGE = 20  # "Tables 1-30" names a part of the document, not thirty tables
_CONTENTS_LINES = 3
_CONTENTS_SHARE = 0.6

_WORDS = {
    **{word: label.casefold() for word, label in LABEL_KINDS.items()},
    **dict.fromkeys(("section", "sect", "sec", "§"), "section"),
    **dict.fromkeys(("page", "pp", "p", "pg", "slide"), "page"),
    **dict.fromkeys(("appendix", "appendice", "annex"), "appendix"),
    **dict.fromkeys(("equation", "eq", "eqn"), "equation"),
    **{word: word for word in ("note", "item", "chapter", "part")},
}
_WITHOUT_CAPITAL = frozenset({"section", "page", "equation", "figure", "table", "chapter", "appendix"})
_ONE = rf"\(?(?:\d{{1,4}}[A-Z]\b|{LABEL_NUMBER})(?:(?<=\d)\s?\(?[a-z]\)?(?!\w))?\)?"
_ANY_WORD = "|".join(sorted((re.escape(word) for word in _WORDS if word != "§"), key=len, reverse=True))
_AND = r"\s*(?:,\s*and|,|and|&|or|to|through|[-\u2013])\s*"
_REFERENCE = re.compile(rf"(?:(?<![\w-])(?i:({_ANY_WORD})s?)\b\.?|(§)§?)\s*({_ONE}(?:{_AND}{_ONE}){{0,20}})(?![\w%])")
_NUMBER = re.compile(r"(\d{1,4}[A-Z]\b|(?:[A-Z]{1,2}[.\-]?)?\d{1,4}(?:\.\d{1,3})*|[IVXL]{1,6}\b|[A-Z]\b)")
_RANGE = re.compile(r"(\d{1,4})\s*(?:-|\u2013|to|through)\s*(\d{1,4})")
_PAGE_AT_END = re.compile(r"(?<![\w.,])(?:(?:[A-Z]-)?\d{1,4}|[ivxl]{1,6})$")
_LONGEST_ENTRY = 200  # characters


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """What a text names: `kind` folded ("figure", "section", "page"), `number` as printed ("3", "4.1", "IV")."""

    kind: str
    number: str


def find_references(text: str) -> list[Reference]:
    """Return what a text refers to, each once, in order; lists and short ranges are taken apart.

    "Figures 2 and 3" are two, "Tables 1-3" three, "Fig. 3a" is Figure 3. Words that are common in lower case
    ("item", "note", "part") count only with a capital.
    """
    found: dict[Reference, None] = {}
    for match in _REFERENCE.finditer(text):
        word = (match[1] or match[2]).casefold()
        kind = _WORDS[word]
        if match[1] and match[1][0].islower() and kind not in _WITHOUT_CAPITAL:
            continue
        for number in _expand(match[3]):
            found[Reference(kind, number)] = None
    return list(found)


def read_contents(text: str) -> list[str]:
    """Return the titles that a table of contents names; nothing where the text is none: most lines end in a page number."""
    lines = [line.strip(" |") for line in text.splitlines() if re.search(r"\w", line)]
    entries = [entry for line in lines if (entry := _read_entry(line))]
    return entries if len(entries) >= max(_CONTENTS_LINES, _CONTENTS_SHARE * len(lines)) else []


def _read_entry(line: str) -> str:
    """Return the title in a line of a table of contents, "" where it is none."""
    number = _PAGE_AT_END.search(line) if len(line) <= _LONGEST_ENTRY else None
    title = line[: number.start()].rstrip(" .\u00b7\u2026|_") if number else ""
    return title if re.search(r"[^\W\d_]", title) else ""


def resolve_references(
    elements: Sequence[Element], titles: Mapping[str, Sequence[int]], page_labels: Mapping[int, str | None]
) -> list[tuple[int, int]]:
    """Return pairs of serials, (from, to), each once and never to itself, in reading order.

    `titles` gives the serials of title elements by simplified text; `page_labels` the printed label of each physical page.
    Of several targets with a number the nearest by page is meant. What a table of contents lists refers to the sections
    of that name only. What names nothing in this document is left out.
    """
    targets = _index_targets(elements, page_labels)
    pages = {element.serial: element.page for element in elements}
    links: dict[tuple[int, int], None] = {}
    for element in elements:
        if element.block.kind is NodeKind.TITLE:
            continue
        for target in _targets_of(element, titles, targets, pages):
            if target not in (element.serial, element.caption_of):
                links[element.serial, target] = None
    return list(links)


def _expand(numbers: str) -> Iterator[str]:
    position = 0
    while match := _NUMBER.search(numbers, position):
        span = _RANGE.match(numbers, match.start())
        if span and 0 < int(span[2]) - int(span[1]) <= _LONGEST_RANGE:
            yield from (str(number) for number in range(int(span[1]), int(span[2]) + 1))
            position = span.end()
        else:
            yield match[1].upper()
            position = match.end()


def _targets_of(
    element: Element,
    titles: Mapping[str, Sequence[int]],
    targets: Mapping[Reference, Sequence[int]],
    pages: Mapping[int, int],
) -> Iterator[int]:
    text = f"{element.block.text}\n{element.block.caption}" if element.block.kind is NodeKind.TABLE else element.block.text
    entries = read_contents(text)
    if entries:
        for entry in entries:
            yield from titles.get(simplify(entry), ())[:1]
        return
    for reference in find_references(text):
        found = targets.get(reference) or targets.get(_without_letter(reference))
        if found:
            yield _nearest(found, pages, element.page)


def _nearest(serials: Sequence[int], pages: Mapping[int, int], page: int) -> int:
    """Return the serial nearest by page of several in reading order; on the page before, where two are as near."""
    place = bisect_left(serials, page, key=pages.__getitem__)
    return min(serials[max(0, place - 1) : place + 1], key=lambda serial: abs(pages[serial] - page))


def _without_letter(reference: Reference) -> Reference:
    """Return "Figure 3" for "Figure 3A"; the letter names a part of the picture."""
    return Reference(reference.kind, re.sub(r"(?<=\d)[A-Z]$", "", reference.number))


def _index_targets(elements: Sequence[Element], page_labels: Mapping[int, str | None]) -> dict[Reference, list[int]]:
    targets: defaultdict[Reference, list[int]] = defaultdict(list)
    firsts: dict[int, int] = {}
    for element in elements:
        firsts.setdefault(element.page, element.serial)
        for reference in _names_of(element):
            targets[reference].append(element.serial)
    for reference, serial in _name_titles([element for element in elements if element.block.kind is NodeKind.TITLE]):
        targets[reference].append(serial)
    for page, serial in firsts.items():
        label = page_labels.get(page)
        targets[Reference("page", (label or str(page)).upper())].append(serial)
    # A physical page number is meant only where no page has it printed.
    for page, serial in firsts.items():
        targets.setdefault(Reference("page", str(page)), [serial])
    return dict(targets)


def _names_of(element: Element) -> Iterator[Reference]:
    block = element.block
    if element.label and (block.kind in VISUAL_KINDS or element.caption_of is None):
        kind, number = element.label.split(" ", 1)
        yield Reference(kind.casefold(), number.upper())
    if block.kind is NodeKind.FORMULA and (match := re.search(r"\((\d{1,3}(?:\.\d{1,3})?[a-z]?)\)\s*$", block.text)):
        yield Reference("equation", match[1].upper())


def _name_titles(titles: Sequence[Element]) -> Iterator[tuple[Reference, int]]:
    """Yield what each numbered title answers to: 2 is a section, chapter or note.

    In a report of items it is a note alone, since "Section 13" there means a law's.
    """
    numberings = read_numberings([element.block.text for element in titles])
    has_items = any(numbering is not None and numbering.scheme == "item" for numbering in numberings)
    kinds = {
        "arabic": ("note",) if has_items else ("section", "note", "chapter"),
        "roman": ("section", "part"),
        "letter": ("appendix", "section"),
        "annex": ("appendix",),
    }
    for element, numbering in zip(titles, numberings, strict=True):
        if numbering is not None:
            for kind in kinds.get(numbering.scheme, (numbering.scheme,)):
                yield Reference(kind, numbering.number), element.serial
