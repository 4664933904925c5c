"""Tables that a parser took for text, found in the words of their page, in the place of the blocks that they came as."""

import re
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from storage.records.documents import Block, Box, NodeKind
from tasks.algorithms.layout.boxes import VISUAL_KINDS, area, holds_middle, shared_height, unite
from tasks.algorithms.layout.captions import read_label
from tasks.algorithms.layout.cells import Words, count_rows, group_lines, is_value
from tasks.algorithms.layout.grids import Grid, find_grids
from tasks.algorithms.layout.tables import read_html

_FEWEST_NUMBERS = 6  # of a table of three rows
_NUMBERS_SHARE = 1 / 3  # of the words in a line of a table
_NUMBER = re.compile(r"\S*\d\S*")
_DENSE = 0.62  # three lines that words cover so far are text, not cells
_CAPTION_WORDS = 40
_LINE_WORDS = 4  # at least in a line of text
_COVERED = 0.7  # a figure or table with a smaller share of its words or rows in those found stays what it is
_MOST_CAPTIONS = 100  # more has no page of a book


def may_have_tables(blocks: Sequence[Block]) -> bool:
    """Say whether the page has lines of numbers, at the price of reading what is known already."""
    numbers = 0
    for line in (line for block in blocks for text in (block.text, block.picture_text) for line in text.splitlines()):
        found = len(_NUMBER.findall(line))
        numbers += found if found >= _NUMBERS_SHARE * len(line.split()) else 0
    return numbers >= _FEWEST_NUMBERS


def put_tables(blocks: Sequence[Block], words: Words, *, aspect: float) -> tuple[Block, ...]:
    """Return the blocks of a page of this width over height with the tables that its words make; none of the words is lost."""
    words = _without_text(blocks, words)
    page = _Page(blocks, words, _members(blocks, words), aspect)
    grids = _keep(page, find_grids(words, aspect=aspect))
    taken = _words_of(grids)
    tables: list[list[Block]] = [[] for _ in blocks]
    for grid in grids:
        touched = page.touched_by(grid)
        home = max(touched, key=lambda place: len(grid.words & page.members[place]))
        tables[home].append(_table(grid, [blocks[place] for place in touched]))
    placed: list[Block] = []
    for block, inside, own in zip(blocks, page.members, tables, strict=True):
        placed += [block] if taken.isdisjoint(inside) else _around(block, page.read(inside - taken), own)
    return tuple(placed)


@dataclass(frozen=True, slots=True)
class _Page:
    """Blocks, the words of their page that may be of tables, and the places of those in each block."""

    blocks: Sequence[Block]
    words: Words
    members: Sequence[set[int]]
    aspect: float

    def touched_by(self, grid: Grid) -> list[int]:
        return [place for place, inside in enumerate(self.members) if not grid.words.isdisjoint(inside)]

    def read(self, places: Collection[int]) -> Words:
        return [self.words[place] for place in sorted(places)]


def _members(blocks: Sequence[Block], words: Words) -> list[set[int]]:
    """Return the words in each block; one that stands in several belongs to the smallest."""
    boxes = np.array([box for box, _ in words]).reshape(-1, 4)
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    home = np.full(len(words), -1)
    for place in sorted(range(len(blocks)), key=lambda place: -area(blocks[place].box)):
        left, top, right, bottom = blocks[place].box
        home[(x >= left) & (x <= right) & (y >= top) & (y <= bottom)] = place
    members: list[set[int]] = [set() for _ in blocks]
    for word, place in enumerate(home.tolist()):
        if place >= 0:
            members[place].add(word)
    return members


def _words_of(grids: Iterable[Grid]) -> set[int]:
    return {word for grid in grids for word in grid.words}


def _without_text(blocks: Sequence[Block], words: Words) -> Words:
    """Return the words that stand in no text or caption of the page."""
    captions = [block.caption_box for block in blocks if block.caption_box][:_MOST_CAPTIONS]
    words = [(box, text) for box, text in words if not any(holds_middle(caption, box) for caption in captions)]
    text = set[int]()
    for block, inside in zip(blocks, _members(blocks, words), strict=True):
        if _is_text(block, [words[place] for place in sorted(inside)]):
            text |= inside
    return [word for place, word in enumerate(words) if place not in text]


