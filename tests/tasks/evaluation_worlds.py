"""Figures as an evaluation measures them, for the tests of how they are told."""

from dataclasses import replace

from storage.evaluation_records import Evaluation, Figure
from tasks.evaluation_scoring import CUTOFFS, OWN, PERFECT, SAME_NUMBER, found_by, gain_over


def figure(metric, arm="flow", group="all", value=0.5, low=0.4, high=0.6, questions=611, documents=38):
    return Figure(arm, group, metric, value, low, high, questions, documents)


def evaluation(*figures, **other):
    said = Evaluation(
        run_id="0123456789abcdef",
        what="retrieval",
        started="2026-01-02T03:04:05+00:00",
        benchmark="reports",
        benchmark_hash="ab" * 32,
        corpus="reports-1",
        snapshot=7,
        scope="document",
        code="0.1.0",
        settings={},
        figures=figures,
    )
    return replace(said, **other)


def readers_evaluation():
    metrics = [f"{family}@{cutoff}" for family in ("recall", "precision", "ndcg", "mrr") for cutoff in CUTOFFS]
    metrics += [PERFECT, found_by(OWN, SAME_NUMBER), gain_over(OWN, SAME_NUMBER), "irrelevant pages", "seconds"]
    whole = [figure(metric, arm) for metric in metrics for arm in ("flow", "top-k")]
    return evaluation(*whole, *(figure("recall@1", arm, "source: Pure-text (Plain-text)") for arm in ("flow", "top-k")))
