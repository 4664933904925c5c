"""When the server is gone all calls wait together, one asks whether it is back, and after a while the run ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tasks.model_settings import ChatRetries
from tasks.models.chat_errors import ChatServerDownError
from tasks.models.chat_faults import FaultError

FIRST_PAUSE_SECONDS = 1.0


class Breaker:
    """Open while the server counts as down; belongs to one event loop."""

    def __init__(self, retries: ChatRetries, probe: Callable[[], Awaitable[None]]) -> None:
        """Begin closed; `probe` raises FaultError while nothing answers, ChatEndedError where nothing better can come."""
        self._retries, self._probe = retries, probe
        self._failures = 0
        self._recovery: asyncio.Task[None] | None = None

    @property
    def given_up(self) -> bool:
        """Whether the server stayed away for too long."""
        return self._recovery is not None and self._recovery.done()

    async def wait(self) -> None:
        """Return at once while the server is well, else when it is back; raise ChatServerDownError where it stays away."""
        if self._recovery is not None:
            await asyncio.shield(self._recovery)

    def succeeded(self) -> None:
        """The server replied."""
        self._failures = 0

    def failed(self, error: FaultError) -> None:
        """A request found nobody; so many in a row, and all calls wait."""
        self._failures += 1
        if self._failures >= self._retries.failures_until_pause and self._recovery is None:
            self._recovery = asyncio.create_task(self._recover(error))
            self._recovery.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def close(self) -> None:
        """Ask no more."""
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.wait([self._recovery])

    async def _recover(self, error: FaultError) -> None:
        """Ask until somebody answers."""
        clock = asyncio.get_running_loop().time
        end, pause = clock() + self._retries.down_seconds, FIRST_PAUSE_SECONDS
        while True:
            await asyncio.sleep(max(0.0, min(pause, end - clock())))
            try:
                await self._probe()
                self._failures, self._recovery = 0, None
                return
            except FaultError as still:
                error = still
            if clock() >= end:
                raise ChatServerDownError(
                    f"{error}, for {self._retries.down_seconds:g} s; what is done is kept: see that the server runs and "
                    "give the same command again"
                ) from error
            pause = min(2 * pause, self._retries.longest_wait_seconds)
