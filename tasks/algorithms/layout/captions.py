"""Captions: what looks like one, its label, and the figure or table that it belongs to."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from storage.records.documents import Block, Box, NodeKind
from tasks.algorithms.layout.boxes import BODY_KINDS, VISUAL_KINDS, Element, count_words, shared_height, shared_width

_OTHERS = "chart exhibit graph diagram scheme map plate photo image illustration box listing algorithm"
LABEL_KINDS: Mapping[str, str] = {
    **{"figure": "Figure", "fig": "Figure", "table": "Table", "tab": "Table"},
    **{word: word.capitalize() for word in _OTHERS.split()},
}
"""The words that name a figure or table, folded and without a stop, and the word that its label has."""

LABEL_NUMBER = r"(?:[A-Z]{1,2}[.\-]?)?\d{1,3}(?:[.\-\u2013]\d{1,3}){0,3}|[IVXL]{1,6}|[A-Z]"
_LABEL = re.compile(
    rf"\s*(?:supplementary\s+|appendix\s+)?(?i:({'|'.join(LABEL_KINDS)}))\.?\s*({LABEL_NUMBER})(?:(?<=\d)\s?\(?[a-z]\)?(?!\w))?"
    r"(?=(\s*[:.|\u2013\u2014\-]|\s|$))\s*"
)
_CAPTION_KINDS = BODY_KINDS | {NodeKind.TITLE, NodeKind.CAPTION, NodeKind.FOOTNOTE, NodeKind.CODE}
_MAXIMUM_WORDS = 250
_FARTHEST = 0.15  # of the page; farther down, a caption's picture was not seen by the parser
_AGAINST_HABIT = 0.03  # a table's caption stands above it, a figure's below
_OTHER_KIND = 0.05  # tables are often read as pictures, pictures seldom as tables


def read_label(text: str) -> str:
    """Return the label that a caption opens with, written one way ("Figure 3"); "" where the text is no numbered caption.

    "Figure 3: Growth", "Fig. 3a. Growth", "TABLE IV Growth" are captions; "Figure 3 shows growth" is a sentence.
    """
    match = _LABEL.match(text)
    if not match:
        return ""
    rest = text[match.end() :]
    if not match[3].strip() and rest and not rest[0].isupper():
        return ""
    number = match[2].replace("\u2013", "-")
    return f"{LABEL_KINDS[match[1].casefold()]} {number}"


def join_captions(elements: Sequence[Element]) -> list[Element]:
    """Join captions to their figures and tables, and make each caption an element of its own, in reading order.

    A joined figure or table has `caption` and `label`; its caption's element is of kind CAPTION and names it in
    `caption_of`. A numbered caption that no figure or table stands near stays a CAPTION without `caption_of`.
    """
    captions = {element.serial: element for element in elements if _looks_like_caption(element.block)}
    owners = _match(elements, captions)
    captioned = {owner: captions[serial] for serial, owner in owners.items()}
    joined: list[Element] = []
    serial = max((element.serial for element in elements), default=-1) + 1
    for element in elements:
        if element.serial in captions:
            joined.append(_as_caption(element, owners.get(element.serial)))
        elif element.block.kind in VISUAL_KINDS:
            parts = list(_with_caption(element, captioned.get(element.serial), serial))
            serial += len(parts) - 1
            joined += parts
        else:
            joined.append(element)
    return joined


def _looks_like_caption(block: Block) -> bool:
    if block.kind not in _CAPTION_KINDS or count_words(block.text) > _MAXIMUM_WORDS:
        return False
    return block.kind is NodeKind.CAPTION or bool(read_label(block.text))


def _match(elements: Sequence[Element], captions: Mapping[int, Element]) -> dict[int, int]:
    """Give each caption at most one figure or table without one on its page, the nearest pairs first."""
    visuals: defaultdict[int, list[Element]] = defaultdict(list)
    for element in elements:
        if element.block.kind in VISUAL_KINDS and not element.block.caption:
            visuals[element.page].append(element)
    pairs = sorted(
        (distance, caption.serial, visual.serial)
        for caption in captions.values()
        for visual in visuals[caption.page]
        if (distance := _distance(caption.block, visual.block)) <= _FARTHEST
    )
    owners: dict[int, int] = {}
    taken: set[int] = set()
    for _, caption_serial, visual_serial in pairs:
        if caption_serial not in owners and visual_serial not in taken:
            owners[caption_serial] = visual_serial
            taken.add(visual_serial)
    return owners


def _distance(caption: Block, visual: Block) -> float:
    """Return how far a caption is from a figure or table, its habits included; infinite where they share no column."""
    above = caption.box[1] < visual.box[1]
    is_table = read_label(caption.text).startswith("Table") or (visual.kind is NodeKind.TABLE and not read_label(caption.text))
    distance = _gap(caption.box, visual.box)
    distance += _AGAINST_HABIT * (above != is_table)
    return distance + _OTHER_KIND * (is_table != (visual.kind is NodeKind.TABLE))


def _gap(first: Box, second: Box) -> float:
    if shared_width(first, second) > 0:
        return max(0.0, first[1] - second[3], second[1] - first[3])
    if shared_height(first, second) > 0.5:
        return max(first[0] - second[2], second[0] - first[2])
    return float("inf")


def _as_caption(element: Element, owner: int | None) -> Element:
    """Turn a block into a caption; a title that no figure or table answers to stays a title."""
    if owner is None and element.block.kind is NodeKind.TITLE:
        return replace(element, label=read_label(element.block.text))
    block = replace(element.block, kind=NodeKind.CAPTION, continues=False)
    return replace(element, block=block, label=read_label(block.text), caption_of=owner)


def _with_caption(visual: Element, caption: Element | None, serial: int) -> Iterator[Element]:
    """Yield a figure or table with the caption and footnote that the parser joined to it as elements around it."""
    block = visual.block
    if caption is not None:
        yield replace(visual, block=replace(block, caption=caption.block.text), label=read_label(caption.block.text))
    elif block.caption.strip():
        box = block.caption_box or block.box
        label = read_label(block.caption)
        text = Block(kind=NodeKind.CAPTION, text=block.caption, box=box)
        element = Element(serial=serial, page=visual.page, block=text, label=label, caption_of=visual.serial)
        visual = replace(visual, label=label)
        yield from (element, visual) if box[1] < block.box[1] else (visual, element)
    else:
        yield visual
    if block.footnote.strip():
        note = Block(kind=NodeKind.FOOTNOTE, text=block.footnote, box=block.box)
        yield Element(serial=serial + bool(caption is None and block.caption.strip()), page=visual.page, block=note)
