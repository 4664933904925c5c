"""An evaluation in pictures: PNG files that read on paper, in a README, and at the 600 points that Prefect's page gives them.

matplotlib is imported where it draws: half a second that a flow without pictures need not wait. Its canvas is used directly, never
pyplot, whose open figures are shared by all threads.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from storage.artifacts import write_durably
from storage.locations import evaluations_folder
from storage.records.evaluations import Evaluation, Figure
from tasks.evaluation.scoring import ALL, CITED, CORRECT, PERFECT
from tasks.evaluation.tables.published import table_of
from tasks.evaluation.units import (
    DIFFERENCE,
    FEW_MARK,
    FEW_MEANS,
    figures_in,
    is_difference,
    is_few,
    mark_of_fit,
    name_with_unit,
    unit_of,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

DRAWN_BY_GROUP = (PERFECT, "recall@1", "recall@5", CORRECT, CITED)
DRAWN_OF_ABLATIONS = (f"recall@1{DIFFERENCE}", f"{PERFECT}{DIFFERENCE}", f"{CORRECT}{DIFFERENCE}")
ROWS_DRAWN = 40
"""More rows are too many to read, and a picture of a thousand takes a minute and more pixels than programs open."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
"""Okabe and Ito's, distinct for colour-blind people; the yellow ones are too light on white."""
DOTS_PER_INCH = 150
WIDTH_INCHES, MARGIN_INCHES, LINE_INCHES = 8.0, 1.6, 0.17
NAME_CHARACTERS, TITLE_CHARACTERS = 34, 84
"""Longer labels wrap: the points keep half of the width."""


def write_pictures(evaluation: Evaluation) -> tuple[Path, ...]:
    folder = evaluations_folder() / evaluation.run_id
    written = []
    for name, data in pictures_of(evaluation):
        folder.mkdir(parents=True, exist_ok=True)
        write_durably(folder / f"{name}.png", data)
        written.append(folder / f"{name}.png")
    return tuple(written)


def pictures_of(evaluation: Evaluation) -> Iterator[tuple[str, bytes]]:
    """Yield a picture for each main metric: a row for each part of the questions, or for each ablation, of most questions first.

    A table of a paper is one already.
    """
    if table_of(evaluation.what):
        return
    by_arm = evaluation.what == "ablations"
    for metric in DRAWN_OF_ABLATIONS if by_arm else DRAWN_BY_GROUP:
        found = [one for one in figures_in(evaluation.figures) if one.metric == metric and (one.group == ALL or not by_arm)]
        rows: dict[str, list[Figure]] = {}
        for one in sorted(found, key=lambda one: -one.questions):
            rows.setdefault(one.arm if by_arm else f"{one.group} ({one.questions:,})", []).append(one)
        if len(rows) > (0 if by_arm else 1):
            title = f"{metric}{mark_of_fit(evaluation, metric)}, {evaluation.benchmark}"
            if len(rows) > ROWS_DRAWN:
                title += f": the {ROWS_DRAWN} largest parts, {len(rows) - ROWS_DRAWN:,} left out"
            arms = [""] if by_arm else list(dict.fromkeys(one.arm for one in found))
            drawn = picture(dict(list(rows.items())[:ROWS_DRAWN]), title=title, arms=arms)
            yield re.sub(r"[^a-z0-9]+", "-", metric.lower().removesuffix(DIFFERENCE)), drawn


def picture(rows: Mapping[str, Sequence[Figure]], *, title: str, arms: Sequence[str]) -> bytes:
    """Return a PNG with a row for each name, the first on top, and in it a point with its interval for each of its figures.

    Each arm has a colour, and a place in the legend where there are several. A point is hollow where it is made of few.
    """
    names = ["\n".join(textwrap.wrap(name, NAME_CHARACTERS)) for name in rows]
    ends = np.array([(1 + max(len(arms), 1 + name.count("\n"))) * LINE_INCHES for name in names]).cumsum()
    middles = (ends + np.append(0.0, ends[:-1])) / 2
    figures = [figure for of_row in rows.values() for figure in of_row]
    few = f"; hollow, {FEW_MARK}: {FEW_MEANS}" if any(map(is_few, figures)) else ""
    below = f"{name_with_unit(figures[0].metric)}, 95 % interval{few}"
    sheet, axes = _sheet(title, below, height=MARGIN_INCHES + float(ends[-1]))
    axes.set_yticks(middles, labels=names)
    axes.set_ylim(float(ends[-1]), 0.0)
    if is_difference(figures[0].metric):
        axes.axvline(0.0, color="black", linewidth=1, linestyle="--", zorder=1)
    for middle, of_row in zip(middles.tolist(), rows.values(), strict=True):
        for figure in of_row:
            place = arms.index(figure.arm) if figure.arm in arms else 0
            _draw(axes, figure, middle + (place - (len(arms) - 1) / 2) * LINE_INCHES, COLOURS[place % len(COLOURS)])
    if len(arms) > 1:
        marks = [axes.plot([], [], marker="o", color=COLOURS[place % len(COLOURS)])[0] for place in range(len(arms))]
        axes.legend(marks, arms, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(arms), frameon=False)
    return _png(sheet)


def _draw(axes: Axes, figure: Figure, row: float, colour: str) -> None:
    """Draw a point with its interval; in words at the right, clear of all lines."""
    low, value, high = (unit_of(figure.metric).factor * number for number in (figure.low, figure.value, figure.high))
    axes.hlines(row, low, high, color=colour, linewidth=1.6)
    axes.plot([value], [row], marker="o", color=colour, markerfacecolor="white" if is_few(figure) else colour)
    axes.annotate(write_figure(figure), (1.02, row), xycoords=("axes fraction", "data"), fontsize=9, va="center")


def _sheet(title: str, below: str, *, height: float) -> tuple[Sheet, Axes]:
    """Return an empty sheet, `height` in inches, and its axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    sheet = Sheet(figsize=(WIDTH_INCHES, height), dpi=DOTS_PER_INCH, layout="constrained", facecolor="white")
    FigureCanvasAgg(sheet)
    axes = sheet.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    # of the sheet, not of the axes: long names make those narrow
    sheet.suptitle("\n".join(textwrap.wrap(title, TITLE_CHARACTERS)), fontsize=12)
    sheet.supxlabel("\n".join(textwrap.wrap(below, TITLE_CHARACTERS)), fontsize=10)
    return sheet, axes


def _png(sheet: Sheet) -> bytes:
    """Return the sheet as PNG; a dollar sign in a name stays one and begins no formula."""
    from matplotlib.text import Text

    for text in sheet.findobj(Text):
        text.set_parse_math(False)
    drawn = io.BytesIO()
    sheet.savefig(drawn, format="png")
    return drawn.getvalue()
