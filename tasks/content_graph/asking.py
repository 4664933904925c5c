"""Asking a model about many things, several in a call: what a call loses is asked again in halves, until one thing stands alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from pydantic import BaseModel

from tasks.models.chat.call import ChatCall, nothing_wrong
from tasks.models.chat.errors import ChatError
from tasks.models.chat.forms import largest_reply
from tasks.prompts.prompt import Piece, fence, load_prompt

if TYPE_CHECKING:
    from tasks.models.chat.model import ChatModel

T = TypeVar("T", bound=BaseModel)

CALLS_AT_ONCE = 4096
"""Calls whose text is held in memory, some 50 MB; where one wave of calls ends and the next begins a tenth of the time was lost."""
PICTURE_CALLS_AT_ONCE = 256
"""Calls that are held with their pictures, some 1,000 of these."""


@dataclass(frozen=True, slots=True)
class Replies(Generic[T]):
    """The replies with what each is about, the error of each thing without one, and the things whose picture was not shown."""

    values: list[tuple[Sequence[int], T]]
    errors: dict[int, ChatError]
    unseen: set[int]


def uses_short_forms(forms: Literal["auto", "full", "small"], chat: ChatModel) -> bool:
    """Say whether the model is asked in short forms; where no setting does, its context decides.

    How fast it is does not: a graph that is published must not depend on how busy a machine was.
    """
    return chat.abilities.short if forms == "auto" else forms == "small"


def fenced_call(
    document_id: str,
    item: str,
    purpose: str,
    prompt_name: str,
    form: type[T],
    pieces: Sequence[Piece],
    *,
    check: Callable[[T], str] = nothing_wrong,
    plain: bool = False,
    slots: Mapping[str, str],
) -> ChatCall[T]:
    """Return the call that shows pieces of a document inside a fence, by this prompt with its slots filled."""
    prompt, material = load_prompt(prompt_name), fence(pieces, plain=plain)
    return ChatCall(
        purpose=purpose,
        subject=document_id,
        item=item,
        prompt=prompt.fill(mark=material.mark, material=material.text, **slots),
        prompt_hash=prompt.hash,
        form=form,
        max_output_tokens=largest_reply(form),
        check=check,
    )


def ask_in_groups(
    chat: ChatModel,
    groups: Sequence[Sequence[int]],
    call_about: Callable[[Sequence[int]], ChatCall[T]],
    on_things: Callable[[int], None],
    *,
    at_once: int = CALLS_AT_ONCE,
) -> Replies[T]:
    """Ask about each group of things, named by their places; `on_things` is called with how many more are done.

    Raises ChatEndedError where the run cannot go on, StoppedError where the user ended it.
    """
    replies: Replies[T] = Replies([], {}, set())
    waiting = list(groups)
    while waiting:
        asked, waiting = waiting[:at_once], waiting[at_once:]
        calls = [call_about(group) for group in asked]
        for group, call, reply in zip(asked, calls, chat.ask_all(calls), strict=True):
            if not isinstance(reply, ChatError):
                replies.values.append((group, reply))
                replies.unseen.update(() if chat.saw(call) else group)
                on_things(len(group))
            elif len(group) > 1:
                waiting += [group[: len(group) // 2], group[len(group) // 2 :]]
            else:
                replies.errors[group[0]] = reply
                on_things(1)
    return replies
