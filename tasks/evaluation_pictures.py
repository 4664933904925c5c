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
from typing import TYPE_CHECKING

from storage.evaluation_records import Figure
from tasks.evaluation_tables import FEW_QUESTIONS, figure_text, is_difference, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
"""Okabe and Ito's, told apart by colour-blind people; the yellow ones are too light on white."""
MARKS = ("o", "s", "D", "^", "v")
"""One fewer than the colours, so that the two together repeat late."""
REFERENCE_COLOUR = "#000000"

DOTS_PER_INCH = 150
WIDTH_INCHES = 8.0
MARGIN_INCHES = 1.3
"""Title, axis and its label."""
LINE_INCHES = 0.17
GAP_INCHES = 0.12
NAME_CHARACTERS = 34
"""A name that is longer goes on in the next line: the points keep half of the width."""
BAND_OPACITY = 0.15


class PictureError(ValueError):
    """Figures that no one picture can show."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A series under its name: figures of one metric, each at a number."""

    name: str
    points: tuple[tuple[float, Figure], ...]


def interval_picture(figures: Sequence[Figure], *, title: str, reference: str) -> bytes:
    """Return a PNG of one metric, a point with its interval for each arm, the first on top.

    A line stands at the arm `reference`, or at zero where the metric is itself a difference to it. Raise PictureError for no figures,
    several metrics, a number that is not finite, or a reference that is not among the arms.
    """
    metric = _only_metric(figures)
    at = {figure.arm: figure.value for figure in figures} | ({reference: 0.0} if is_difference(metric) else {})
    if reference not in at:
        raise PictureError(f"the reference {reference!r} has no {metric!r}; give one of {', '.join(sorted(at))}")
    names = [_wrapped(figure.arm) for figure in figures]
    sheet, axes = _blank(title, height=_height(names))
    middles = _middles(names)
    axes.axvline(at[reference] * unit_of(metric).factor, color=REFERENCE_COLOUR, linewidth=1, linestyle="--", zorder=1)
    for figure, middle in zip(figures, middles, strict=True):
        colour = REFERENCE_COLOUR if figure.arm == reference else COLOURS[0]
        _draw_interval(axes, figure, middle, colour=colour, mark=MARKS[0])
    _name_rows(axes, names, middles)
    _tell_numbers(axes, figures, middles)
    axes.set_xlabel(f"{_axis(metric)}; broken line: {reference}")
    return _png(sheet)


def group_picture(figures: Sequence[Figure], *, title: str) -> bytes:
    """Return a PNG of one metric, for each group of questions a point with its interval for each arm, two or three of them.

    Raise PictureError as `interval_picture` does.
    """
    metric = _only_metric(figures)
    groups = dict.fromkeys(figure.group for figure in figures)
    arms = {arm: place for place, arm in enumerate(dict.fromkeys(figure.arm for figure in figures))}
    asked = {figure.group: figure.questions for figure in figures}
    names = [_wrapped(f"{group} ({asked[group]:,})") + "\n" * (len(arms) - 1) for group in groups]
    sheet, axes = _blank(title, height=_height(names))
    middles = dict(zip(groups, _middles(names), strict=True))
    rows = []
    for figure in figures:
        place = arms[figure.arm]
        row = middles[figure.group] + (place - (len(arms) - 1) / 2) * LINE_INCHES
        _draw_interval(axes, figure, row, colour=COLOURS[place % len(COLOURS)], mark=MARKS[place % len(MARKS)])
        rows.append(row)
    _name_rows(axes, [name.rstrip() for name in names], list(middles.values()))
    _tell_numbers(axes, figures, rows)
    axes.set_xlabel(_axis(metric))
    _legend(axes, list(arms))
    return _png(sheet)


