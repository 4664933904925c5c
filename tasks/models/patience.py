"""When to ask a server again, when to wait for it and when to give up."""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tasks.models.chat.errors import ChatEndedError
from tasks.models.faults import FaultError, FaultKind
from tasks.settings.models import ChatLimits, ChatRetries

FIRST_PAUSE_SECONDS = 1.0


class Breaker:
    """Keeps requests from a server that counts as down; belongs to one event loop."""

    def __init__(self, retries: ChatRetries, probe: Callable[[], Awaitable[None]]) -> None:
        """Begin closed; `probe` raises FaultError while nothing answers, ChatEndedError where nothing better can come."""
        self._retries, self._probe = retries, probe
        self._failures, self._down_since = 0, 0.0
        self._asking = asyncio.Lock()
        self._end: ChatEndedError | None = None

    @property
    def given_up(self) -> bool:
        """Whether the server stayed away for too long."""
        return self._end is not None

    def note_success(self) -> None:
        self._failures = 0

    def note_failure(self) -> None:
        """Count a request that found no server; after several in a row all calls wait."""
        self._failures += 1
        if self._failures == self._retries.failures_until_pause:
            self._down_since = asyncio.get_running_loop().time()

    async def wait(self) -> None:
        """Return at once while the server is well, else when it is back; raise ChatEndedError where it stays away."""
        async with self._asking:  # one asks for all
            if self._end:
                raise self._end
            if self._failures >= self._retries.failures_until_pause:
                try:
                    await self._recover()
                except ChatEndedError as error:
                    self._end = error
                    raise

    async def _recover(self) -> None:
        """Ask until the server answers; the caller may be cut off, and the next one goes on with the time that is left."""
        clock = asyncio.get_running_loop().time
        end, pause = self._down_since + self._retries.down_seconds, FIRST_PAUSE_SECONDS
        while True:
            await asyncio.sleep(max(0.0, min(pause, end - clock())))
            try:
                await self._probe()
                self._failures = 0
                return
            except FaultError as error:
                if clock() >= end:
                    raise ChatEndedError(
                        f"{error}, for {self._retries.down_seconds:g} s",
                        remedy="what is done is kept: see that the server runs and give the same command again",
                    ) from error
            pause = min(2 * pause, self._retries.longest_wait_seconds)


DOUBLINGS = 20
"""By then any wait is longer than the longest."""


@dataclass(slots=True)
class Patience:
    """How much patience is left with one request."""

    retries: ChatRetries
    rounds: int = 0
    failures: int = 0
    silences: int = 0
    busy_seconds: float = 0.0

    async def after(self, fault: FaultError) -> bool:
        """Wait as long as is right after this fault; False, at once, where it is not worth it any more."""
        if not self._is_left_after(fault):
            return False
        wait = self._wait_seconds(fault)
        if fault.kind == FaultKind.BUSY:
            self.busy_seconds += wait
        await asyncio.sleep(wait)
        return True

    def _is_left_after(self, fault: FaultError) -> bool:
        if fault.kind == FaultKind.BUSY:
            return self.busy_seconds < self.retries.busy_seconds
        self.failures += 1
        self.silences += fault.kind == FaultKind.SILENT
        return self.failures < self.retries.attempts and self.silences < self.retries.silent_attempts

    def _wait_seconds(self, fault: FaultError) -> float:
        """Return what Retry-After asks for and a little more, else a random part of a bound that doubles: no two come at once."""
        longest = min(self.retries.longest_wait_seconds, self.retries.first_wait_seconds * 2 ** min(self.rounds, DOUBLINGS))
        self.rounds += 1
        if fault.wait_seconds is not None:
            return min(fault.wait_seconds, self.retries.retry_after_seconds) + random.uniform(0, self.retries.first_wait_seconds)
        return random.uniform(longest / 10, longest)


MINUTE_SECONDS = 60.0


@dataclass(slots=True)
class Sent:
    """A request of the last minute; `tokens` is corrected once the server has counted them."""

    at: float
    tokens: int


@dataclass(slots=True)
class Minute:
    """What was sent in the last minute; belongs to one event loop. Requests wait in turn."""

    limits: ChatLimits
    _sent: deque[Sent] = field(default_factory=deque)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def admit(self, tokens: int) -> Sent:
        """Return when one more request of `tokens` fits; one that is larger than the limit goes when it is alone."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (wait := self._wait_seconds(clock(), tokens)) > 0:
                await asyncio.sleep(wait)
            sent = Sent(clock(), tokens)
            if self._has_limits():
                self._sent.append(sent)
        return sent

    def _has_limits(self) -> bool:
        return self.limits.requests_per_minute is not None or self.limits.tokens_per_minute is not None

    def _wait_seconds(self, now: float, tokens: int) -> float:
        while self._sent and self._sent[0].at <= now - MINUTE_SECONDS:
            self._sent.popleft()
        requests, allowed = self.limits.requests_per_minute, self.limits.tokens_per_minute
        full = requests is not None and len(self._sent) >= requests
        heavy = allowed is not None and sum(sent.tokens for sent in self._sent) + tokens > allowed
        return self._sent[0].at + MINUTE_SECONDS - now if self._sent and (full or heavy) else 0.0
