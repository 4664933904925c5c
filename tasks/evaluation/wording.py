"""How the figures of an evaluation are written: each in its unit, with its interval, and marked where it is made of few."""

from dataclasses import dataclass

import polars as pl

from storage.records.evaluations import Evaluation, Figure
from tasks.evaluation.figures import FEWEST_DOCUMENTS, GAIN_AT_NOISE, PAGES_FOR_RECALL, more_than_luck
from tasks.evaluation.plan import FITTED_ON
from tasks.evaluation.scoring import BY_WEIGHTS, GAIN, JUDGE_CALLS, JUDGE_COST, RETURNED, difference_of
from tasks.evaluation.sizing import CALIBRATION

FEW_QUESTIONS = 10
FEW_DOCUMENTS = 5
FEW_MARK = "*"
FEW_MEANS = f"fewer than {FEW_QUESTIONS} questions or {FEW_DOCUMENTS} documents"
MISSING = "-"
INTERVALS_MEAN = f"95 % intervals, by drawing documents anew ({MISSING} where there is one document only)"
ORDER_MEANS = "order: the set as it was read, then the rest of the ranking"
BEYOND_LUCK = "!"
DIFFERENCE = difference_of("")
ON_THESE = "fitted on these documents"


@dataclass(frozen=True, slots=True)
class Unit:
    """How a metric is written: its value times `factor`, with so many decimals; `name` is empty where the metric names its unit."""

    factor: float
    decimals: int
    name: str = ""


SHARE, POINTS, PAGES = Unit(100.0, 1, "%"), Unit(100.0, 1, "points"), Unit(1.0, 1)
UNITS = {
    RETURNED: PAGES,
    "seconds": Unit(1.0, 2),
    "calls": Unit(1.0, 1),
    "input tokens": Unit(1.0, 0),
    "output tokens": Unit(1.0, 0),
    "cost": Unit(1.0, 4, "in the currency of the prices"),
    JUDGE_CALLS: Unit(1.0, 1),
    JUDGE_COST: Unit(1.0, 4, "in the currency of the prices"),
    **dict.fromkeys(CALIBRATION, Unit(1.0, 3)),
}


def figures_in(frame: pl.DataFrame) -> list[Figure]:
    return [Figure(**row) for row in frame.iter_rows(named=True)]


def capital(metric: str) -> str:
    return metric[:1].upper() + metric[1:]


def unit_of(metric: str) -> Unit:
    usual = PAGES if metric.startswith(PAGES_FOR_RECALL) else POINTS if is_difference(metric) else SHARE
    return UNITS.get(metric.removesuffix(DIFFERENCE), usual)


def named_with_unit(metric: str) -> str:
    unit = unit_of(metric).name
    return f"{metric} ({unit})" if unit else metric


def fitted_mark(evaluation: Evaluation, metric: str) -> str:
    """Return what marks a metric that depends on weights fitted on the evaluation's own documents, "" for any other."""
    by_weights = metric.removesuffix(DIFFERENCE) in BY_WEIGHTS
    return f", {ON_THESE}" if by_weights and fitted_on_these(evaluation) else ""


def fitted_on_these(evaluation: Evaluation) -> bool:
    """Say whether the weights were, by the hash of their benchmark, which no new name changes; by the name where there is none."""
    benchmark = evaluation.models.get(FITTED_ON)
    if benchmark is None:
        return evaluation.models.get("weights") == evaluation.benchmark
    return evaluation.benchmark_hash.startswith(benchmark)


def is_difference(metric: str) -> bool:
    return metric.endswith(DIFFERENCE) or metric.startswith((GAIN, GAIN_AT_NOISE))


def is_few(figure: Figure) -> bool:
    """Say whether so few questions or documents were measured that the interval itself is not to be trusted."""
    return figure.questions < FEW_QUESTIONS or figure.documents < FEW_DOCUMENTS


def figure_text(figure: Figure) -> str:
    """Return the mean and its interval, "57.0 (50.1-63.8)" or "-1.6 (-3.0 to +0.2)", marked where it is made of few.

    One document has no interval: "57.0 (-)*".
    """
    unit, sign, to = unit_of(figure.metric), "", "-"
    if is_difference(figure.metric):
        sign, to = "+", " to "
    value, low, high = (f"{number * unit.factor:{sign}z,.{unit.decimals}f}" for number in (figure.value, figure.low, figure.high))
    interval = f"{low}{to}{high}" if figure.documents >= FEWEST_DOCUMENTS else MISSING
    return f"{value} ({interval}){_few_mark(figure)}"


def brief_text(figure: Figure) -> str:
    """Return the mean alone, marked where it is made of few; of a difference with a mark where it is more than luck."""
    unit = unit_of(figure.metric)
    if not is_difference(figure.metric):
        return f"{figure.value * unit.factor:,.{unit.decimals}f}{_few_mark(figure)}"
    sure = more_than_luck(low=figure.low, high=figure.high, documents=figure.documents)
    return f"{figure.value * unit.factor:+z,.{unit.decimals}f}{BEYOND_LUCK if sure else ' '}{_few_mark(figure)}"


def _few_mark(figure: Figure) -> str:
    return FEW_MARK if is_few(figure) else ""
