"""An evaluation in pictures: PNG files that read on paper, in a README, and at the 600 points that Prefect's page gives them.

matplotlib is imported where it draws: half a second that a flow without pictures need not wait. Its canvas is used directly, never
pyplot, whose open figures are shared by all threads.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from PIL import Image

from storage.evaluation_records import Figure
from tasks.evaluation_wording import FEW_MARK, FEW_SAID, Figures, figure_text, is_difference, is_few, named_with_unit, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
"""Okabe and Ito's, told apart by colour-blind people; the yellow ones are too light on white."""
MARKS = ("o", "s", "D", "^", "v")
"""One fewer than the colours, so that the two together repeat late."""
REFERENCE_COLOUR = "#000000"
GRID_COLOUR = "#dddddd"
PALETTE = 256

DOTS_PER_INCH = 150
WIDTH_INCHES = 8.0
MARGIN_INCHES = 1.3
"""Title, axis and its label, of two lines each."""
CURVE_INCHES = 4.2
LINE_INCHES = 0.17
GAP_INCHES = 0.12
NAME_CHARACTERS = 34
"""A name that is longer goes on in the next line: the points keep half of the width."""
TITLE_CHARACTERS = 84
LEGEND_LINE_INCHES = 0.22
LEGEND_CHARACTERS = 66
"""In a line, all names of a legend together."""
BAND_OPACITY = 0.15
AXIS_CHARACTERS = 50
"""Of a label beside a curve, in a line."""
GROUPS_DRAWN = 40
"""More rows are read by nobody, and a picture of a thousand takes a minute and more pixels than programs open."""


class PictureError(ValueError):
    """Figures that no one picture can show."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A series under its name: figures of one metric, each at a number."""

    name: str
    points: tuple[tuple[float, Figure], ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """What stands below each other: names, already in lines, and how many lines each row needs."""

    names: tuple[str, ...]
    lines: tuple[int, ...]

    @property
    def edges(self) -> list[float]:
        """Where rows begin, in inches from the top, and where the last one ends."""
        return [0.0, *accumulate(GAP_INCHES + LINE_INCHES * lines for lines in self.lines)]

    @property
    def middles(self) -> list[float]:
        """Where the middle of each row is."""
        return [(top + bottom) / 2 for top, bottom in pairwise(self.edges)]


def interval_picture(figures: Sequence[Figure], *, title: str, reference: str) -> bytes:
    """Return a PNG of one metric, a point with its interval for each arm, the first on top.

    A line stands at the arm `reference`, or at zero where the metric is itself a difference to it. Raise PictureError for no
    figures, several metrics, a number that is not finite, or a reference that is not among the arms.
    """
    metric = _only_metric(figures)
    line = {figure.arm: figure.value for figure in figures} | ({reference: 0.0} if is_difference(metric) else {})
    if reference not in line:
        raise PictureError(f"the reference {reference!r} has no {metric!r}; give one of {', '.join(line)}")
    names = tuple(_wrapped(figure.arm) for figure in figures)
    rows = Rows(names, tuple(1 + name.count("\n") for name in names))
    sheet, axes = _sheet_of_rows(rows, title, f"{_told(figures)}; broken line: {reference}")
    axes.axvline(line[reference] * unit_of(metric).factor, color=REFERENCE_COLOUR, linewidth=1, linestyle="--", zorder=1)
    for figure, middle in zip(figures, rows.middles, strict=True):
        _draw_interval(axes, figure, middle, REFERENCE_COLOUR if figure.arm == reference else COLOURS[0], MARKS[0])
    return _png(sheet)


def group_picture(figures: Sequence[Figure], *, title: str) -> bytes:
    """Return a PNG of one metric, for each group of questions a point with its interval for each arm, two or three of them.

    Behind a group stands how many questions it has. Of more than 40 groups those of most questions are drawn, and the title counts
    the others. Raise PictureError as `interval_picture` does.
    """
    _only_metric(figures)
    figures, left_out = _of_largest_groups(figures)
    if left_out:
        title = f"{title}: the {GROUPS_DRAWN} largest groups, {left_out:,} left out"
    arms = {arm: place for place, arm in enumerate(dict.fromkeys(figure.arm for figure in figures))}
    arm_names = [_wrapped(arm) for arm in arms]
    questions = {figure.group: figure.questions for figure in figures}
    groups = Figures(figures).groups
    names = tuple(_wrapped(f"{group} ({questions[group]:,})") for group in groups)
    rows = Rows(names, tuple(max(len(arms), 1 + name.count("\n")) for name in names))
    sheet, axes = _sheet_of_rows(rows, title, _told(figures), above=_legend_inches(arm_names))
    middles = dict(zip(groups, rows.middles, strict=True))
    for figure in figures:
        place = arms[figure.arm]
        row = middles[figure.group] + (place - (len(arms) - 1) / 2) * LINE_INCHES
        _draw_interval(axes, figure, row, COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)])
    _legend(axes, arm_names)
    return _png(sheet)


def _of_largest_groups(figures: Sequence[Figure]) -> tuple[list[Figure], int]:
    """Return the figures of as many groups as are drawn, those of most questions, and how many groups are left out."""
    questions = {figure.group: figure.questions for figure in figures}
    largest = set(sorted(questions, key=lambda group: (-questions[group], group))[:GROUPS_DRAWN])
    return [figure for figure in figures if figure.group in largest], len(questions) - len(largest)


