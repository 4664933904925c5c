"""The evidence graph as a drawing: the question on one side, the answer on the other, and between them what carried the flow."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from storage.records.answers import Citation, EvidencePath
from storage.records.documents import Modality, Node
from tasks.algorithms.drawing import ENTRY, PathLayout, Route, lay_out_paths
from tasks.report.evidence import Evidence
from tasks.report.wording import cut, few_words, numbers_line, short_place

LETTER = 6.9
"""Width of a letter of a card's words in a wide face, in the drawing's units."""
TITLE_LETTERS = 240


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn: the node ids in the order of their numbers, what each is, which citations stand on it, which routes count."""

    ids: tuple[str, ...]
    layout: PathLayout
    cited: Mapping[str, tuple[int, ...]]
    supported: frozenset[tuple[int, int]]
    evidence: Evidence
    with_document: bool

    def node(self, number: int) -> Node | None:
        """Return the node, None where it is gone."""
        return self.evidence.nodes.get(self.ids[number])

    def numbers(self, number: int) -> tuple[int, ...]:
        return self.cited.get(self.ids[number], ())

    def supports(self, route: Route) -> bool:
        return (route.source, route.target) in self.supported

    def kind(self, number: int) -> str:
        node = self.node(number)
        return node.modality.value if node else "gone"

    def name(self, end: int) -> str:
        if end == ENTRY:
            return "Question"
        return short_place(self.evidence, self.node(end), with_document=True) if end < len(self.ids) else "Answer"

    def says(self, number: int) -> str:
        words = cut(few_words(self.node(number)), TITLE_LETTERS) or "This element is gone."
        cited = f" (cited as {numbers_line(self.numbers(number))})" if self.numbers(number) else ""
        return f"{self.name(number)}: {words}{cited}"

    def head(self, number: int) -> str:
        """Return the place of a card's node, and what it is where it is no text."""
        node = self.node(number)
        place = short_place(self.evidence, node, with_document=self.with_document)
        return place if node is None or node.modality is Modality.TEXT else f"{place} · {node.label or node.modality.capitalize()}"

    def token(self, number: int, room: int) -> tuple[str, bool]:
        """Return a node's page, or what it is, in so many letters; say whether they all fit."""
        node = self.node(number)
        paged = node is not None and self.evidence.place(node.document_id, node.page)
        where = short_place(self.evidence, node, with_document=False) if paged else self.kind(number)
        words = where if len(where) <= room else where.rpartition(" ")[2]
        return words if words.isdigit() else cut(words, max(room, 3)), len(words) <= room


def drawing_of(paths: Sequence[EvidencePath], evidence: Evidence, citations: Sequence[Citation]) -> Drawing:
    cited: dict[str, tuple[int, ...]] = {}
    for place, citation in enumerate(citations, 1):
        cited[citation.node_id] = (*cited.get(citation.node_id, ()), place)
    ids = tuple(dict.fromkeys(node for path in paths for node in path.nodes))
    number = {node: place for place, node in enumerate(ids)}
    numbered = [[number[node] for node in path.nodes] for path in paths]
    layout = lay_out_paths(paths=numbered, flows=[max(path.flow, 0.0) for path in paths], nodes=len(ids))
    arcs = [
        zip([ENTRY, *chain], [*chain, len(ids)], strict=True) for chain, path in zip(numbered, paths, strict=True) if path.answer
    ]
    documents = {evidence.nodes[node].document_id for node in ids if node in evidence.nodes}
    return Drawing(ids, layout, cited, frozenset(arc for chain in arcs for arc in chain), evidence, len(documents) > 1)


Point = tuple[float, float]
"""Along the flow and across it, in the drawing's own units."""

THINNEST = 1.5
WIDEST_GAP = 46.0
SMALLEST_SCALE = 0.92
"""A lying drawing may be shrunk to this, where its letters of 12 pixels have 11."""
DESK_WIDTH = 1080.0
"""What a desk's screen has room for, in pixels."""
TERMINAL_SHARE = 0.84
"""A terminal's ribbons spread over this share of the drawing at most, so that they run straight."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How large things are. `along` runs with the flow, `across` beside it; `standing` draws the flow downwards."""

    along: float
    across: float
    node_along: float
    node_across: float
    column: float
    row: float
    margin: float
    terminal: float
    standing: bool

    @property
    def size(self) -> Point:
        return (self.across, self.along) if self.standing else (self.along, self.across)

    @property
    def least_width(self) -> float:
        """Width on the screen, in pixels, below which words get too small to read; a frame that is narrower scrolls."""
        return self.size[0] * (1.0 if self.standing else SMALLEST_SCALE)

    def at(self, column: float, row: float) -> Point:
        return self.margin + self.terminal + (column + 0.5) * self.column, (row + 0.5) * self.row

    def paper(self, point: Point) -> Point:
        return (point[1], point[0]) if self.standing else point


