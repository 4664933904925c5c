"""Tables that MinerU took for text: found again in the words of the text layer, in the place of the blocks that they came as."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pypdfium2 as pdfium

from storage.records.documents import Block, Box, NodeKind, ParsedPage
from tasks.algorithms.layout.boxes import FURNITURE_KINDS, VISUAL_KINDS, area, unite
from tasks.algorithms.layout.grids import Grid, find_grids, group_lines
from tasks.parsing.mineru import table_text
from tasks.parsing.words import words_of

Words = Sequence[tuple[Box, str]]
FEWEST_NUMBERS = 6
DENSE = 0.62
"""A block of three lines that words cover so far is text, not cells."""
COVERED = 0.7
"""A figure or table with a smaller share of its words in the rows that were found stays what it is."""
NUMBER = re.compile(r"\S*\d\S*")
NO_CELLS = {NodeKind.FORMULA, NodeKind.CODE}


def add_tables(parsed: ParsedPage, page: pdfium.PdfPage) -> ParsedPage:
    return put_tables(parsed, words_of(page))


def may_have_tables(parsed: ParsedPage) -> bool:
    numbers = 0
    for block in parsed.blocks:
        for line in f"{block.text}\n{block.picture_text}".splitlines():
            found = len(NUMBER.findall(line))
            numbers += found if 3 * found >= len(line.split()) else 0
    return numbers >= FEWEST_NUMBERS


def put_tables(parsed: ParsedPage, words: Words) -> ParsedPage:
    members = _members(parsed.blocks, words)
    text = {word for block, inside in zip(parsed.blocks, members, strict=True) if _is_text(block, inside, words) for word in inside}
    places = [place for place in range(len(words)) if place not in text]
    grids = find_grids([words[place] for place in places], aspect=parsed.width_points / max(parsed.height_points, 1.0))
    blocks: list[list[Block]] = [[block] for block in parsed.blocks]
    for grid in grids:
        own = {places[word] for word in grid.words}
        _put(blocks, parsed.blocks, members, grid, own, words)
    return replace(parsed, blocks=tuple(block for group in blocks for block in group))


def _members(blocks: Sequence[Block], words: Words) -> list[list[int]]:
    """Return the words in each block; one that stands in several belongs to the smallest."""
    boxes = np.array([box for box, _ in words]).reshape(-1, 4)
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    home = np.full(len(words), -1)
    for place in sorted(range(len(blocks)), key=lambda place: -area(blocks[place].box)):
        left, top, right, bottom = blocks[place].box
        home[(x >= left) & (x <= right) & (y >= top) & (y <= bottom)] = place
    members: list[list[int]] = [[] for _ in blocks]
    for word, place in enumerate(home.tolist()):
        if place >= 0:
            members[place].append(word)
    return members


def _is_text(block: Block, members: Sequence[int], words: Words) -> bool:
    if block.kind in NO_CELLS:
        return True
    lines = len(group_lines([words[word] for word in members]))
    width = sum(words[word][0][2] - words[word][0][0] for word in members)
    return block.kind not in VISUAL_KINDS and lines > 2 and width >= DENSE * lines * (block.box[2] - block.box[0])


def _put(
    blocks: list[list[Block]], original: Sequence[Block], members: Sequence[Sequence[int]], grid: Grid, own: set[int], words: Words
) -> None:
    touched = [place for place, inside in enumerate(members) if own.intersection(inside)]
    for place in touched:
        inside = members[place]
        if original[place].kind in VISUAL_KINDS and len(own.intersection(inside)) < COVERED * len(inside):
            return
    home = next((place for place in touched if original[place].kind not in FURNITURE_KINDS), touched[0] if touched else len(blocks) - 1)
    old = next((original[place] for place in touched if original[place].caption), None)
    html = grid.html
    table = Block(
        kind=NodeKind.TABLE, text=table_text(html), box=grid.box, html=html,
        caption=old.caption if old else "", caption_box=old.caption_box if old else None,
        footnote=next((original[place].footnote for place in touched if original[place].footnote), ""),
    )  # fmt: skip
    for place in touched:
        blocks[place] = [rest for rest in [_rest(original[place], members[place], own, words)] if rest]
    blocks[home].append(table)


def _rest(block: Block, members: Sequence[int], own: set[int], words: Words) -> Block | None:
    left = [word for word in members if word not in own]
    if not left:
        return None
    kind = NodeKind.PARAGRAPH if block.kind in VISUAL_KINDS else block.kind
    return Block(kind=kind, text=" ".join(words[word][1] for word in left), box=unite(words[word][0] for word in left), level=block.level)