def curve_picture(curves: Sequence[Curve], *, title: str, number: str) -> bytes:
    """Return a PNG of one metric against a number, which is named with its unit: a line and a band of intervals for each curve.

    Raise PictureError as `interval_picture` does.
    """
    figures = [figure for curve in curves for _, figure in curve.points]
    factor = unit_of(_only_metric(figures)).factor
    names = [_wrapped(curve.name) for curve in curves]
    sheet, axes = _sheet(title, number, height=CURVE_INCHES + _legend_inches(names))
    for place, curve in enumerate(curves):
        points = sorted(curve.points, key=lambda point: point[0])
        at = [where for where, _ in points]
        value, low, high = ([factor * getattr(figure, end) for _, figure in points] for end in ("value", "low", "high"))
        colour = COLOURS[place % len(COLOURS)]
        axes.fill_between(at, low, high, color=colour, alpha=BAND_OPACITY, linewidth=0)
        # the band of a single point has no width
        axes.vlines(at, low, high, color=colour, linewidth=0.8)
        mark = MARKS[place % len(MARKS)]
        axes.plot(at, value, color=colour, marker=mark, markersize=6, linewidth=1.6)
        few = [number for number, (_, figure) in enumerate(points) if is_few(figure)]
        axes.plot(at, value, color=colour, marker=mark, markersize=6, linestyle="", markerfacecolor="white", markevery=few)
    numbers = sorted({where for curve in curves for where, _ in curve.points})
    if all(float(where).is_integer() for where in numbers):
        axes.set_xticks(numbers)
    axes.grid(axis="both", color=GRID_COLOUR, linewidth=0.6)
    axes.set_ylabel("\n".join(textwrap.wrap(_told(figures), AXIS_CHARACTERS)))
    _legend(axes, names)
    return _png(sheet)


def _only_metric(figures: Sequence[Figure]) -> str:
    metrics = sorted({figure.metric for figure in figures})
    if len(metrics) != 1:
        raise PictureError(f"a picture shows one metric, not {len(metrics)} ({', '.join(metrics) or 'no figures'}); choose one")
    for figure in figures:
        if not all(map(math.isfinite, (figure.value, figure.low, figure.high))):
            raise PictureError(
                f"{figure.metric!r} of {figure.arm!r} is {figure.value} ({figure.low} to {figure.high}); leave it out"
            )
    return metrics[0]


def _sheet(title: str, below: str, *, height: float) -> tuple[Sheet, Axes]:
    """Return an empty sheet, `height` in inches, and its axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(WIDTH_INCHES, height), dpi=DOTS_PER_INCH, layout="constrained", facecolor="white")
    FigureCanvasAgg(sheet)
    axes = sheet.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    # of the sheet, not of the axes: those are narrow beside long names
    sheet.suptitle("\n".join(textwrap.wrap(title, TITLE_CHARACTERS)), fontsize=12)
    sheet.supxlabel("\n".join(textwrap.wrap(below, TITLE_CHARACTERS)), fontsize=10)
    return sheet, axes


def _sheet_of_rows(rows: Rows, title: str, below: str, *, above: float = 0.0) -> tuple[Sheet, Axes]:
    """Return a sheet and axes with a row for each name, and `above` inches for a legend."""
    sheet, axes = _sheet(title, below, height=MARGIN_INCHES + above + rows.edges[-1])
    axes.set_yticks(rows.middles, labels=rows.names, fontsize=10)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(rows.edges[-1], 0.0)
    axes.grid(axis="x", color=GRID_COLOUR, linewidth=0.6)
    return sheet, axes


def _draw_interval(axes: Axes, figure: Figure, row: float, colour: str, mark: str) -> None:
    """Draw a point, hollow where it is made of few, with its interval; in words at the right, clear of all lines."""
    factor = unit_of(figure.metric).factor
    axes.hlines(row, figure.low * factor, figure.high * factor, color=colour, linewidth=1.6)
    inside = "white" if is_few(figure) else colour
    axes.plot([figure.value * factor], [row], marker=mark, markersize=6, color=colour, markerfacecolor=inside)
    axes.annotate(figure_text(figure), (1.02, row), xycoords=("axes fraction", "data"), fontsize=9, va="center")


def _wrapped(name: str) -> str:
    return "\n".join(textwrap.wrap(name, NAME_CHARACTERS))


def _told(figures: Sequence[Figure]) -> str:
    """Say what the numbers are."""
    metric = figures[0].metric
    few = any(map(is_few, figures))
    return f"{named_with_unit(metric)}, 95 % interval{f'; hollow, {FEW_MARK}: {FEW_SAID}' if few else ''}"


def _legend(axes: Axes, names: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=COLOURS[place % len(COLOURS)], marker=MARKS[place % len(MARKS)], label=name)
        for place, name in enumerate(names)
    ]
    axes.legend(handles=marks, loc="lower left", bbox_to_anchor=(0, 1), ncols=_legend_columns(names), frameon=False, fontsize=10)


def _legend_columns(names: Sequence[str]) -> int:
    return max(1, LEGEND_CHARACTERS // (4 + max(map(len, names))))


def _legend_inches(names: Sequence[str]) -> float:
    lines = -(-len(names) // _legend_columns(names)) * (1 + max(name.count("\n") for name in names))
    return GAP_INCHES + lines * LEGEND_LINE_INCHES


def _png(sheet: Sheet) -> bytes:
    """Return the sheet as PNG in a palette, a third of the size; a dollar sign in a name stays one and begins no formula."""
    from matplotlib.text import Text

    for text in sheet.findobj(Text):
        text.set_parse_math(False)
    drawn, packed = io.BytesIO(), io.BytesIO()
    sheet.savefig(drawn, format="png")
    resolution = (DOTS_PER_INCH, DOTS_PER_INCH)
    with Image.open(drawn) as picture:
        # an octree keeps thin lines in their own colours; the usual median cut mixes rare ones
        few_colours = picture.convert("RGB").quantize(PALETTE, Image.Quantize.FASTOCTREE)
    few_colours.save(packed, format="png", optimize=True, dpi=resolution)
    return packed.getvalue()
