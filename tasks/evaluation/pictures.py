"""An evaluation in pictures: PNG files that read on paper, in a README, and at the 600 points that Prefect's page gives them.

matplotlib is imported where it draws: half a second that a flow without pictures need not wait. Its canvas is used directly, never
pyplot, whose open figures are shared by all threads.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from storage.artifacts import write_durably
from storage.locations import evaluations_folder
from storage.records.evaluations import Evaluation, Figure
from tasks.evaluation.scoring import ALL, BY_ITSELF, CITED, CORRECT, CURVE_PAGES, PERFECT, difference_of, whole_after
from tasks.evaluation.wording import (
    FEW_MARK,
    FEW_MEANS,
    ORDER_MEANS,
    capital,
    figure_text,
    figures_in,
    fitted_mark,
    is_few,
    named_with_unit,
    unit_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

DRAWN_BY_GROUP = (PERFECT, "recall@1", "recall@5", CORRECT, CITED)
ABLATED = ("recall@1", PERFECT)
GROUPS_DRAWN = 40
"""More rows are too many to read, and a picture of a thousand takes a minute and more pixels than programs open."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
"""Okabe and Ito's, distinct for colour-blind people; the yellow ones are too light on white."""
GRID_COLOUR = "#dddddd"
DOTS_PER_INCH = 150
WIDTH_INCHES, MARGIN_INCHES = 8.0, 1.6
LINE_INCHES, GAP_INCHES = 0.17, 0.12
NAME_CHARACTERS = 34
"""A name that is longer goes on in the next line: the points keep half of the width."""
TITLE_CHARACTERS = 84


def write_pictures(evaluation: Evaluation) -> tuple[Path, ...]:
    folder = evaluations_folder() / evaluation.run_id
    written = []
    for name, data in pictures_of(evaluation):
        folder.mkdir(parents=True, exist_ok=True)
        write_durably(folder / f"{name}.png", data)
        written.append(folder / f"{name}.png")
    return tuple(written)


def pictures_of(evaluation: Evaluation) -> Iterator[tuple[str, bytes]]:
    figures = figures_in(evaluation.figures)
    if any(one.metric == whole_after(1) for one in figures):
        yield "perfect-recall-at-n-pages", curve_picture(figures, title=f"All evidence in the first pages, {evaluation.benchmark}")
    for metric in ABLATED if evaluation.what == "ablations" else ():
        changes = {one.arm: [one] for one in figures if one.group == ALL and one.metric == difference_of(metric)}
        if changes:
            title = f"{capital(metric)}{fitted_mark(evaluation, metric)}: what each ablation changes, {evaluation.benchmark}"
            yield _file_name(metric), _picture_of_rows(changes, title=title)
    for metric in DRAWN_BY_GROUP if evaluation.what != "ablations" else ():
        of_metric = [one for one in figures if one.metric == metric]
        if len({one.group for one in of_metric}) > 1:
            title = f"{capital(metric)}{fitted_mark(evaluation, metric)}, {evaluation.benchmark}"
            yield _file_name(metric), group_picture(of_metric, title=title)


def curve_picture(figures: Sequence[Figure], *, title: str) -> bytes:
    """Return a PNG of perfect recall after 1, 2, ... pages: a line for each arm, dashed for its ranking by itself.

    Only the first line has its interval: more of them would hide each other.
    """
    of_all = {(one.arm, one.metric): one for one in figures if one.group == ALL}
    arms, pages = list(dict.fromkeys(one.arm for one in figures)), range(1, CURVE_PAGES + 1)
    sheet, axes = _sheet(title, f"pages; {ORDER_MEANS}; shaded: 95 % interval of {arms[0]}", height=5.5)
    axes.grid(color=GRID_COLOUR, linewidth=0.6)
    axes.set_xticks(pages)
    axes.set_ylabel(named_with_unit(PERFECT))
    for (arm, colour), (order, style) in product(zip(arms, cycle(COLOURS)), {"": "o-", BY_ITSELF: "--"}.items()):
        if (arm, whole_after(1, order)) in of_all:
            line = [of_all[arm, whole_after(count, order)] for count in pages]
            low, value, high = np.array([(one.low, one.value, one.high) for one in line]).T * unit_of(PERFECT).factor
            axes.plot(pages, value, style, color=colour, label=f"{arm}{order}", markersize=4, linewidth=1.4)
            if f"{arm}{order}" == arms[0]:
                axes.fill_between(pages, low, high, color=colour, alpha=0.12, linewidth=0)
    axes.legend(frameon=False, loc="lower right", ncols=2)
    return _png(sheet)


