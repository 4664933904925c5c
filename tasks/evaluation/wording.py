"""How the figures of an evaluation are told: each in its unit, with its interval, and marked where it is made of few."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from storage.records.evaluations import Figure
from tasks.evaluation.figures import ALL, FEWEST_DOCUMENTS, difference_of, more_than_luck
from tasks.evaluation.scoring import GAIN, JUDGE_CALLS, JUDGE_COST, RETURNED

FEW_QUESTIONS = 10
FEW_DOCUMENTS = 5
FEW_MARK = "*"
FEW_SAID = f"fewer than {FEW_QUESTIONS} questions or {FEW_DOCUMENTS} documents"
MISSING = "-"
INTERVALS_SAID = f"95 % intervals, by drawing documents anew ({MISSING} where there is one document only)"
BEYOND_LUCK = "!"
DIFFERENCE = difference_of("")


@dataclass(frozen=True, slots=True)
class Unit:
    """How a metric is told: its value times `factor`, with so many decimals; a metric whose name says its unit has none here."""

    factor: float
    decimals: int
    name: str = ""


SHARE, POINTS = Unit(100.0, 1, "%"), Unit(100.0, 1, "points")
UNITS = {
    RETURNED: Unit(1.0, 1),
    "seconds": Unit(1.0, 2),
    "calls": Unit(1.0, 1),
    "input tokens": Unit(1.0, 0),
    "output tokens": Unit(1.0, 0),
    "cost": Unit(1.0, 4, "in the currency of the prices"),
    JUDGE_CALLS: Unit(1.0, 1),
    JUDGE_COST: Unit(1.0, 4, "in the currency of the prices"),
}


class Figures:
    """Figures by arm, group and metric: arms and metrics as they were measured, groups of one kind together."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        self._by_name = {(one.arm, one.group, one.metric): one for one in figures}
        self.arms = tuple(dict.fromkeys(one.arm for one in figures))
        self.groups = tuple(sorted({one.group for one in figures}, key=lambda group: (":" in group, group)))
        self.metrics = tuple(dict.fromkeys(one.metric for one in figures if one.group == ALL))
        self.grouped = tuple(dict.fromkeys(one.metric for one in figures if one.group != ALL))

    def of(self, metric: str, arms: Sequence[str] = (), groups: Sequence[str] = (ALL,)) -> list[Figure]:
        """Return the figures of a metric, of all arms where none is named."""
        names = [(arm, group, metric) for group in groups for arm in arms or self.arms]
        return [self._by_name[name] for name in names if name in self._by_name]

    def text(self, arm: str, metric: str, group: str = ALL, tell: Callable[[Figure], str] | None = None) -> str:
        """Return "57.0 (50.1-63.8)", or what `tell` makes of the figure; a dash where it was not measured."""
        figure = self._by_name.get((arm, group, metric))
        return (tell or figure_text)(figure) if figure else MISSING


def capital(metric: str) -> str:
    return metric[:1].upper() + metric[1:]


def unit_of(metric: str) -> Unit:
    return UNITS.get(metric.removesuffix(DIFFERENCE), POINTS if is_difference(metric) else SHARE)


def named_with_unit(metric: str) -> str:
    unit = unit_of(metric).name
    return f"{metric} ({unit})" if unit else metric


def is_difference(metric: str) -> bool:
    return metric.endswith(DIFFERENCE) or metric.startswith(GAIN)


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
