"""The model that judges answers: where it is served, and what it is shown of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from storage.call_cache import CallCache
from storage.evaluation_records import Asked, BenchmarkQuestion
from storage.locations import calls_folder
from tasks.model_forms import Form
from tasks.model_settings import ModelSettings
from tasks.models.chat_call import ChatCall, ModelCall
from tasks.models.endpoints import ChatEndpoint, EndpointError, chat_endpoint
from tasks.prompt import Piece, cut, fence, load_prompt

if TYPE_CHECKING:
    from tasks.models.chat import ChatModel

PROMPT = "judge_answer"
REPLY_TOKENS = 300
"""Room for one sentence and a word."""
SHOWN_CHARACTERS = 8000
"""Of the question and of each answer, so many are shown: three quotes take a tenth of it."""


class Judgement(Form):
    """Whether an answer is right, and why."""

    reason: str
    correct: bool


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model that judges: `owner` keeps its replies, `heard` are the calls that ended, by the item that they were about."""

    model: ChatModel
    owner: str
    heard: dict[str, ModelCall]

    def call(self, question: BenchmarkQuestion, asked: Asked, *, number: int) -> ChatCall[Judgement]:
        """Return the call about an answer; everything that others wrote is fenced, the question too.

        `number` tells it from the others of its batch.
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
            max_output_tokens=REPLY_TOKENS,
        )


def judge_server(model: str) -> ChatEndpoint:
    """Return where the model that judges is served; raise EndpointError where no server is named."""
    endpoint = chat_endpoint()
    if endpoint is None:
        raise EndpointError(
            f"the model {model!r} is to judge, but FLOWREADER_CHAT_BASE_URL is not set; set it to something like "
            "http://localhost:8000/v1, or have rules judge"
        )
    return replace(endpoint, model=model)


@contextmanager
def open_judge(
    server: ChatEndpoint, settings: ModelSettings, *, owner: str, listener: Callable[[ModelCall], None]
) -> Iterator[ModelJudge]:
    """Give the model that judges, at temperature 0; the listener hears of each call.

    Raises ChatEndedError where the server cannot be asked.
    """
    # What speaks to servers takes long to load, and rules need none of it.
    from tasks.models.chat import open_chat

    heard: dict[str, ModelCall] = {}

    def hear(call: ModelCall) -> None:
        heard[call.item] = call
        listener(call)

    cold = settings.model_copy(update={"temperature": 0.0})
    with open_chat(server, cold, cache=CallCache(calls_folder()), listener=hear) as model:
        yield ModelJudge(model, owner, heard)
