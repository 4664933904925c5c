"""Whether the answers of an evaluation are right: by rules, or by a model that is shown each of them with the known answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from storage.artifacts import hash_bytes
from storage.codec import to_json
from storage.locations import calls_folder
from storage.records.answers import AnswerStatus
from storage.records.documents import identify
from storage.records.evaluations import Asked, BenchmarkQuestion
from storage.runs.replies import CallCache, questions_owner
from tasks.algorithms.metrics.answers import RIGHT, MatchKind, judge_by_rules
from tasks.evaluation.arms import EvaluationRequest
from tasks.evaluation.scoring import BY_RULES, Judged
from tasks.lineage.writing import writing_calls
from tasks.models.chat.call import ChatCall, ModelCall
from tasks.models.chat.errors import ChatEndedError, ChatError
from tasks.models.chat.forms import Form, characters, largest_reply
from tasks.models.endpoints import Endpoint, judge_endpoint, of_judge, require_chat_endpoint
from tasks.prompts.prompt import Piece, cut, fence, load_prompt
from tasks.step import MODEL, StepKey, Workplace, step

if TYPE_CHECKING:
    from tasks.models.chat.model import ChatModel

PROMPT = "judge_answer"
SHOWN_CHARACTERS = 8000
"""Characters that are shown of the question and of each answer: three quotes take a tenth of it."""

AnsweredQuestion = tuple[BenchmarkQuestion, Asked]


class Judgement(Form):
    reason: Annotated[str, characters(300)]
    correct: bool


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model that judges: `owner` keeps its replies, `ended` are the calls that ended, by the item that they were about."""

    model: ChatModel
    owner: str
    ended: dict[str, ModelCall]

    def call(self, question: BenchmarkQuestion, asked: Asked, *, number: int) -> ChatCall[Judgement]:
        """Return the call about an answer; everything that others wrote is fenced, the question too.

        `number` is its place in the batch.
        """
        known = [Piece("an answer that is known to be right", cut(answer, SHOWN_CHARACTERS)) for answer in question.answers]
        candidate = Piece("the candidate's answer", cut(asked.answer, SHOWN_CHARACTERS))
        fenced = fence([Piece("the question", cut(question.text, SHOWN_CHARACTERS)), *known, candidate])
        prompt = load_prompt(PROMPT)
        return ChatCall(
            purpose=PROMPT,
            subject=self.owner,
            item=f"answer {number}, of {asked.reader} to question {question.id!r}",
            prompt=prompt.fill(mark=fenced.mark, material=fenced.text),
            prompt_hash=prompt.hash,
            form=Judgement,
            max_output_tokens=largest_reply(Judgement),
        )


def judge_server(request: EvaluationRequest) -> Endpoint | None:
    """Return where the model that judges is served, None where rules alone judge; raise EndpointError where no server is named.

    It is the judge of the environment, else the model that is named of the chat server.
    """
    if not request.of_answers:
        return None
    server, model = judge_endpoint(), request.judge
    if model is None:
        return server
    wanted = f"the model {model!r} is to judge"
    return replace(server or require_chat_endpoint(wanted, otherwise="have rules judge", value=model), model=model)


@contextmanager
def open_judge(request: EvaluationRequest, corpus: str, place: Workplace) -> Iterator[ModelJudge | None]:
    """Give the model that judges, at temperature 0, None where rules do; its replies about a corpus are removed with the corpus.

    Raises EndpointError where no server is named, ChatEndedError where it cannot be asked.
    """
    server = judge_server(request)
    if server is None:
        yield None
        return
    # the client of chat servers takes long to load, and rules need none of it
    from tasks.models.chat.model import open_chat

    ended: dict[str, ModelCall] = {}
    write = writing_calls(place)

    def note(call: ModelCall) -> None:
        ended[call.item] = call
        write(call)

    cold = request.settings.ask.models.model_copy(update={"temperature": 0.0})
    try:
        opened = open_chat(server, cold, cache=CallCache(calls_folder()), listener=note)
    except ChatEndedError as error:
        raise (ChatEndedError(of_judge(str(error))) if judge_endpoint() else error) from error
    with opened as model:
        yield ModelJudge(model, questions_owner(corpus), ended)


