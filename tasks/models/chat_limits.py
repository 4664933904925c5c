"""No more requests and tokens in any minute than the server grants."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from tasks.model_settings import ChatLimits

MINUTE_SECONDS = 60.0


@dataclass(slots=True)
class Sent:
    """A request of the last minute; `tokens` is corrected once the server told how many there were."""

    at: float
    tokens: int


@dataclass(slots=True)
class Minute:
    """What was sent in the last minute; belongs to one event loop. Who waits is served in turn."""

    limits: ChatLimits
    _sent: deque[Sent] = field(default_factory=deque)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def admit(self, tokens: int) -> Sent:
        """Return when one more request of so many tokens fits; one that is larger than the limit goes when it is alone."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (wait := self._wait_seconds(clock(), tokens)) > 0:
                await asyncio.sleep(wait)
            sent = Sent(clock(), tokens)
            if self._limited():
                self._sent.append(sent)
        return sent

    def _limited(self) -> bool:
        return self.limits.requests_per_minute is not None or self.limits.tokens_per_minute is not None

    def _wait_seconds(self, now: float, tokens: int) -> float:
        while self._sent and self._sent[0].at <= now - MINUTE_SECONDS:
            self._sent.popleft()
        requests, allowed = self.limits.requests_per_minute, self.limits.tokens_per_minute
        full = requests is not None and len(self._sent) >= requests
        heavy = allowed is not None and sum(sent.tokens for sent in self._sent) + tokens > allowed
        return self._sent[0].at + MINUTE_SECONDS - now if self._sent and (full or heavy) else 0.0
