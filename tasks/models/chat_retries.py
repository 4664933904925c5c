"""The one owner of retries: what may pass is sent again, after a while and with some chance in it, and not for ever."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from tasks.model_settings import ChatRetries
from tasks.models.chat_faults import FaultError, FaultKind

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
