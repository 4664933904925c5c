"""A question to a chat model, and the record of its call."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from tasks.models.chat.errors import Outcome

T = TypeVar("T", bound=BaseModel)


def nothing_wrong(_value: Any) -> str:  # noqa: ANN401 - any form
    return ""


@dataclass(frozen=True, slots=True)
class ChatCall(Generic[T]):
    """One question to the model.

    Args:
        purpose: What the call is for, one word or two; calls are counted by it.
        subject: The document or question, a SHA-256, that owns the reply in the cache and takes it along when it is forgotten.
        item: How an error names what was asked about, such as "nodes 3 to 8 of report.pdf".
        prompt: The whole text, its slots filled and the documents' text fenced.
        prompt_hash: The hash of the prompt's file.
        form: What the reply must be. Its JSON schema is sent; let it forbid extra fields and give no defaults.
        max_output_tokens: Room for the reply; what needs more is cut and does not fit.
        images: Encoded pictures, shown behind the text as "Picture 1", "Picture 2" and so on.
        check: Says what is wrong with a reply that fits the form, such as ids that were not shown; "" where nothing is.
            The model gets it with its one second chance. Pure: a cached reply is checked again.
        temperature: None is that of the settings.
        draft: The field of the form, a string, that is handed on while the reply is being written; "" for none. A form that
            is a string alone has no field: any name will do.
        system: The words of the system's message, of the same file as the prompt; "" for none.
        without_pictures: What is asked in its place where the server takes no such pictures; `ChatModel.saw` says which it was.
    """

    purpose: str
    subject: str
    item: str
    prompt: str
    prompt_hash: str
    form: type[T]
    max_output_tokens: int
    images: tuple[bytes, ...] = ()
    check: Callable[[T], str] = nothing_wrong
    temperature: float | None = None
    draft: str = ""
    system: str = ""
    without_pictures: "ChatCall[T] | None" = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The lineage of one call; `key` names it in the cache, `error` says why there is no reply."""

    purpose: str
    subject: str
    item: str
    model: str
    prompt_hash: str
    key: str
    input_tokens: int
    output_tokens: int
    cost: float
    seconds: float
    attempts: int
    outcome: Outcome
    error: str


@dataclass(slots=True)
class Tally:
    """What a call has taken so far, failed requests and the second question included."""

    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
