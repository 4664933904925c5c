"""Tables that a parser took for text, found in the words of their page, in the place of the blocks that they came as."""

import re
from bisect import bisect
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

import numpy as np

from storage.records.documents import Block, Box, NodeKind
from tasks.algorithms.layout.boxes import BODY_KINDS, FURNITURE_KINDS, VISUAL_KINDS, area, shared_height, unite
from tasks.algorithms.layout.grids import Grid, Words, count_rows, find_grids, group_lines

FEWEST_NUMBERS = 6
DENSE = 0.62  # a block of three lines that words cover so far is text, not cells
LINE_WORDS = 4  # at least in a line of text
MOST_VISUAL = 100
MOST_BESIDE = 4
COVERED = 0.7  # a figure or table with a smaller share of its words in rows stays what it is
NUMBER = re.compile(r"\S*\d\S*")
NO_CELLS = frozenset({NodeKind.CODE})


def may_have_tables(blocks: Sequence[Block]) -> bool:
    """Say whether the page has lines of numbers, at the price of reading what is known already."""
    numbers = 0
    for block in blocks:
        for line in f"{block.text}\n{block.picture_text}".splitlines():
            found = len(NUMBER.findall(line))
            numbers += found if 3 * found >= len(line.split()) else 0
    return numbers >= FEWEST_NUMBERS


def put_tables(blocks: Sequence[Block], words: Words, *, aspect: float) -> tuple[Block, ...]:
    """Return the blocks of a page of this width over height with the tables that its words make; no word is lost."""
    members = _members(blocks, words)
    grids = _find(blocks, words, members, aspect)
    taken = {word for grid in grids for word in grid.words}
    touched = [[place for place, inside in enumerate(members) if not grid.words.isdisjoint(inside)] for grid in grids]
    homes = [
        max(places, key=lambda place: (blocks[place].kind not in FURNITURE_KINDS, len(grid.words.intersection(members[place]))))
        for grid, places in zip(grids, touched, strict=True)
    ]
    placed: list[Block] = []
    for place, block in enumerate(blocks):
        tables = [_table(grid, [blocks[one] for one in touched[n]]) for n, grid in enumerate(grids) if homes[n] == place]
        placed += _around(block, [word for word in members[place] if word not in taken], tables, words) if not taken.isdisjoint(members[place]) else [block]
    return tuple(placed)


def _find(blocks: Sequence[Block], words: Words, members: Sequence[Sequence[int]], aspect: float) -> list[Grid]:
    """Return the tables among the words that are no text; a paragraph is text, too, if most of it would be left over."""
    text = {place for place, block in enumerate(blocks) if _is_text(block, members[place], words)}
    grids = _search(blocks, words, members, text, aspect)
    taken = {word for grid in grids for word in grid.words}
    partly = {
        place
        for place, block in enumerate(blocks)
        if block.kind in BODY_KINDS and 0 < len(taken.intersection(members[place])) < 0.5 * len(members[place])
    }
    return _search(blocks, words, members, text | partly, aspect) if partly else grids


def _search(blocks: Sequence[Block], words: Words, members: Sequence[Sequence[int]], text: set[int], aspect: float) -> list[Grid]:
    """Return the tables that a parser saw beside other tables or figures, each found without them, and all others."""
    visual = [place for place, block in enumerate(blocks) if block.kind in VISUAL_KINDS][:MOST_VISUAL]
    beside = {place: [other for other in visual if other != place and shared_height(blocks[place].box, blocks[other].box) > 0] for place in visual}
    alone = [place for place in visual if blocks[place].kind is NodeKind.TABLE and beside[place]]
    found: list[Grid] = []
    for place in [*alone[:MOST_BESIDE], None]:
        gone = {word for grid in found for word in grid.words}.union(*(members[other] for other in [*text, *beside.get(place, ())]))
        loose = [word for word in range(len(words)) if word not in gone]
        grids = [grid.of(loose) for grid in find_grids([words[word] for word in loose], aspect=aspect)]
        own = [grid for grid in grids if place is None or not grid.words.isdisjoint(members[place])]
        found += _keep(own, blocks, members, words, aspect)
    return found


def _keep(grids: Sequence[Grid], blocks: Sequence[Block], members: Sequence[Sequence[int]], words: Words, aspect: float) -> list[Grid]:
    """Return the tables that stand in blocks, and take most of the words or leave text of each table and figure that they touch."""
    taken = {word for grid in grids for word in grid.words}
    whole = {place for place, block in enumerate(blocks) if block.kind in VISUAL_KINDS and _stays(block, members[place], taken, words, aspect)}
    kept = []
    for grid in grids:
        touched = [place for place, inside in enumerate(members) if not grid.words.isdisjoint(inside)]
        tables = [blocks[place].box for place in touched if blocks[place].kind is NodeKind.TABLE]
        beside = any(shared_height(one, other) > 0 for one, other in combinations(tables, 2))
        if touched and not beside and whole.isdisjoint(touched):
            kept.append(grid)
    return kept


def _stays(block: Block, inside: Sequence[int], taken: set[int], words: Words, aspect: float) -> bool:
    """Say whether a figure keeps many of its words, or a table its rows: around them there may be words that are none of it."""
    left = [word for word in inside if word not in taken]
    if block.kind is NodeKind.FIGURE:
        return len(left) > (1 - COVERED) * len(inside) and not _are_text(left, block.box, words)
    rows = [count_rows([words[word] for word in some], aspect=aspect) for some in (left, inside)]
    return rows[0] > (1 - COVERED) * rows[1]


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
    return block.kind in NO_CELLS or (block.kind not in VISUAL_KINDS and _are_text(members, block.box, words))


def _are_text(members: Sequence[int], box: Box, words: Words) -> bool:
    """Say whether words fill the box as lines of text do."""
    lines = len(group_lines([words[word] for word in members]))
    width = sum(words[word][0][2] - words[word][0][0] for word in members)
    return lines > 2 and len(members) >= LINE_WORDS * lines and width >= DENSE * lines * (box[2] - box[0])


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


def _around(block: Block, left: Collection[int], tables: Sequence[Block], words: Words) -> Iterator[Block]:
    """Yield the tables in a block's place, and before and after each what is left of the block's words."""
    kind = NodeKind.PARAGRAPH if block.kind in VISUAL_KINDS else block.kind
    tops = [table.box[1] for table in tables]
    for place in range(len(tables) + 1):
        rest = [words[word] for word in left if bisect(tops, words[word][0][1]) == place]
        if rest:
            text = " ".join(letters for _, letters in rest)
            yield Block(kind=kind, text=text, box=unite(box for box, _ in rest), level=block.level)
        yield from tables[place : place + 1]