def group_picture(figures: Sequence[Figure], *, title: str) -> bytes:
    """Return a PNG of one metric with a row for each group of questions; of many groups those of most questions are drawn."""
    questions = {figure.group: figure.questions for figure in figures}
    largest = sorted(questions, key=lambda group: (-questions[group], group))[:GROUPS_DRAWN]
    left_out = len(questions) - len(largest)
    if left_out:
        title = f"{title}: the {GROUPS_DRAWN} largest groups, {left_out:,} left out"
    rows = {
        f"{group} ({questions[group]:,})": [figure for figure in figures if figure.group == group]
        for group in sorted(largest, key=lambda group: (":" in group, group))
    }
    return _picture_of_rows(rows, title=title, arms=list(dict.fromkeys(figure.arm for figure in figures)))


def _picture_of_rows(rows: Mapping[str, Sequence[Figure]], *, title: str, arms: Sequence[str] = ()) -> bytes:
    """Return a PNG with a row for each name, the first on top, and in it a point with its interval for each of its figures.

    Each of the `arms` has a colour and a place in the legend; without them the figures are differences to the whole method, which
    has a line at zero.
    """
    names = ["\n".join(textwrap.wrap(name, NAME_CHARACTERS)) for name in rows]
    heights = np.array([max(len(arms), 1 + name.count("\n")) * LINE_INCHES + GAP_INCHES for name in names])
    ends = heights.cumsum()
    middles = ends - heights / 2
    figures = [figure for of_row in rows.values() for figure in of_row]
    sheet, axes = _sheet(title, _measured(figures), height=MARGIN_INCHES + float(ends[-1]))
    axes.set_yticks(middles, labels=names)
    axes.set_ylim(float(ends[-1]), 0.0)
    axes.grid(axis="x", color=GRID_COLOUR, linewidth=0.6)
    if not arms:
        axes.axvline(0.0, color="black", linewidth=1, linestyle="--", zorder=1)
    for middle, of_row in zip(middles, rows.values(), strict=True):
        for figure in of_row:
            place = arms.index(figure.arm) if arms else 0
            row = float(middle) + (place - (max(len(arms), 1) - 1) / 2) * LINE_INCHES
            _draw(axes, figure, row, COLOURS[place % len(COLOURS)])
    if len(arms) > 1:
        from matplotlib.lines import Line2D

        marks = [Line2D([], [], color=COLOURS[place % len(COLOURS)], marker="o", label=arm) for place, arm in enumerate(arms)]
        axes.legend(handles=marks, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(arms), frameon=False)
    return _png(sheet)


def _draw(axes: Axes, figure: Figure, row: float, colour: str) -> None:
    """Draw a point, hollow where it is made of few, with its interval; in words at the right, clear of all lines."""
    factor = unit_of(figure.metric).factor
    axes.hlines(row, figure.low * factor, figure.high * factor, color=colour, linewidth=1.6)
    axes.plot([figure.value * factor], [row], marker="o", color=colour, markerfacecolor="white" if is_few(figure) else colour)
    axes.annotate(figure_text(figure), (1.02, row), xycoords=("axes fraction", "data"), fontsize=9, va="center")


def _sheet(title: str, below: str, *, height: float) -> tuple[Sheet, Axes]:
    """Return an empty sheet, `height` in inches, and its axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(WIDTH_INCHES, height), dpi=DOTS_PER_INCH, layout="constrained", facecolor="white")
    FigureCanvasAgg(sheet)
    axes = sheet.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    # of the sheet, not of the axes: long names make those narrow
    sheet.suptitle("\n".join(textwrap.wrap(title, TITLE_CHARACTERS)), fontsize=12)
    sheet.supxlabel("\n".join(textwrap.wrap(below, TITLE_CHARACTERS)), fontsize=10)
    return sheet, axes


def _measured(figures: Sequence[Figure]) -> str:
    few = f"; hollow, {FEW_MARK}: {FEW_MEANS}" if any(map(is_few, figures)) else ""
    return f"{named_with_unit(figures[0].metric)}, 95 % interval{few}"


def _png(sheet: Sheet) -> bytes:
    """Return the sheet as PNG; a dollar sign in a name stays one and begins no formula."""
    from matplotlib.text import Text

    for text in sheet.findobj(Text):
        text.set_parse_math(False)
    drawn = io.BytesIO()
    sheet.savefig(drawn, format="png")
    return drawn.getvalue()


def _file_name(metric: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", metric.lower())