def _keep(page: _Page, grids: Sequence[Grid]) -> list[Grid]:
    """Return the tables that stand in blocks, and in figures and tables only where little of these is left, but for text."""
    taken = _words_of(grids)
    whole = set()
    for place, (block, inside) in enumerate(zip(page.blocks, page.members, strict=True)):
        if block.kind in VISUAL_KINDS and not taken.isdisjoint(inside):
            own = [grid for grid in grids if not grid.words.isdisjoint(inside)]
            if _stays(page, block, inside, taken) or (block.kind is NodeKind.TABLE and not _are_better(own, block)):
                whole.add(place)
    touched = [(grid, page.touched_by(grid)) for grid in grids]
    return [grid for grid, places in touched if whole.isdisjoint(places) and _may_be_one([page.blocks[place] for place in places])]


def _may_be_one(blocks: Sequence[Block]) -> bool:
    """Say whether one table may take the place of blocks: it has one caption, and no tables that a parser saw side by side."""
    tables = [block.box for block in blocks if block.kind is NodeKind.TABLE]
    are_beside = any(shared_height(one, other) > 0.5 for one, other in combinations(tables, 2))
    return bool(blocks) and not are_beside and sum(bool(block.caption) for block in blocks) < 2


def _are_better(grids: Sequence[Grid], block: Block) -> bool:
    """Say whether more numbers have a cell of their own than in the cells that a parser saw, or the first have heads."""
    seen = read_html(block.html or "")
    more = sum(_count_values(grid.rows) for grid in grids) - _count_values(seen.rows)
    return not block.html or more > 0 or (more == 0 and not seen.header_rows and any(grid.header_rows for grid in grids))


def _count_values(rows: Sequence[Sequence[str]]) -> int:
    return sum(is_value(cell) for row in rows for cell in row[1:])


def _stays(page: _Page, block: Block, inside: set[int], taken: set[int]) -> bool:
    """Say whether a figure keeps many of its words, or a table its rows: around these a parser may have put words of no table."""
    left = page.read(inside - taken)
    if block.kind is NodeKind.FIGURE:
        return len(left) > (1 - _COVERED) * len(inside) and not _are_text(left, block.box)
    return count_rows(left, aspect=page.aspect) > (1 - _COVERED) * count_rows(page.read(inside), aspect=page.aspect)


def _is_text(block: Block, words: Words) -> bool:
    if block.kind in VISUAL_KINDS:
        return False
    is_caption = bool(read_label(block.text)) and len(words) <= _CAPTION_WORDS
    return block.kind is NodeKind.CODE or is_caption or _are_text(words, block.box)


def _are_text(words: Words, box: Box) -> bool:
    """Say whether words fill the box as lines of text do, or most of their lines go on with a small letter."""
    lines = [[words[place] for place in line] for line in group_lines(words)]
    if len(lines) < 3 or len(words) < _LINE_WORDS * len(lines):
        return False
    width = sum(right - left for (left, _, right, _), _ in words)
    small = sum(min(line)[1][0].islower() for line in lines)
    return width >= _DENSE * len(lines) * (box[2] - box[0]) or small > 0.5 * len(lines)


def _table(grid: Grid, old: Sequence[Block]) -> Block:
    captioned = next((block for block in old if block.caption), None)
    return Block(
        kind=NodeKind.TABLE,
        text=grid.text,
        box=grid.box,
        html=grid.html,
        caption=captioned.caption if captioned else "",
        caption_box=captioned.caption_box if captioned else None,
        footnote=next((block.footnote for block in old if block.footnote), ""),
    )


def _around(block: Block, left: Words, tables: Sequence[Block]) -> Iterator[Block]:
    """Yield the tables in a block's place, and before and after each what is left of the block's words."""
    kind = NodeKind.PARAGRAPH if block.kind in VISUAL_KINDS else block.kind
    tops = [table.box[1] for table in tables]
    for place in range(len(tables) + 1):
        rest = [(box, text) for box, text in left if bisect(tops, box[1]) == place]
        if rest:
            yield Block(kind=kind, text=" ".join(text for _, text in rest), box=unite(box for box, _ in rest), level=block.level)
        yield from tables[place : place + 1]
