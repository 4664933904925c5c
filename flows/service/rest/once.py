"""Requests that are sent again: the same key with the same body gives the reply of the first. Remembered by this process alone."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flows.display.output import CommandError

MOST_KEYS = 1000
KEPT_SECONDS = 3600.0


class SameKeyError(CommandError):
    """The key was brought with another request before."""


class _Reply(NamedTuple):
    began: float
    asked: str
    given: "asyncio.Future[Any]"


@dataclass
class Once:
    replies: dict[str, _Reply] = field(default_factory=dict)

    async def do(self, key: str | None, asked: bytes, work: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - what the work gives
        """Return what the work gives, or gave when the same was asked with the key before; raise what it raises.

        Raise SameKeyError where something else was asked. Work that failed may be tried again.
        """
        if key is None:
            return await work()
        digest, oldest = hashlib.sha256(asked).hexdigest(), time.monotonic() - KEPT_SECONDS
        for old in [old for old, reply in self.replies.items() if reply.began < oldest]:
            del self.replies[old]
        if key in self.replies and self.replies[key].asked != digest:
            raise SameKeyError("this Idempotency-Key came with another request before", key, "take a new key for a new request")
        if key not in self.replies:
            if len(self.replies) >= MOST_KEYS:
                del self.replies[next(iter(self.replies))]
            given = asyncio.ensure_future(work())
            self.replies[key] = _Reply(time.monotonic(), digest, given)
            given.add_done_callback(lambda done: self._forget_failed(key, done))
        # Who waits may go: the work goes on.
        return await asyncio.shield(self.replies[key].given)

    def forget(self, key: str | None) -> None:
        self.replies.pop(key or "", None)

    def _forget_failed(self, key: str, done: "asyncio.Future[Any]") -> None:
        if (done.cancelled() or done.exception()) and key in self.replies and self.replies[key].given is done:
            del self.replies[key]
