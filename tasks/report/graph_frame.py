"""The geometry of the evidence graph: from columns and rows to places on paper, lying for a desk, standing for a phone."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.algorithms.drawing import ENTRY, PathLayout, Route

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
