"""The evidence graph as a drawing: the question on one side, the answer on the other, and between them what carried the flow."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from storage.records.answers import Answer, AnswerStatus, EvidencePath, NamedDocument, PagePlace
from storage.records.documents import Modality, Node
from storage.text import one_line
from tasks.algorithms.drawing import ENTRY, PathLayout, Route, lay_out_paths
from tasks.asking.request import JOINERS
from tasks.report.evidence import PATHS_SHOWN, ReportEvidence

CELL_END = re.compile(r"(?<!\\)\|")
WORDS_READ = 2000
"""Characters of an element that are read to show a few words."""

Point = tuple[float, float]
"""To the right and down, in the drawing's own units."""

THINNEST = 1.5
WIDEST_GAP = 46.0
SMALLEST_SCALE = 0.92
"""A drawing may be shrunk to this, where its letters of 12 pixels have 11."""
SCREEN_WIDTH = 1080.0
"""What a usual screen has room for, in pixels."""
TERMINAL_SHARE = 0.84
"""A terminal, and its ribbons, spread over this share of the drawing, so that they run straight."""
CARD_HEIGHT, ROW = 58.0, 76.0
MARGIN, TERMINAL_WIDTH = 46.0, 12.0


@dataclass(frozen=True, slots=True)
class Frame:
    """How large the drawing is; flow runs from left to right, through columns of cards with words."""

    width: float
    height: float
    card_width: float
    column: float
    card_height: float = CARD_HEIGHT
    terminal_width: float = TERMINAL_WIDTH

    @property
    def terminal_height(self) -> float:
        return TERMINAL_SHARE * self.height

    @property
    def least_width(self) -> float:
        """Width on the screen, in pixels, below which words get too small to read; a frame that is narrower scrolls."""
        return self.width * SMALLEST_SCALE

    @property
    def is_wide(self) -> bool:
        """Whether it scrolls on a usual screen, too."""
        return self.least_width > SCREEN_WIDTH

    def at(self, column: float, row: float) -> Point:
        return MARGIN + TERMINAL_WIDTH + (column + 0.5) * self.column, (row + 0.5) * ROW


def frame_of(layout: PathLayout) -> Frame:
    width = max(SCREEN_WIDTH, 190.0 * layout.width + 116)
    column = (width - 2 * (TERMINAL_WIDTH + MARGIN)) / max(layout.width, 1)
    return Frame(width, layout.height * ROW, min(250.0, column - 60), column)


@dataclass(frozen=True, slots=True)
class Ribbon:
    """A route as a drawn line of a width, through its points: ends of two curves, or of the straight line past a column."""

    route: Route
    width: float
    points: tuple[Point, ...]

    @property
    def curve(self) -> str:
        """Return the path data: curves between columns, straight past them; a route against the flow swings around."""
        written = [f"M{self.points[0][0]:.1f} {self.points[0][1]:.1f}"]
        for place, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(self.points)):
            if place % 2:
                written.append(f"L{x1:.1f} {y1:.1f}")
                continue
            pull = (x1 - x0) / 2 if x1 > x0 else 60.0
            written.append(f"C{x0 + pull:.1f} {y0:.1f} {x1 - pull:.1f} {y1:.1f} {x1:.1f} {y1:.1f}")
        return "".join(written)


def draw_ribbons(layout: PathLayout, frame: Frame) -> list[Ribbon]:
    """Return the routes as ribbons as wide as their flow, side by side where several meet."""
    scale = _scale(layout, frame)
    widths = [max(THINNEST, route.flow * scale) for route in layout.routes]
    starts = _stack(layout, frame, widths, outgoing=True)
    ends = _stack(layout, frame, widths, outgoing=False)
    ribbons = []
    for place, route in enumerate(layout.routes):
        between = [point for column, row in route.between for point in _past(frame, column, row)]
        ribbons.append(Ribbon(route, widths[place], (starts[place], *between, ends[place])))
    return ribbons


def _past(frame: Frame, column: int, row: float) -> tuple[Point, Point]:
    x, y = frame.at(column, row)
    return (x - frame.card_width / 2, y), (x + frame.card_width / 2, y)


def _scale(layout: PathLayout, frame: Frame) -> float:
    """Return the width of a unit of flow: no node's ribbons are wider than its side, nor all of them than the drawing."""
    nodes = len(layout.columns)
    into = [0.0] * (nodes + 1)
    out = [0.0] * (nodes + 1)
    for route in layout.routes:
        into[route.target] += route.flow
        out[route.source] += route.flow
    busiest = max([*into[:nodes], *out[:nodes]], default=0.0)
    total = into[nodes]
    if not busiest or not total:
        return 0.0
    return min(0.7 * CARD_HEIGHT / busiest, 0.6 * frame.height / total)


