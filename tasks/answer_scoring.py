"""What each answer was worth: whether it is right, whether it refused rightly, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storage.evaluation_records import Asked, BenchmarkQuestion, Scored
from tasks.algorithms.answer_matching import MatchKind
from tasks.answer_judging import BY_RULES, Judged
from tasks.evaluation_scoring import AskedBy, document_of

CORRECT = "accuracy"
BY_THE_RULES = "accuracy by rules"
STRICT = "accuracy by rules, word for word, number or list"
REFUSED_RIGHTLY = "abstained where there is no answer"
REFUSED_WRONGLY = "abstained where there is an answer"
BY_MODEL = "judged by the model"
JUDGE_CALLS, JUDGE_COST = "calls of the judge", "cost of the judge"
TO_THE_WORD = {MatchKind.EXACT, MatchKind.NUMERIC, MatchKind.LIST}


def scored_answers(
    questions: Sequence[BenchmarkQuestion], asked: AskedBy, judged: Mapping[str, Mapping[str, Judged]]
) -> tuple[Scored, ...]:
    """Score every arm on the questions, in their order."""
    return tuple(
        Scored(
            arm=arm,
            question_id=question.id,
            document=document_of(question),
            values=_worth(question, found[question.id], judged[arm][question.id]),
        )
        for arm, found in asked.items()
        for question in questions
    )


def _worth(question: BenchmarkQuestion, asked: Asked, judged: Judged) -> Mapping[str, float]:
    refused = judged.kind is MatchKind.ABSTAINED
    rightly_refused = refused and not question.answerable
    to_the_word = rightly_refused or judged.kind in TO_THE_WORD
    return {
        CORRECT: float(judged.correct),
        BY_THE_RULES: float(to_the_word or judged.kind is MatchKind.CONTAINED),
        STRICT: float(to_the_word),
        (REFUSED_WRONGLY if question.answerable else REFUSED_RIGHTLY): float(refused),
        **({BY_MODEL: float(judged.by != BY_RULES)} if judged.by != BY_RULES or judged.reason else {}),
        **(_cost(asked) if not asked.cached else {}),
        **({JUDGE_CALLS: float(judged.calls), JUDGE_COST: judged.cost} if judged.calls else {}),
    }


def _cost(asked: Asked) -> Mapping[str, float]:
    """Return what an answer took; of one that calls kept from before helped with nobody knows what it would have taken."""
    return {
        "calls": float(asked.calls),
        "input tokens": float(asked.input_tokens),
        "output tokens": float(asked.output_tokens),
        "cost": asked.cost,
        "seconds": asked.seconds,
    }
