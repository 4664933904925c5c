"""How the figures of an evaluation are written: each in its unit, with its interval, marked where it is made of few."""

from dataclasses import dataclass

import polars as pl

from storage.records.evaluations import Evaluation, Figure
from tasks.evaluation.figures import FEWEST_DOCUMENTS, more_than_luck
from tasks.evaluation.plan import FITTED_ON
from tasks.evaluation.scoring import (
    BY_WEIGHTS,
    GAIN,
    JUDGE_CALLS,
    JUDGE_COST,
    REFLECTIONS,
    WORDS_SHOWN,
    deviation_of,
    difference_of,
)
from tasks.evaluation.sizing import CALIBRATION

FEW_QUESTIONS, FEW_DOCUMENTS = 10, 5
FEW_MARK, FEW_MEANS = "*", f"fewer than {FEW_QUESTIONS} questions or {FEW_DOCUMENTS} documents"
MISSING, BEYOND_LUCK = "-", "!"
DIFFERENCE, FITTED_HERE = difference_of(""), ", fitted on these documents"


@dataclass(frozen=True, slots=True)
class Unit:
    """How a metric is written: its value times `factor`, with `decimals`; `name` is empty where the metric names its unit."""

    factor: float
    decimals: int
    name: str = ""


SHARE, POINTS = Unit(100.0, 1, "%"), Unit(100.0, 1, "points")
COUNT, MONEY = Unit(1.0, 1), Unit(1.0, 4, "in the currency of the prices")
UNITS = {
    "seconds": Unit(1.0, 2),
    **dict.fromkeys(("calls", JUDGE_CALLS, WORDS_SHOWN), COUNT),
    **dict.fromkeys(("turns", "queries", "passages kept", "sub-questions", "rounds", "hops"), COUNT),
    REFLECTIONS: Unit(1.0, 3),
    **dict.fromkeys(("input tokens", "output tokens"), Unit(1.0, 0)),
    **dict.fromkeys(("cost", JUDGE_COST), MONEY),
    **dict.fromkeys(CALIBRATION, Unit(1.0, 3)),
}


def figures_in(frame: pl.DataFrame) -> list[Figure]:
    return [Figure(**row) for row in frame.iter_rows(named=True)]


def unit_of(metric: str) -> Unit:
    usual = COUNT if metric.startswith("pages") else POINTS if is_difference(metric) else SHARE
    return UNITS.get(metric.removesuffix(DIFFERENCE), usual)


def name_with_unit(metric: str) -> str:
    unit = unit_of(metric).name
    return f"{metric} ({unit})" if unit else metric


def mark_of_fit(evaluation: Evaluation, metric: str) -> str:
    """Return what marks a metric that depends on weights fitted on the evaluation's own documents, "" for any other."""
    by_weights = metric.removesuffix(DIFFERENCE) in BY_WEIGHTS
    return FITTED_HERE if by_weights and is_fitted_here(evaluation) else ""


def is_fitted_here(evaluation: Evaluation) -> bool:
    """Say whether the weights were fitted on its own questions, by their hash, which no new name changes."""
    return evaluation.benchmark_hash.startswith(evaluation.models.get(FITTED_ON, MISSING))


def is_difference(metric: str) -> bool:
    return metric.endswith(DIFFERENCE) or metric.startswith(GAIN)


def is_few(figure: Figure) -> bool:
    """Say whether so few questions or documents were measured that the interval itself is not to be trusted."""
    return figure.questions < FEW_QUESTIONS or figure.documents < FEW_DOCUMENTS


def write_value(metric: str, value: float) -> str:
    """Return a value in the metric's unit: "57.0"; a difference with its sign: "+1.3"."""
    unit, sign = unit_of(metric), "+" if is_difference(metric) else ""
    return f"{value * unit.factor:{sign}z,.{unit.decimals}f}"


def write_figure(figure: Figure, *, brief: bool = False) -> str:
    """Return the mean and its interval, "57.0 (50.1-63.8)" or "-1.6 (-3.0 to +0.2)", marked where it is made of few.

    One document has no interval: "57.0 (-)*", and no deviation has one. In brief a mark stands for the interval of a difference
    that leaves out zero.
    """
    value, low, high = (write_value(figure.metric, number) for number in (figure.value, figure.low, figure.high))
    few = FEW_MARK if is_few(figure) else ""
    difference = is_difference(figure.metric)
    if figure.metric.endswith(deviation_of("")):
        return f"{value}{few}"
    if brief:
        sure = difference and more_than_luck(low=figure.low, high=figure.high, documents=figure.documents)
        return f"{value}{BEYOND_LUCK if sure else ''}{few}"
    interval = f"{low}{' to ' if difference else '-'}{high}" if figure.documents >= FEWEST_DOCUMENTS else MISSING
    return f"{value} ({interval}){few}"
