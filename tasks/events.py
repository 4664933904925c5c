"""What happens while a run is at work, as records that steps, models and flows emit and listeners take.

None of them but DraftGrown, which no log takes, holds a question's words, a document's text, a prompt or a reply: what is listened
to may leave the machine.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from storage.records.steps import StepRecord
from tasks.models.chat.call import ModelCall


@dataclass(frozen=True, slots=True)
class RunBegan:
    run: str
    flow: str
    corpus: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The outcome is `ended`, `stopped` or `ended by an error`, as in its lineage."""

    run: str
    flow: str
    corpus: str
    outcome: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DocumentBegan:
    """A document is being read; `name` is that of its file."""

    run: str
    document: str
    name: str


@dataclass(frozen=True, slots=True)
class DocumentEnded:
    """Its state, with the reason in `error` where it is not ready; `stopped` where reading was interrupted."""

    run: str
    document: str
    name: str
    state: str
    pages: int
    nodes: int
    seconds: float
    error: str


@dataclass(frozen=True, slots=True)
class StepEnded:
    run: str
    record: StepRecord


@dataclass(frozen=True, slots=True)
class CallEnded:
    run: str
    call: ModelCall


@dataclass(frozen=True, slots=True)
class QuestionBegan:
    run: str
    answer: str
    reader: str


@dataclass(frozen=True, slots=True)
class QuestionEnded:
    """A question was answered by a reader, with this status, was `stopped`, or `failed` with this kind of error."""

    run: str
    answer: str
    reader: str
    status: str
    seconds: float
    error: str


@dataclass(frozen=True, slots=True)
class QueueSeen:
    """How many questions are inside the query service, those that wait included."""

    inside: int


class RefusalReason(StrEnum):
    """Why: no room; another token, or none; a name of the web; what was asked; a stop; the service's troubles."""

    FULL = "full"
    TOKEN = "token"
    HOST = "host"
    REQUEST = "request"
    STOPPED = "stopped"
    CANNOT = "cannot"


@dataclass(frozen=True, slots=True)
class QuestionRefused:
    """The query service did not take a question, for this reason; of those without its token it tells once a minute how many."""

    reason: RefusalReason
    requests: int = 1


@dataclass(frozen=True, slots=True)
class StageReached:
    """A question came so far: `words` as "reading 5 of 11", with `done` and `of` where it goes in parts."""

    answer: str
    words: str
    done: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class DraftGrown:
    """A model writes an answer, and nobody has checked it: `text` is all of it so far, anew where the model is asked again."""

    answer: str
    text: str


Followed: TypeAlias = StageReached | DraftGrown
"""Only for the caller who waits for an answer, not for logs."""

OfARun: TypeAlias = RunBegan | RunEnded | DocumentBegan | DocumentEnded | StepEnded | CallEnded | QuestionBegan | QuestionEnded
Logged: TypeAlias = OfARun | QuestionRefused
"""What a log shows: how long a queue is at each moment is for the metrics."""

Event: TypeAlias = Logged | QueueSeen | Followed
Listener: TypeAlias = Callable[[Event], None]

_listeners: list[Listener] = []


@contextmanager
def subscribe(listener: Listener) -> Iterator[None]:
    """Call the listener with every event of this process while the block runs, from many threads."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def emit(event: Event) -> None:
    """Hand an event to all listeners; costs next to nothing where there are none."""
    for listener in tuple(_listeners):
        listener(event)
