"""What can go wrong with a chat model: one item gets no reply, or the run cannot go on."""

from enum import StrEnum
from typing import Self

from storage.errors import ExpectedError


class Outcome(StrEnum):
    OK = "ok"
    CACHED = "cached"
    INVALID = "invalid"
    """The reply, and the one after the error was named, did not fit."""
    REFUSED = "refused"
    """The model declined to answer."""
    TOO_LONG = "too long"
    REJECTED = "rejected"
    """The server takes no such request."""
    FAILED = "failed"
    """No reply came, however often it was asked for."""
    ENDED = "ended"
    """The run ended, or was stopped, while it waited."""


class ChatError(RuntimeError):
    """One item got no usable reply; the others go on. The message names the item, what is wrong and the remedy."""

    def __init__(self, message: str, outcome: Outcome = Outcome.FAILED) -> None:
        super().__init__(message)
        self.outcome = outcome

    def about(self, item: str) -> Self:
        """Name the item before all else."""
        self.args = (f"{item}: {self}",)
        return self


class ContextTooLongError(ChatError):
    """The prompt and the room for its reply do not fit the model; ask with less."""


class PicturesRejectedError(ChatError):
    """The server refuses this request, which has pictures; it may take the same without."""


class NoMoreRepliesError(ChatError):
    """Neither this item nor another gets a reply: the time of the question is up, or the run ended and the caller goes on."""


class ChatEndedError(ExpectedError):
    """No further call can succeed: the run ends, what is done is kept, and the same command goes on from there."""
