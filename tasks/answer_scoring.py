"""What each answer was worth: whether it is right, whether it refused rightly, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storage.evaluation_records import Asked, BenchmarkQuestion, Scored
from tasks.algorithms.answer_matching import MatchKind
from tasks.answer_judging import BY_RULES, Judged
from tasks.evaluation_scoring import AskedBy

CORRECT = "accuracy"
STRICT = "accuracy, word for word, number or list"
REFUSED_RIGHTLY = "abstained where there is no answer"
REFUSED_WRONGLY = "abstained where there is an answer"
JUDGE_CALLS, JUDGE_COST = "calls of the judge", "cost of the judge"
LOOSE = {MatchKind.CONTAINED, MatchKind.WRONG}


def scored_answers(
    questions: Sequence[BenchmarkQuestion], asked: AskedBy, judged: Mapping[str, Mapping[str, Judged]]
) -> tuple[Scored, ...]:
    """Score every arm on the questions, in their order."""
    return tuple(
        Scored(
            arm=arm,
            question_id=question.id,
            document=" ".join(question.documents),
            values=_worth(question, found[question.id], judged[arm][question.id]),
        )
        for arm, found in asked.items()
        for question in questions
    )


def _worth(question: BenchmarkQuestion, asked: Asked, judged: Judged) -> Mapping[str, float]:
    refused = float(judged.kind is MatchKind.ABSTAINED)
    strict = judged.correct and judged.kind not in LOOSE
    return {
        CORRECT: float(judged.correct),
        STRICT: float(strict),
        (REFUSED_WRONGLY if question.answerable else REFUSED_RIGHTLY): refused,
        "calls": float(asked.calls),
        "input tokens": float(asked.input_tokens),
        "output tokens": float(asked.output_tokens),
        "cost": asked.cost,
        "seconds": asked.seconds,
        **({} if judged.by == BY_RULES and not judged.calls else {JUDGE_CALLS: float(judged.calls), JUDGE_COST: judged.cost}),
    }
