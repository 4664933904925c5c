"""From the words of a reply to a value of its form, or to what is wrong with them, in words for the model."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from storage.text import one_line
from tasks.models.chat.call import ChatCall
from tasks.models.chat.stream import Completion

T = TypeVar("T", bound=BaseModel)

COMPLAINTS = 3
"""Errors of a form that are named; the rest are mostly of the same kind."""
SHOWN_CHARACTERS = 200


class UnusableReplyError(ValueError):
    """The words are not what was asked for; the message may be sent to the model."""


class DeclinedReplyError(ValueError):
    """The model, or a filter behind it, will not answer."""


def value_of(completion: Completion, call: ChatCall[T]) -> T:
    """Return the value of the reply; raise UnusableReplyError, or DeclinedReplyError where asking again is of no use."""
    if completion.refusal or completion.finish_reason == "content_filter":
        raise DeclinedReplyError(_short(completion.refusal) or "its filter held the reply back")
    if completion.problem:
        raise UnusableReplyError(completion.problem)
    if completion.finish_reason == "length":
        raise UnusableReplyError(f"it was cut after {call.max_output_tokens} tokens; it must be shorter")
    if completion.finish_reason != "stop":
        raise UnusableReplyError(f"it ended by {_short(completion.finish_reason)!r}, not by itself")
    value = parse_reply(completion.text, call.form)
    if wrong := call.check(value):
        raise UnusableReplyError(_short(wrong))
    return value


def parse_reply(text: str, form: type[T]) -> T:
    """Return the JSON text as a value of the form; raise UnusableReplyError for anything but exactly that."""
    try:
        return form.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise UnusableReplyError("; ".join(_complaints(error))) from error


def _complaints(error: ValidationError) -> list[str]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    complaints = []
    for wrong in found[:COMPLAINTS]:
        # The name of an extra field is the model's own: a document's words must not come back from us, outside their fence.
        place = wrong["loc"][:-1] if wrong["type"] == "extra_forbidden" else wrong["loc"]
        complaints.append(f"{_short('.'.join(map(str, place))) or 'the reply'}: {_short(wrong['msg'])}")
    return complaints if len(found) <= COMPLAINTS else [*complaints, f"and {len(found) - COMPLAINTS} more errors"]


def _short(text: str) -> str:
    """Return the text as one line that can be shown and sent: nothing unprintable, not too long."""
    return one_line(text)[:SHOWN_CHARACTERS]