def notes_on_judge(judge: ModelJudge | None, models: Mapping[str, str]) -> tuple[str, ...]:
    """Say where a model judged its own answers."""
    itself = judge is not None and models.get("chat", "").partition(",")[0] == judge.model.name
    return (
        ("the model judged its own answers; FLOWREADER_JUDGE_BASE_URL and FLOWREADER_JUDGE_MODEL name another",) if itself else ()
    )


def judging_key(answered: Sequence[AnsweredQuestion], judge: ModelJudge | None) -> StepKey:
    name = identify(*(asked.key for _, asked in answered))
    by = judge.model.name if judge else "rules"
    return StepKey(name, identify(by, name), f"{answered[0][0].id} and {len(answered) - 1} more by {by}")


@step(
    "judge-answers",
    version="1",
    retries=0,  # the model keeps each reply by itself; a second try would count what was paid for as free
    cache_key=judging_key,
    tag=lambda _answered, judge: MODEL if judge else "",
    summary=lambda judged: {"judged": hash_bytes(to_json([f"{one.question_id} {one.kind} {one.correct}" for one in judged]))},
)
def judge_batch(answered: Sequence[AnsweredQuestion], judge: ModelJudge | None) -> tuple[Judged, ...]:
    return tuple(judge_answers(answered, judge))


def judge_answers(answered: Sequence[AnsweredQuestion], judge: ModelJudge | None) -> list[Judged]:
    """Judge answers, in order; without a model by rules alone.

    The model is shown what may be right or wrong: what is no answer, and any answer to what the documents do not answer, is
    judged by rules. So is one that the model could not judge, and its reason says why. Equal ones are asked about once.

    Raises ValueError for a question that is not judgeable, and what ends the run: ChatEndedError, StoppedError; what is judged by
    then is in the cache.
    """
    verdicts = [_by_rules(question, asked) for question, asked in answered]
    if judge is None:
        return verdicts
    open_ones = [
        place
        for place, (question, _) in enumerate(answered)
        if question.answerable and verdicts[place].kind not in {MatchKind.ABSTAINED, MatchKind.UNREAD}
    ]
    calls = [judge.call(*answered[place], number=place + 1) for place in open_ones]
    first = {call.prompt: call for call in reversed(calls)}
    replies = dict(zip(first, judge.model.ask_all(list(first.values())), strict=True))
    for place, call in zip(open_ones, calls, strict=True):
        verdict = _by_model(verdicts[place], replies[call.prompt], judge)
        if first[call.prompt] is call:
            ended = judge.ended[call.item]
            verdict = replace(verdict, calls=int(ended.attempts > 0), cost=ended.cost)
        verdicts[place] = verdict
    return verdicts


def _by_rules(question: BenchmarkQuestion, asked: Asked) -> Judged:
    if asked.unanswered or asked.status == AnswerStatus.EVIDENCE:
        return Judged(question.id, False, BY_RULES, MatchKind.UNREAD)
    kind = judge_by_rules(
        predicted=asked.answer,
        answers=question.answers,
        answer_format=question.answer_format,
        answerable=question.answerable,
        found=asked.status != AnswerStatus.NOT_FOUND,
    )
    return Judged(question.id, kind in RIGHT or (kind is MatchKind.ABSTAINED and not question.answerable), BY_RULES, kind)


def _by_model(verdict: Judged, reply: Judgement | ChatError, judge: ModelJudge) -> Judged:
    """Return the model's verdict; that of the rules, with the reason, where it gave none."""
    if isinstance(reply, ChatError):
        return replace(verdict, reason=f"judged by rules, because the model failed on {reply}")
    return replace(verdict, correct=reply.correct, by=judge.model.name, reason=reply.reason)