def lying_frame(layout: PathLayout) -> Frame:
    """Return the frame for a wide screen: columns side by side, cards with words."""
    width = max(DESK_WIDTH, 190.0 * layout.width + 116)
    margin = 46.0
    column = (width - 24 - 2 * margin) / max(layout.width, 1)
    return Frame(
        along=width, across=layout.height * 76.0, node_along=min(250.0, column - 60), node_across=58, column=column, row=76,
        margin=margin, terminal=12, standing=False,
    )  # fmt: skip


def standing_frame(layout: PathLayout) -> Frame:
    """Return the frame for a phone: columns below each other, nodes with no more than their page."""
    row = 340.0 / max(layout.height, 4)
    return Frame(
        along=layout.width * 92.0 + 60, across=row * max(layout.height, 1), node_along=34, node_across=min(64.0, row - 6),
        column=92, row=row, margin=18, terminal=12, standing=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ribbon:
    """A route as a drawn line of a width, through its points: ends of two curves, or of the straight line past a column."""

    route: Route
    width: float
    points: tuple[Point, ...]


def draw_ribbons(layout: PathLayout, frame: Frame) -> list[Ribbon]:
    """Return the routes as ribbons whose widths tell their flow, side by side where several meet."""
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
    along, across = frame.at(column, row)
    return (along - frame.node_along / 2, across), (along + frame.node_along / 2, across)


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
    return min(0.7 * frame.node_across / busiest, 0.6 * frame.across / total)


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
        spare = (TERMINAL_SHARE * frame.across - total) / gaps if gaps and end in (ENTRY, nodes) else 0.0
        gap = min(max(spare, 0.0), WIDEST_GAP)
        along, across = _side(layout, frame, end, outgoing=outgoing)
        across -= (total + gap * gaps) / 2
        for place in places:
            points[place] = (along, across + widths[place] / 2)
            across += widths[place] + gap
    return points


def _other_row(layout: PathLayout, route: Route, *, outgoing: bool) -> float:
    if route.between:
        return route.between[0][1] if outgoing else route.between[-1][1]
    other = route.target if outgoing else route.source
    return float(layout.rows[other]) if 0 <= other < len(layout.rows) else layout.height / 2


def _side(layout: PathLayout, frame: Frame, end: int, *, outgoing: bool) -> Point:
    if end == ENTRY:
        return frame.terminal, frame.across / 2
    if end == len(layout.columns):
        return frame.along - frame.terminal, frame.across / 2
    along, across = frame.at(int(layout.columns[end]), float(layout.rows[end]))
    return along + (frame.node_along if outgoing else -frame.node_along) / 2, across


def curve_of(ribbon: Ribbon, frame: Frame) -> str:
    """Return the path data: curves between columns, straight past them; a route against the flow swings around."""
    points = [frame.paper(point) for point in ribbon.points]
    written = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for place, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(points)):
        if place % 2:
            written.append(f"L{x1:.1f} {y1:.1f}")
            continue
        run = (y1 - y0) if frame.standing else (x1 - x0)
        pull = run / 2 if run > 0 else 60.0
        first, second = ((x0, y0 + pull), (x1, y1 - pull)) if frame.standing else ((x0 + pull, y0), (x1 - pull, y1))
        written.append(f"C{first[0]:.1f} {first[1]:.1f} {second[0]:.1f} {second[1]:.1f} {x1:.1f} {y1:.1f}")
    return "".join(written)


class Terminal(NamedTuple):
    """The bar from which all flow comes, or to which it goes, and where its name stands."""

    x: float
    y: float
    width: float
    height: float
    at: Point
    anchor: str


def terminal(ribbons: Sequence[Ribbon], frame: Frame, *, start: bool) -> Terminal:
    end = 0 if start else -1
    nodes = max(ribbon.route.target for ribbon in ribbons)
    mine = [ribbon for ribbon in ribbons if (ribbon.route.source == ENTRY if start else ribbon.route.target == nodes)]
    low = min(frame.across / 2 - 20, *(ribbon.points[end][1] - ribbon.width / 2 for ribbon in mine))
    high = max(frame.across / 2 + 20, *(ribbon.points[end][1] + ribbon.width / 2 for ribbon in mine))
    along = 0.0 if start else frame.along - frame.terminal
    if frame.standing:
        at, anchor = (frame.across / 2, -9.0 if start else frame.along + 20), "middle"
    else:
        at, anchor = (along if start else frame.along, low - 10), "start" if start else "end"
    return Terminal(*frame.paper((along, low)), *frame.paper((frame.terminal, high - low)), at, anchor)
