"""A look at a chat server: it is asked what the pipeline will ask of it, once, in small, and without a second chance."""

from __future__ import annotations

import asyncio
import io
import time
from typing import Any, Literal

from PIL import Image
from pydantic import BaseModel, ConfigDict

from tasks.model_settings import ChatDeadlines, ModelSettings
from tasks.models.chat_call import ChatCall
from tasks.models.chat_errors import ChatEndedError, ChatError
from tasks.models.chat_faults import FaultError, problem_of
from tasks.models.chat_loop import on_the_loop
from tasks.models.chat_request import Request, first_messages, request_of
from tasks.models.chat_transport import ChatTransport
from tasks.models.checkup import Checkup, ServerCheck, problem, told
from tasks.models.checkup_replies import START, Reply, context_check, model_check, picture_check, space_check, talk_checks
from tasks.models.endpoints import Endpoint
from tasks.models.served_models import ServedModel, chosen_model

REPLY_SECONDS = 60.0
"""A server that is well answers in a few; one that is just busy may take so long."""
REPLY_TOKENS = 200
FEW_TOKENS = 64
"""Enough for a reply of the form, and little enough to be soon full of white space."""
PICTURE_PIXELS = 128


class Crossing(BaseModel):
    """A form that nobody would fill in who was not made to: the prompt asks for something else."""

    model_config = ConfigDict(extra="forbid")

    light: Literal["red", "amber", "green"]
    cars: int


class Colour(BaseModel):
    """What a picture shows."""

    model_config = ConfigDict(extra="forbid")

    colour: Literal["red", "green", "blue"]


TALK = "Describe a quiet street in one sentence."
SPACE = "Begin with fifty empty lines. Then name a colour."
LOOK = "Which colour has the picture?"

ERRORS = (FaultError, ChatError, ChatEndedError)


def check_chat(endpoint: Endpoint) -> Checkup:
    """Ask the server for its models, a reply of a form, one that invites white space, and what a picture shows."""
    return told("chat", endpoint, on_the_loop(_looked_at(endpoint)).result())


async def _looked_at(endpoint: Endpoint) -> list[ServerCheck]:
    deadlines = ChatDeadlines(first_token_seconds=REPLY_SECONDS, total_seconds=REPLY_SECONDS)
    settings = ModelSettings(deadlines=deadlines)
    transport = ChatTransport(endpoint, settings)
    began = time.monotonic()
    try:
        answered = await transport.models()
        if answered.status != 200:
            raise problem_of(answered, request=Request(b"", 0, 0), endpoint=endpoint, limit_tokens=0)
        answers = ServerCheck("answers", f"in {time.monotonic() - began:.2f} s")
        try:
            model = chosen_model(answered.body, endpoint)
        except ChatEndedError as error:
            return [answers, problem("model", error, START)]
        return [answers, *await _asked_all(transport, model, settings)]
    except ERRORS as error:
        return [problem("answers", error, f"{START}, or set FLOWREADER_CHAT_BASE_URL to where one is")]
    finally:
        transport.close()


async def _asked_all(transport: ChatTransport, model: ServedModel, settings: ModelSettings) -> list[ServerCheck]:
    calls = (
        _call(TALK, Crossing, REPLY_TOKENS),
        _call(SPACE, Colour, FEW_TOKENS),
        _call(LOOK, Colour, REPLY_TOKENS, _picture()),
    )
    talk, space, look = await asyncio.gather(*(_asked(call, transport, model, settings) for call in calls))
    replies = [*talk_checks(calls[0], talk), space_check(space), picture_check(calls[2], look)]
    return [model_check(model, talk), context_check(model), *replies]


async def _asked(call: ChatCall[Any], transport: ChatTransport, model: ServedModel, settings: ModelSettings) -> Reply:
    """Return the reply to a call, or the error in place of it."""
    messages = first_messages(call, pixels=settings.pictures.pixels)
    request = request_of(call, messages, model=model.name, settings=settings)
    try:
        return await transport.complete(request, limit_tokens=model.context_tokens)
    except ERRORS as error:
        return error


def _call(prompt: str, form: type[BaseModel], tokens: int, *images: bytes) -> ChatCall[Any]:
    return ChatCall("doctor", "", "doctor", prompt, "", form, max_output_tokens=tokens, images=images)


def _picture() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (PICTURE_PIXELS, PICTURE_PIXELS), "green").save(stream, "PNG")
    return stream.getvalue()
