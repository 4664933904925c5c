"""OpenAI's protocol: `/v1/models`, where each corpus is a model, and `/v1/chat/completions`, with citations as annotations.

Nothing is streamed before its proof was looked for: comments report progress while an answer is found, and then it comes whole.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict

from flows.ask_deployed import AwaitedRequest
from flows.service.news import LatestEvents
from flows.service.received import parse_form, read_body, run_while_connected
from flows.service.refusals import refusal_of_question
from storage.catalog.in_use import corpora_in
from storage.corpus.snapshot import open_for_reading
from storage.errors import ExpectedError, RequestError
from storage.locations import corpora_folder, corpus_location
from storage.text import shorten
from tasks.algorithms.questions.talk import is_aside
from tasks.asking.request import AskRequest
from tasks.events import StageReached
from tasks.views.answers import AnswerView
from tasks.views.errors import ErrorView
from tasks.views.render import CHAT, draw

PREFIX = "/v1"
COMPLETIONS = f"{PREFIX}/chat/completions"
NOT_USED = "FlowReader-Not-Used"
"""The header that names what in a request has no effect, such as `temperature`."""
SHOWN_FIELD, FIELDS_SHOWN = re.compile(r"[A-Za-z0-9_.-]{1,40}"), 20
WHERE = "ask by POST /v1/chat/completions; GET /v1/models lists the corpora"
TITLE_CHARACTERS = 60

router = APIRouter(prefix=PREFIX)


class Message(BaseModel):
    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """Raise RequestError for a part that is no text."""
        parts = [{"type": "text", "text": self.content}] if isinstance(self.content, str) else self.content or []
        for part in parts:
            if part.get("type") != "text" or not isinstance(part.get("text"), str):
                raise RequestError("a question is text alone", str(part.get("type")), "send a message without pictures or files")
        return "\n".join(part["text"] for part in parts)

    @property
    def written(self) -> str:
        """The text in it, whatever else there is."""
        parts = [{"text": self.content}] if isinstance(self.content, str) else self.content or []
        return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    """A request; fields that set how a model writes are ignored. `model` names the corpus.

    `flowreader` may hold further fields of an AskRequest.
    """

    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[Message]
    n: int | None = None
    logprobs: bool | None = None
    response_format: dict[str, Any] | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    flowreader: dict[str, Any] | None = None

    @property
    def question(self) -> str:
        """Return the question; raise RequestError where there is none, or the request wants what an answer cannot have."""
        if wanted := "tools" if self.tools else "functions" if self.functions else "":
            raise RequestError(f"{wanted} are not called: answers come from documents alone", wanted, f"send no {wanted}")
        if self.n not in (None, 1):
            raise RequestError(f"a question has one answer, and n is {self.n}", "n", "leave n out")
        if self.logprobs:
            raise RequestError("an answer has no probabilities of its words", "logprobs", "leave logprobs out")
        if (kind := (self.response_format or {}).get("type", "text")) != "text":
            remedy = "leave response_format out; POST /api/v1/ask gives an answer as JSON, with its citations"
            raise RequestError(f"an answer is text, and response_format asks for {str(kind)[:40]!r}", "response_format", remedy)
        asked = [message for message in self.messages if message.role == "user"]
        if not asked or not asked[-1].text.strip():
            raise RequestError("no message of a user has text", "messages", 'send {"role": "user", "content": "QUESTION"}')
        return asked[-1].text

    @property
    def earlier(self) -> list[str]:
        """Return the questions before: what else stands between, and what an answer said, is no evidence."""
        *before, _last = [message for message in self.messages if message.role == "user"]
        return [text for message in before if (text := message.written.strip()) and not TASK.match(text)]

    @property
    def unused(self) -> str:
        """What has no effect, as the value of a header."""
        fields = [name for name, value in (self.model_extra or {}).items() if value is not None and SHOWN_FIELD.fullmatch(name)]
        return ", ".join(fields[:FIELDS_SHOWN])

    def to_ask_request(self) -> AskRequest:
        asked = {"questions": [self.question], "earlier": self.earlier, "corpus": self.model}
        return parse_form(AskRequest, {**(self.flowreader or {}), **asked})


@router.get("/models")
def models() -> dict[str, Any]:
    """List the corpora that can be asked."""
    return {
        "object": "list",
        "data": [_model(location.name) for location in corpora_in(corpora_folder()) if location.current.exists()],
    }


@router.get("/models/{name}")
def model(name: str) -> dict[str, Any]:
    """Name a corpus that can be asked; raise UnknownCorpusError for another."""
    with open_for_reading(corpus_location(name)):
        return _model(name)


def _model(name: str) -> dict[str, Any]:
    published = corpus_location(name).current.stat().st_mtime
    return {"id": name, "object": "model", "created": int(published), "owned_by": "flowreader"}


@router.post("/chat/completions")
async def chat(request: Request) -> Response:
    """Answer the last message of the user, streamed or not."""
    wanted = parse_form(ChatRequest, await read_body(request))
    question, began = wanted.question, int(time.time())
    if (own := reply_to_front_end(question)) is not None:
        reply = CompletionReply(wanted.model, began, own)
        return StreamingResponse(reply.chunks(), media_type="text/event-stream") if wanted.stream else JSONResponse(reply.whole())
    await asyncio.to_thread(model, wanted.model)
    asked = request.app.state.intake.take_in(wanted.to_ask_request())
    headers = {NOT_USED: wanted.unused} if wanted.unused else {}
    here = str(request.base_url).rstrip("/")
    if not wanted.stream:
        reply = await run_while_connected(request, wait_for_reply(asked, wanted.model, began, here))
        return JSONResponse(reply.whole(), headers=headers)
    usage = bool(wanted.stream_options and wanted.stream_options.include_usage)
    return StreamingResponse(
        stream_reply(LatestEvents(asked), wanted.model, began, here, usage), media_type="text/event-stream", headers=headers
    )


async def wait_for_reply(asked: AwaitedRequest, corpus: str, began: int, here: str) -> "CompletionReply":
    await asked.wait_for_answers()
    return make_reply(asked.given[0], corpus, began, here)


async def stream_reply(news: LatestEvents, corpus: str, began: int, here: str, usage: bool) -> AsyncIterator[str]:
    """Yield comments on the progress, then the answer or the error."""
    async for event in news.follow():
        if isinstance(event, StageReached):
            yield f": {event.words}\n\n"
    try:
        reply = await wait_for_reply(news.asked, corpus, began, here)
    except (ExpectedError, OSError) as error:
        yield _event({"error": make_openai_error(refusal_of_question(error).error)})
        return
    async for chunk in reply.chunks(usage=usage):
        yield chunk


def make_reply(answer: AnswerView, corpus: str, began: int, here: str) -> "CompletionReply":
    """Return the answer or the evidence, and below it its sources, each with the address of its page.

    The text has the addresses, too, for clients that show no annotations.
    """
    content, annotations = draw(CHAT, "answer.j2", answer=answer).rstrip(), []
    is_greeting = answer.answer_by == "catalog" and is_aside(answer.question)
    if is_greeting:
        content = re.sub(r" \[\d+\]$", "", content, flags=re.MULTILINE)
    for cited in () if is_greeting else answer.citations:
        address = f"{here}{cited.link or answer.link}"
        line = draw(CHAT, "source.j2", cited=cited, address=address)
        start = len(content) + 2
        content += f"\n\n{line}"
        title = ", ".join(filter(None, (cited.document.name, cited.place)))
        source = {"url": address, "title": title, "start_index": start, "end_index": start + len(line)}
        annotations.append({"type": "url_citation", "url_citation": source})
    return CompletionReply(corpus, began, content, tuple(annotations), answer)


class CompletionReply:
    """A reply, whole or in chunks; one without an `answer` cost nothing."""

    def __init__(
        self, corpus: str, began: int, content: str, annotations: tuple[dict[str, Any], ...] = (), answer: AnswerView | None = None
    ) -> None:
        self.content, self.annotations, self.answer = content, list(annotations), answer
        self.head = {"id": f"chatcmpl-{answer.answer_id if answer else began}", "created": began, "model": corpus}
        read, written = (answer.usage.input_tokens, answer.usage.output_tokens) if answer else (0, 0)
        self.usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}

    def whole(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.content, "refusal": None, "annotations": self.annotations}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        named = ("status", "why", "answer_id", "asked_as", "follows", "thread")
        status = {name: getattr(self.answer, name) for name in named} if self.answer else {}
        return {**self.head, "object": "chat.completion", "choices": [choice], "usage": self.usage, "flowreader": status}

    async def chunks(self, *, usage: bool = False) -> AsyncIterator[str]:
        message = {"role": "assistant", "content": self.content, "annotations": self.annotations}
        for delta, reason in ((message, None), ({}, "stop")):
            yield self._chunk([{"index": 0, "delta": delta, "finish_reason": reason}])
        if usage:
            yield self._chunk([], usage=self.usage)
        yield "data: [DONE]\n\n"

    def _chunk(self, choices: list[dict[str, Any]], **more: Any) -> str:  # noqa: ANN401 - a field of JSON
        return _event({**self.head, "object": "chat.completion.chunk", "choices": choices, **more})


def _event(value: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"


TASK = re.compile(r"\s*#+ *task:", re.IGNORECASE)
FIRST_ASKED = re.compile(r"^USER:\s*(.+)$", re.MULTILINE)


def reply_to_front_end(text: str) -> str | None:
    """Return the reply to a chat front end's own request, such as a title for the conversation; None for a question.

    Such a message begins with "### Task:" and names the field of the JSON that it wants.
    """
    if not TASK.match(text):
        return None
    asked = FIRST_ASKED.search(text)
    title = shorten(asked[1].strip(), TITLE_CHARACTERS) if asked else "Documents"
    replies: dict[str, Any] = {"title": title, "tags": [], "follow_ups": [], "queries": [], "text": ""}
    wanted = next((name for name in replies if f'"{name}"' in text), "title")
    return json.dumps({wanted: replies[wanted]})


def make_openai_error(error: ErrorView) -> dict[str, Any]:
    """Return an error in OpenAI's shape, with ours in it."""
    message = "; ".join(filter(None, (error.what, error.remedy)))
    return {"message": message, "type": "invalid_request_error", "param": None, "code": None, **error.model_dump()}
