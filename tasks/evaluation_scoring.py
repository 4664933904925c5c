"""What each question was worth: its ranking, its evidence, and what rankings cut to as many pages would have found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from storage.evaluation_records import Asked, BenchmarkQuestion, Scored
from tasks.algorithms.cut_rankings import cut_of_mean, irrelevant_when_cut, recall_at_mean, recall_when_cut
from tasks.algorithms.evidence_metrics import irrelevant_ratio, perfect_recall, recall
from tasks.algorithms.ranking_metrics import ranking_metrics

CUTOFFS = (1, 3, 5, 10)
BASELINE = "top-k"
PERFECT, IRRELEVANT, RETURNED, READABLE = "perfect recall", "irrelevant pages", "pages returned", "has a readable document"
OWN, GAIN = "own ranking", "gain over "
CUTS = SAME_NUMBER, SAME_MEAN = "same number", "same mean"

AskedBy = Mapping[str, Mapping[str, Asked]]
"""What came of the questions, by arm and by question."""


def gain_over(ranking: str, cut: str) -> str:
    """Name how much more often the returned set was whole than a ranking that was cut."""
    return f"{GAIN}{ranking}, {cut}"


def found_by(ranking: str, cut: str) -> str:
    """Name how often a ranking that was cut was whole."""
    return f"{PERFECT} of {ranking}, {cut}"


def scored_retrieval(questions: Sequence[BenchmarkQuestion], asked: AskedBy) -> tuple[Scored, ...]:
    """Score every arm on the questions whose evidence is known, in their order."""
    measured = [question for question in questions if question.evidence]
    return tuple(scored for arm in asked for scored in _scored_arm(arm, measured, asked))


def _scored_arm(arm: str, questions: Sequence[BenchmarkQuestion], asked: AskedBy) -> list[Scored]:
    own = asked[arm]
    rivals = {OWN: own} | ({BASELINE: asked[BASELINE]} if BASELINE in asked and arm != BASELINE else {})
    mean = float(np.mean([len(own[question.id].evidence) for question in questions])) if questions else 0.0
    cuts = {name: _cut(rival, questions, mean) for name, rival in rivals.items()}
    return [
        Scored(
            arm=arm,
            question_id=question.id,
            document=" ".join(question.documents),
            values=_worth(question, own[question.id], {name: rival[question.id] for name, rival in rivals.items()}, cuts),
        )
        for question in questions
    ]


def _cut(rival: Mapping[str, Asked], questions: Sequence[BenchmarkQuestion], mean: float) -> float:
    """Return where to cut a rival's rankings so that they keep as many pages on average, all where there are fewer."""
    lengths = np.array([len(rival[question.id].ranked) for question in questions], dtype=np.int64)
    return cut_of_mean(lengths=lengths, mean=min(mean, float(lengths.mean()))) if len(lengths) else 0.0


def _worth(question: BenchmarkQuestion, own: Asked, rivals: Mapping[str, Asked], cuts: Mapping[str, float]) -> Mapping[str, float]:
    gold, pages = question.evidence, len(own.evidence)
    whole = perfect_recall(returned=own.evidence, gold=gold)
    values = ranking_metrics(ranked=own.ranked, gold=gold, cutoffs=CUTOFFS) | {
        PERFECT: whole,
        "recall of the evidence": recall(returned=own.evidence, gold=gold),
        IRRELEVANT: irrelevant_ratio(returned=own.evidence, gold=gold),
        RETURNED: float(pages),
        READABLE: float(bool(own.ranked)),
        "seconds": own.seconds,
        f"{IRRELEVANT} of {OWN}, {SAME_NUMBER}": irrelevant_when_cut(ranked=own.ranked, gold=gold, pages=pages),
    }
    for name, rival in rivals.items():
        at_number = recall_when_cut(ranked=rival.ranked, gold=gold, pages=pages)
        at_mean = recall_at_mean(ranked=rival.ranked, gold=gold, mean_pages=cuts[name])
        for cut, found in ((SAME_NUMBER, at_number), (SAME_MEAN, at_mean)):
            values |= {found_by(name, cut): found, gain_over(name, cut): whole - found}
    return values
