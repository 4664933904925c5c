"""What a chat server's replies to the doctor's questions say of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tasks.models.chat_call import ChatCall
from tasks.models.chat_errors import RejectedCallError
from tasks.models.chat_replies import DeclinedReplyError, UnusableReplyError, value_of
from tasks.models.chat_stream import Completion
from tasks.models.checkup import ServerCheck, problem
from tasks.models.served_models import ServedModel, same_model

LEAST_CONTEXT_TOKENS = 16_384
"""What the largest call of the default settings takes, read and written: an answer from 40,000 characters of evidence."""

START = "start the server as deployments/vllm/README.md says"
STRUCTURED = f"{START}, with structured outputs"
UNSPACED = f'{START}, with --structured-outputs-config \'{{"backend": "xgrammar", "disable_any_whitespace": true}}\''
SEEING = "serve a model that sees, such as Qwen3-VL, with --limit-mm-per-prompt '{\"image\": 16}' or more"
LONGER = f"give the server --max-model-len {LEAST_CONTEXT_TOKENS} or more, or keep to shorter texts in the settings"
COUNTED = "use a server that counts tokens in its replies (stream_options.include_usage); budgets and costs would be guesses"
WAIT = "wait until it has loaded its model or has less to do; its log says more"

Reply = Completion | Exception
"""What came back, or the error in place of it."""


def model_check(model: ServedModel, reply: Reply) -> ServerCheck:
    """Say which model it is, and whether it is the one that replied."""
    if isinstance(reply, Completion) and not same_model(model.name, reply.model):
        remedy = "mend the server, or set FLOWREADER_CHAT_MODEL to the model that answers"
        return ServerCheck("model", f"{model.name} was asked, and it answered as {reply.model[:80]!r}", remedy)
    return ServerCheck("model", model.name)


def context_check(model: ServedModel) -> ServerCheck:
    """Say how much the model reads, and whether that is enough."""
    if not model.context_tokens:
        return ServerCheck("context", "the server does not say how much its model reads")
    short = model.context_tokens < LEAST_CONTEXT_TOKENS
    found = f"{model.context_tokens:,} tokens" + (f", where a call may need {LEAST_CONTEXT_TOKENS:,}" if short else "")
    return ServerCheck("context", found, LONGER if short else "")


def talk_checks(call: ChatCall[Any], reply: Reply) -> Iterator[ServerCheck]:
    """Look at the reply that had to fill in a form: is it one, how did it end, what did it take?"""
    if not isinstance(reply, Completion):
        yield _unanswered("structured output", reply, STRUCTURED)
        return
    try:
        value_of(reply, call)
        yield ServerCheck("structured output", "a reply has the form that was asked for")
    except (DeclinedReplyError, UnusableReplyError) as error:
        yield ServerCheck("structured output", f"a reply has not the form that was asked for: {error}", STRUCTURED)
    if reply.problem:  # then its end was not waited for
        return
    ended = reply.finish_reason == "stop"
    yield ServerCheck("finish reason", reply.finish_reason or "none was told", "" if ended else STRUCTURED)
    if reply.input_tokens is None or reply.output_tokens is None:
        yield ServerCheck("usage", "the tokens of a reply are not told", COUNTED)
    else:
        yield ServerCheck("usage", f"{reply.input_tokens} tokens read, {reply.output_tokens} written")


def space_check(reply: Reply) -> ServerCheck:
    """Look at the reply that was invited to begin with empty lines, and had little room."""
    if not isinstance(reply, Completion):
        return _unanswered("white space", reply, UNSPACED)
    found = f"{sum(sign.isspace() for sign in reply.text)} of {len(reply.text)} characters of a reply"
    if reply.finish_reason == "stop" and not reply.problem:
        return ServerCheck("white space", f"{found}, which ends by itself")
    return ServerCheck("white space", f"{found}, which runs on without end", UNSPACED)


def picture_check(call: ChatCall[Any], reply: Reply) -> ServerCheck:
    """Look at what was said of a green picture."""
    if not isinstance(reply, Completion):
        return _unanswered("picture", reply, SEEING)
    try:
        colour = value_of(reply, call).colour
    except (DeclinedReplyError, UnusableReplyError) as error:
        return ServerCheck("picture", f"it is taken, but what is said of it cannot be used: {error}", STRUCTURED)
    if colour != "green":
        return ServerCheck("picture", f"it is taken, but a green one is said to be {colour}", SEEING)
    return ServerCheck("picture", "it is taken, and a green one is seen to be green")


def _unanswered(check: str, error: Exception, remedy: str) -> ServerCheck:
    """Return what is wrong where no reply came: a request that is refused is mended at the server, another may need time."""
    if isinstance(error, RejectedCallError):
        return ServerCheck(check, str(error).partition("; ")[0], remedy)
    return problem(check, error, WAIT)
