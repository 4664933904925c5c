"""Whether the answers of an evaluation are right: by rules, or by a model that is shown each of them beside the known answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage.answer_records import AnswerStatus
from storage.evaluation_records import Asked, BenchmarkQuestion
from tasks.algorithms.answer_matching import MatchKind, judge_by_rules
from tasks.judge_model import Judgement, ModelJudge
from tasks.models.chat_call import ChatReply, ModelCall
from tasks.models.chat_errors import ChatError

BY_RULES = "rules"

AnsweredQuestion = tuple[BenchmarkQuestion, Asked]


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether an answer is right.

    `by` is "rules" or the name of the model that said so; `kind` is what the rules found in either case. `reason` is the
    model's, or says by name why it gave none. `calls` were sent for it: none where its verdict was known.
    """

    question_id: str
    correct: bool
    by: str
    kind: MatchKind
    reason: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


def is_judgeable(question: BenchmarkQuestion) -> bool:
    """Tell whether anything is known to judge an answer by."""
    return bool(question.answers) or not question.answerable


def judge_answers(answered: Sequence[AnsweredQuestion], judge: ModelJudge | None) -> list[Judged]:
    """Judge answers, in order; without a model by rules alone.

    The model is shown what may be right or wrong: an answer that is none, and any answer to what the documents do not answer, is
    judged by rules. So is one that the model could not judge, and its reason says why. Equal ones are asked about once.

    Raises ValueError for a question that is not judgeable, and what ends the run: ChatEndedError, StoppedError; what is judged by
    then is in the cache.
    """
    verdicts = [_by_rules(question, asked) for question, asked in answered]
    if judge is None:
        return verdicts
    open_ones = [
        place for place, (question, _) in enumerate(answered) if question.answerable and verdicts[place].kind != MatchKind.ABSTAINED
    ]
    calls = [judge.call(*answered[place], number=place + 1) for place in open_ones]
    first = {call.prompt: call for call in reversed(calls)}
    replies = dict(zip(first, judge.model.ask_all(list(first.values())), strict=True))
    for place, call in zip(open_ones, calls, strict=True):
        verdict = _by_model(verdicts[place], replies[call.prompt], judge)
        asked_for_it = first[call.prompt] is call
        verdicts[place] = _with_cost(verdict, judge.heard[call.item]) if asked_for_it else verdict
    return verdicts


def _by_rules(question: BenchmarkQuestion, asked: Asked) -> Judged:
    match = judge_by_rules(
        predicted=asked.answer,
        answers=question.answers,
        answer_format=question.answer_format,
        answerable=question.answerable,
        found=asked.status != AnswerStatus.NOT_FOUND,
    )
    return Judged(question.id, match.correct, BY_RULES, match.kind)


def _by_model(verdict: Judged, reply: ChatReply[Judgement] | ChatError, judge: ModelJudge) -> Judged:
    """Return the model's verdict; that of the rules, with the reason, where it gave none."""
    if isinstance(reply, ChatError):
        return replace(verdict, reason=f"judged by rules, because the model did not help with {reply}")
    return replace(verdict, correct=reply.value.correct, by=judge.model.name, reason=reply.value.reason)


def _with_cost(verdict: Judged, call: ModelCall) -> Judged:
    return replace(
        verdict,
        calls=int(call.attempts > 0),
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        cost=call.cost,
    )
