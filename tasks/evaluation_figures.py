"""From questions to figures: means with intervals over documents, for all questions and for parts of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from storage.evaluation_records import BenchmarkQuestion, Figure, Scored
from tasks.algorithms.bootstrap import bootstrap_interval

ALL = "all"
CONFIDENCE = 0.95
SEED = 20260606
"""The same intervals every time: a figure that moves by itself cannot be compared."""
FEWEST_DOCUMENTS = 2
"""One document, drawn anew, is always itself: its interval is a point, and that is no certainty."""


def groups_of(question: BenchmarkQuestion) -> tuple[str, ...]:
    """Return the parts of a benchmark that a question belongs to, all of it first."""
    pages = {0: (), 1: ("one page",)}.get(len(set(question.evidence)), ("several pages",))
    sources = tuple(f"source: {source}" for source in dict.fromkeys(question.evidence_sources))
    return (ALL, *pages, *sources, *((f"type: {question.document_type}",) if question.document_type else ()))


def figures_of(
    scored: Sequence[Scored],
    groups: Mapping[str, Sequence[str]],
    *,
    resamples: int,
    in_groups: Callable[[str], bool],
) -> tuple[Figure, ...]:
    """Return the mean of each metric for each arm, and of those that `in_groups` takes also for each part of the questions.

    Args:
        scored: by arm and question; a metric that a question lacks is not measured on it.
        groups: the parts of each question, by its id, `ALL` first.
        resamples: draws of documents that each interval is made of.
        in_groups: whether a metric is told for parts, too.
    """
    values: dict[tuple[str, str, str], list[tuple[float, str]]] = defaultdict(list)
    for one in scored:
        for metric, value in one.values.items():
            for group in groups[one.question_id] if in_groups(metric) else (ALL,):
                values[one.arm, group, metric].append((value, one.document))
    return tuple(
        _figure(*name, [value for value, _ in found], [document for _, document in found], resamples)
        for name, found in values.items()
    )


def difference_of(metric: str) -> str:
    """Name the difference of a metric to the reference."""
    return f"{metric}, difference"


def more_than_luck(*, low: float, high: float, documents: int) -> bool:
    """Say whether a mean difference with this interval is no luck: it leaves out zero, and several documents were drawn from."""
    return documents >= FEWEST_DOCUMENTS and (low > 0.0 or high < 0.0)


def _figure(arm: str, group: str, metric: str, values: Sequence[float], documents: Sequence[str], resamples: int) -> Figure:
    numbers = {document: number for number, document in enumerate(dict.fromkeys(documents))}
    interval = bootstrap_interval(
        values=np.array(values, dtype=np.float64),
        clusters=np.array([numbers[document] for document in documents], dtype=np.int64),
        resamples=resamples,
        confidence=CONFIDENCE,
        seed=SEED,
    )
    return Figure(arm, group, metric, interval.mean, interval.low, interval.high, len(values), len(numbers))
