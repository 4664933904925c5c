"""Two evaluations of the same questions: by how much each number moved, whether that may be luck, and what else differs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from storage.errors import RequestError
from storage.records.evaluations import Evaluation
from tasks.evaluation.arms import RESAMPLES
from tasks.evaluation.figures import mean_with_interval, more_than_luck
from tasks.evaluation.units import mark_of_fit
from tasks.settings.base import list_dotted

NOT_SET = "not set"
"""Stands for a model or setting that only the other evaluation has; no value reads so, for a text stands in quotes."""


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A metric under an arm in two evaluations: means over the questions that both scored.

    `low` and `high` hold the mean difference, after less before, with 95 % confidence; `documents` counts those they ask about.
    `beyond_luck`: the interval leaves out zero. `fitted_here`: it goes by weights fitted on the questions' own documents.
    """

    arm: str
    metric: str
    questions: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    documents: int
    beyond_luck: bool
    fitted_here: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs besides the numbers; a model or a setting by its dotted name, with its values in JSON."""

    name: str
    before: str
    after: str


def compare(before: Evaluation, after: Evaluation) -> list[MetricChange]:
    """Return how each metric moved under each arm that both evaluations have, in the order of the later one.

    Differences are taken question by question and resampled by document. Raise RequestError where the questions are others, or
    no arm and metric was scored on the same question by both.
    """
    if before.benchmark_hash != after.benchmark_hash:
        raise RequestError(
            f"{_describe_benchmark(before)} and {_describe_benchmark(after)} asked different questions",
            remedy="compare evaluations of the same version of one benchmark",
        )
    names = ["arm", "question_id", "metric"]
    both = after.scored.join(before.scored, on=names, suffix="_before", maintain_order="left")
    changes = [_change(part, before, after) for part in both.partition_by("arm", "metric", maintain_order=True)]
    if not changes:
        raise RequestError(
            f"{before.run_id[:12]!r} (arms {_arms(before)}) and {after.run_id[:12]!r} (arms {_arms(after)}) scored no "
            "question under the same arm and metric",
            before.run_id[:12],
            "evaluate again with the same arms",
        )
    return changes


def list_differences(before: Evaluation, after: Evaluation) -> list[Difference]:
    """Return what else differs: arms, corpus, snapshot and code, then models and settings by name."""
    named = ("what", "corpus", "snapshot", "scope", "code")
    heads = [(name, str(getattr(before, name)), str(getattr(after, name))) for name in named]
    models = _side_by_side({"models": before.models}, {"models": after.models})
    settings = _side_by_side(before.settings, after.settings)
    return [Difference(*each) for each in heads + models + settings if each[1] != each[2]]


def _change(measured: pl.DataFrame, before: Evaluation, after: Evaluation) -> MetricChange:
    """Return how the scores of one metric under one arm moved; `value_before` is next to `value`."""
    old, new = (measured[name].to_numpy() for name in ("value_before", "value"))
    interval, documents = mean_with_interval(new - old, measured["document"], RESAMPLES)
    arm, metric = measured.select("arm", "metric").row(0)
    sure = more_than_luck(low=interval.low, high=interval.high, documents=documents)
    fitted = any(mark_of_fit(each, metric) for each in (before, after))
    return MetricChange(arm, metric, measured.height, float(np.mean(old)), float(np.mean(new)), *interval, documents, sure, fitted)


def _side_by_side(before: Mapping[str, object], after: Mapping[str, object]) -> list[tuple[str, str, str]]:
    old, new = dict(list_dotted(before)), dict(list_dotted(after))
    return [(name, old.get(name, NOT_SET), new.get(name, NOT_SET)) for name in sorted(old.keys() | new.keys())]


def _describe_benchmark(evaluation: Evaluation) -> str:
    return f"{evaluation.run_id[:12]!r} (benchmark {evaluation.benchmark!r}, {evaluation.benchmark_hash[:12]!r})"


def _arms(evaluation: Evaluation) -> str:
    return ", ".join(map(repr, evaluation.scored["arm"].unique().sort())) or "none"