def _stack(layout: PathLayout, frame: Frame, widths: Sequence[float], *, outgoing: bool) -> list[Point]:
    """Return where each route leaves its source, or reaches its target: side by side, in the order of where they come from."""
    nodes = len(layout.columns)
    ends: dict[int, list[int]] = {}
    for place, route in enumerate(layout.routes):
        ends.setdefault(route.source if outgoing else route.target, []).append(place)
    points: list[Point] = [(0.0, 0.0)] * len(layout.routes)
    for end, places in ends.items():
        places.sort(key=lambda place: (_other_row(layout, layout.routes[place], outgoing=outgoing), place))
        total, gaps = sum(widths[place] for place in places), len(places) - 1
        spare = (frame.terminal_height - total) / gaps if gaps and end in (ENTRY, nodes) else 0.0
        gap = min(max(spare, 0.0), WIDEST_GAP)
        x, y = _side(layout, frame, end, outgoing=outgoing)
        y -= (total + gap * gaps) / 2
        for place in places:
            points[place] = (x, y + widths[place] / 2)
            y += widths[place] + gap
    return points


def _other_row(layout: PathLayout, route: Route, *, outgoing: bool) -> float:
    if route.between:
        return route.between[0][1] if outgoing else route.between[-1][1]
    other = route.target if outgoing else route.source
    return float(layout.rows[other]) if 0 <= other < len(layout.rows) else layout.height / 2


def _side(layout: PathLayout, frame: Frame, end: int, *, outgoing: bool) -> Point:
    if end == ENTRY:
        return TERMINAL_WIDTH, frame.height / 2
    if end == len(layout.columns):
        return frame.width - TERMINAL_WIDTH, frame.height / 2
    x, y = frame.at(int(layout.columns[end]), float(layout.rows[end]))
    return x + (frame.card_width if outgoing else -frame.card_width) / 2, y


class Card(NamedTuple):
    """A node in the drawing, numbered from 1: what and where it is, None where it is gone; its citations; its middle."""

    number: int
    node: Node | None
    at: PagePlace | None
    cited: list[int]
    x: float
    y: float

    @property
    def words(self) -> str:
        return few_words(self.node) if self.node else ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The strongest paths, how many more there are, and their graph: nodes by id, routes, and which of these carry an answer."""

    paths: Sequence[EvidencePath]
    more: int
    frame: Frame
    cards: Mapping[str, Card]
    ribbons: Sequence[Ribbon]
    supported: frozenset[tuple[int, int]]


def draw_paths(answer: Answer, evidence: ReportEvidence) -> Drawing | None:
    """Return the drawing of the answer's paths, None where none was walked, or where the trace says more."""
    walked = [path for path in answer.paths if path.nodes]
    if answer.trace or not walked:
        return None
    paths = walked[:PATHS_SHOWN]
    ids = list(dict.fromkeys(node for path in paths for node in path.nodes))
    numbered = [[ids.index(node) for node in path.nodes] for path in paths]
    layout = lay_out_paths(paths=numbered, flows=[max(path.flow, 0.0) for path in paths], nodes=len(ids))
    frame = frame_of(layout)
    cards = {}
    for place, id in enumerate(ids):
        node = evidence.nodes.get(id)
        at = PagePlace(NamedDocument(node.document_id, evidence.documents[node.document_id].name), node.page) if node else None
        cited = [number for number, citation in enumerate(answer.citations, 1) if citation.node_id == id]
        cards[id] = Card(place + 1, node, at, cited, *frame.at(layout.columns[place], layout.rows[place]))
    is_found = answer.status is not AnswerStatus.NOT_FOUND
    supporting = [[ENTRY, *chain, len(ids)] for chain, path in zip(numbered, paths, strict=True) if path.answer and is_found]
    supported = frozenset(arc for chain in supporting for arc in itertools.pairwise(chain))
    return Drawing(paths, len(walked) - len(paths), frame, cards, draw_ribbons(layout, frame), supported)


def few_words(node: Node) -> str:
    """Return what the node says, in one line: a figure's or table's caption, else its text; of a table the cells."""
    if node.modality is not Modality.TEXT and node.caption:
        return one_line(node.caption, keep=JOINERS)
    content = node.content[:WORDS_READ]
    words = (cells_in_words(content) if node.modality is Modality.TABLE else content) or node.caption or node.summary
    return one_line(words, keep=JOINERS)


def cells_in_words(table: str) -> str:
    """Return the cells of a Markdown table with commas between; of equal ones in a row the first, of rules nothing."""
    cells = (cell.strip() for line in table.splitlines() for cell in CELL_END.split(line))
    distinct = itertools.groupby(cell for cell in cells if cell.strip("-: "))
    return ", ".join(cell.replace("\\|", "|") for cell, _ in distinct)
