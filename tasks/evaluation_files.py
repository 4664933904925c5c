"""The pictures of an evaluation: which figures are drawn, and where they are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from storage.artifacts import write_durably
from storage.evaluation_records import Evaluation, Figure
from storage.locations import evaluations_folder
from tasks.answer_scoring import CORRECT
from tasks.evaluation_arms import FULL, ROUNDS_ARM
from tasks.evaluation_figures import ALL, difference_of
from tasks.evaluation_pictures import Curve, curve_picture, group_picture, interval_picture
from tasks.evaluation_scoring import PERFECT

DRAWN_BY_GROUP = (PERFECT, "recall@1", "recall@5", CORRECT)
ABLATED = ("recall@1", PERFECT)


def pictures_of(evaluation: Evaluation) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the PNG of each picture that the figures make."""
    if evaluation.what == "ablations":
        yield from _ablation_pictures(evaluation)
        return
    for metric in DRAWN_BY_GROUP:
        figures = [one for one in evaluation.figures if one.metric == metric]
        if len({one.group for one in figures}) > 1:
            yield _file_name(metric), group_picture(figures, title=f"{_told(metric)}, {evaluation.benchmark}")


def write_pictures(evaluation: Evaluation) -> tuple[Path, ...]:
    """Write the pictures into the run's folder and return where they are."""
    folder = evaluations_folder() / evaluation.run_id
    written = []
    for name, data in pictures_of(evaluation):
        folder.mkdir(parents=True, exist_ok=True)
        write_durably(folder / f"{name}.png", data)
        written.append(folder / f"{name}.png")
    return tuple(written)


def _ablation_pictures(evaluation: Evaluation) -> Iterator[tuple[str, bytes]]:
    whole = [one for one in evaluation.figures if one.group == ALL]
    for metric in ABLATED:
        figures = [one for one in whole if one.metric == difference_of(metric)]
        if figures:
            title = f"{_told(metric)}: what each ablation changes, {evaluation.benchmark}"
            yield _file_name(metric), interval_picture(figures, title=title, reference=FULL)
        points = tuple((number, one) for one in whole if one.metric == metric and (number := _rounds(one, evaluation)) is not None)
        if len(points) > 1:
            title = f"{_told(metric)} by rounds of evolution, {evaluation.benchmark}"
            yield (
                f"{_file_name(metric)}-by-rounds",
                curve_picture([Curve(metric, points)], title=title, number="rounds of evolution"),
            )


def _rounds(figure: Figure, evaluation: Evaluation) -> float | None:
    """Return with how many rounds of evolution an arm read its documents; None for arms that change something else."""
    found = re.fullmatch(ROUNDS_ARM.format(r"(\d+)"), figure.arm)
    if found:
        return float(found[1])
    reading = evaluation.settings["reading"]
    return float(reading["evolution"]["rounds"]) if figure.arm == FULL and isinstance(reading, dict) else None


def _told(metric: str) -> str:
    return metric[:1].upper() + metric[1:]


def _file_name(metric: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", metric.lower())
