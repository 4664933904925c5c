"""Judging what came of a benchmark's questions, twenty to a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from storage.artifacts import hash_bytes
from storage.call_cache import questions_owner
from storage.codec import to_json
from storage.evaluation_records import Asked, BenchmarkQuestion
from storage.records import identify
from tasks.answer_judging import Judged, judge_answers
from tasks.evaluation_request import EvaluationRequest
from tasks.judge_model import ModelJudge, judge_server, open_judge
from tasks.lineage import writing_calls
from tasks.step import StepKey, Workplace, step


@contextmanager
def opened_judge(request: EvaluationRequest, corpus: str, place: Workplace) -> Iterator[ModelJudge | None]:
    """Give the model that judges, None where rules do; what it says of a corpus's answers goes with the corpus.

    Raises EndpointError where no server is named, ChatEndedError where it cannot be asked.
    """
    if request.judge is None or request.what != "answers":
        yield None
        return
    server, models = judge_server(request.judge), request.settings.ask.models
    with open_judge(server, models, owner=questions_owner(corpus), listener=writing_calls(place)) as judge:
        yield judge


def judging_key(answered: Sequence[tuple[BenchmarkQuestion, Asked]], judge: ModelJudge | None) -> StepKey:
    """Key by what was answered and by who judges."""
    name = identify(*(asked.key for _, asked in answered))
    by = judge.model.name if judge else "rules"
    return StepKey(name, identify(by, name), f"{answered[0][0].id} and {len(answered) - 1} more by {by}")


def told_of_judged(judged: Sequence[Judged]) -> Mapping[str, str]:
    """Return the hash of the verdicts, for the lineage."""
    return {"judged": hash_bytes(to_json([f"{one.question_id} {one.kind} {one.correct}" for one in judged]))}


@step("judge-answers", version="1", retries=0, cache_key=judging_key, told=told_of_judged)
def judge_batch(answered: Sequence[tuple[BenchmarkQuestion, Asked]], judge: ModelJudge | None) -> tuple[Judged, ...]:
    """Judge the answers, in their order."""
    return tuple(judge_answers(answered, judge))