def curve_picture(curves: Sequence[Curve], *, title: str, number: str) -> bytes:
    """Return a PNG of one metric against a number, which is named with its unit: a line and a band of intervals for each curve.

    Raise PictureError as `interval_picture` does.
    """
    metric = _only_metric([figure for curve in curves for _, figure in curve.points])
    factor = unit_of(metric).factor
    sheet, axes = _blank(title, height=4.5)
    for place, curve in enumerate(curves):
        points = sorted(curve.points, key=lambda point: point[0])
        at = [where for where, _ in points]
        value, low, high = ([factor * getattr(figure, end) for _, figure in points] for end in ("value", "low", "high"))
        colour = COLOURS[place % len(COLOURS)]
        axes.fill_between(at, low, high, color=colour, alpha=BAND_OPACITY, linewidth=0)
        # the band of a single point has no width
        axes.vlines(at, low, high, color=colour, linewidth=0.8)
        axes.plot(at, value, color=colour, marker=MARKS[place % len(MARKS)], markersize=6, linewidth=1.6)
    numbers = sorted({where for curve in curves for where, _ in curve.points})
    if all(where.is_integer() for where in map(float, numbers)):
        axes.set_xticks(numbers)
    axes.grid(axis="both", color="#dddddd", linewidth=0.6)
    axes.set_xlabel(number)
    axes.set_ylabel(_axis(metric))
    _legend(axes, [curve.name for curve in curves])
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


def _blank(title: str, *, height: float) -> tuple[Sheet, Axes]:
    """Return an empty sheet, `height` in inches, and its axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(WIDTH_INCHES, height), dpi=DOTS_PER_INCH, layout="constrained", facecolor="white")
    FigureCanvasAgg(sheet)
    axes = sheet.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    sheet.suptitle("\n".join(textwrap.wrap(title, 80)), fontsize=12)
    return sheet, axes


def _wrapped(name: str) -> str:
    return "\n".join(textwrap.wrap(name, NAME_CHARACTERS))


def _row_heights(names: Sequence[str]) -> list[float]:
    return [GAP_INCHES + LINE_INCHES * (1 + name.count("\n")) for name in names]


def _height(names: Sequence[str]) -> float:
    return MARGIN_INCHES + sum(_row_heights(names))


def _middles(names: Sequence[str]) -> list[float]:
    """Return where each row's middle lies, in inches from the top."""
    heights = _row_heights(names)
    return [sum(heights[:place]) + height / 2 for place, height in enumerate(heights)]


def _draw_interval(axes: Axes, figure: Figure, row: float, *, colour: str, mark: str) -> None:
    """Draw a point with its interval; hollow where so few questions were asked that it says little."""
    factor = unit_of(figure.metric).factor
    axes.hlines(row, figure.low * factor, figure.high * factor, color=colour, linewidth=1.6)
    inside = "white" if figure.questions < FEW_QUESTIONS else colour
    axes.plot([figure.value * factor], [row], marker=mark, markersize=6, color=colour, markerfacecolor=inside)


def _name_rows(axes: Axes, names: Sequence[str], middles: Sequence[float]) -> None:
    axes.set_yticks(middles, labels=names, fontsize=10)
    axes.tick_params(axis="y", length=0)
    heights = _row_heights(names)
    axes.set_ylim(middles[-1] + heights[-1] / 2, middles[0] - heights[0] / 2)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)


def _tell_numbers(axes: Axes, figures: Sequence[Figure], rows: Sequence[float]) -> None:
    """Write each figure in words at the right edge, where no interval can cross it."""
    for figure, row in zip(figures, rows, strict=True):
        axes.annotate(figure_text(figure), (1.02, row), xycoords=("axes fraction", "data"), fontsize=9, va="center")


def _axis(metric: str) -> str:
    return f"{metric} ({unit_of(metric).name}), 95 % interval"


def _legend(axes: Axes, names: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=COLOURS[place % len(COLOURS)], marker=MARKS[place % len(MARKS)], label=_wrapped(name))
        for place, name in enumerate(names)
    ]
    axes.legend(handles=marks, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize=10)


def _png(sheet: Sheet) -> bytes:
    """Return the sheet as PNG; a dollar sign in a name stays one, instead of beginning a formula."""
    from matplotlib.text import Text

    for text in sheet.findobj(Text):
        text.set_parse_math(False)
    file = io.BytesIO()
    sheet.savefig(file, format="png", metadata={"Software": None}, pil_kwargs={"optimize": True})
    return file.getvalue()
