"""What an evaluation comes to: every question scored, every figure with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from storage.evaluation_records import Evaluation, Figure, Scored
from tasks.code_identity import code_identity
from tasks.evaluation_arms import FULL
from tasks.evaluation_figures import difference_of, figures_of, groups_of
from tasks.evaluation_scoring import (
    BASELINE,
    CORRECT,
    CUTOFFS,
    CUTS,
    OWN,
    PERFECT,
    REFUSED_RIGHTLY,
    REFUSED_WRONGLY,
    RETURNED,
    SAME_NUMBER,
    gain_over,
    scored_answers,
    scored_retrieval,
)
from tasks.exam import Exam, Findings

ABLATED = ("recall@1", "recall@3", "recall@5", PERFECT, RETURNED, gain_over(OWN, SAME_NUMBER))
"""What ablations are compared by."""
IN_GROUPS: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("recall@1", "recall@5", PERFECT, *(gain_over(ranking, cut) for ranking in (OWN, BASELINE) for cut in CUTS)),
    "answers": (CORRECT, REFUSED_RIGHTLY, REFUSED_WRONGLY),
    "ablations": (PERFECT, difference_of(PERFECT)),
    "probe": tuple(f"recall@{cutoff}" for cutoff in CUTOFFS),
}
"""Metrics that are told for parts of the questions, too; the others would only make the tables long."""


def summed_up(exam: Exam, found: Findings, *, run_id: str, started: str) -> Evaluation:
    """Score what came of the questions and make figures of it."""
    if exam.request.what == "answers":
        scored = scored_answers(exam.questions, found.asked, found.judged)
    else:
        scored = scored_retrieval(exam.questions, found.asked)
    if exam.request.what == "ablations":
        scored = with_differences(scored)
    return Evaluation(
        run_id=run_id,
        what=exam.request.what,
        started=started,
        benchmark=exam.benchmark.name,
        benchmark_hash=exam.benchmark.hash,
        corpus=next(exam.by_corpus())[0],
        snapshot=found.snapshot,
        scope=exam.request.scope,
        code=code_identity(),
        settings=exam.request.settings.model_dump(mode="json"),
        figures=_figures(exam, scored),
        scored=scored,
        models=found.models,
        notes=found.notes,
    )


def with_differences(scored: Sequence[Scored]) -> tuple[Scored, ...]:
    """Return the scores with, beside each ablation's, what the question was worth more, or less, than under the whole method."""
    whole = {one.question_id: one.values for one in scored if one.arm == FULL}
    return tuple(one if one.arm == FULL else replace(one, values=_compared(one.values, whole[one.question_id])) for one in scored)


def _compared(values: Mapping[str, float], whole: Mapping[str, float]) -> Mapping[str, float]:
    return {**values, **{difference_of(metric): values[metric] - whole[metric] for metric in ABLATED}}


def _figures(exam: Exam, scored: Sequence[Scored]) -> tuple[Figure, ...]:
    groups = {question.id: groups_of(question) for question in exam.questions}
    what = exam.request.what
    if what == "ablations":
        # A column for each source and type of thirty arms would be read by nobody.
        groups = {name: tuple(group for group in found if ":" not in group) for name, found in groups.items()}
    return figures_of(scored, groups, resamples=exam.request.resamples, in_groups=lambda metric: metric in IN_GROUPS[what])
