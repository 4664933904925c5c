"""The progress of a question, for the client that waits for its answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack

from flows.ask_deployed import Answers, AwaitedRequest, current_request
from tasks.events import DraftGrown, Event, Followed, StageReached, subscribe

FIRST_SECONDS = 0.4
"""After this a question that waits for others says so."""

QUIET_SECONDS = 15.0
"""Proxies cut connections that are quiet for longer."""


class LatestEvents:
    """The newest stage and draft of a question: a slow client misses earlier ones, and holds nobody up."""

    def __init__(self, asked: AwaitedRequest) -> None:
        self.asked, self._loop = asked, asyncio.get_running_loop()
        self._newest: dict[type[Followed], Followed] = {}
        self._some = asyncio.Event()
        self._hearing = ExitStack()
        self._hearing.enter_context(subscribe(self._hear))
        asked.answers.add_done_callback(self._end)

    def _hear(self, event: Event) -> None:
        # Each question has its own context, and its threads inherit it.
        if isinstance(event, StageReached | DraftGrown) and current_request.get(None) is self.asked:
            self._loop.call_soon_threadsafe(self._take, event)

    def _take(self, event: Followed) -> None:
        self._newest[type(event)] = event
        self._some.set()

    def _end(self, _done: asyncio.Future[Answers]) -> None:
        self._hearing.close()
        self._some.set()

    async def follow(self) -> AsyncIterator[Followed]:
        """Yield stages and drafts until the question ends; repeat the last stage when nothing happens."""
        stage, patience = StageReached("", "waiting"), FIRST_SECONDS
        with self.asked.count_waiter():
            while not self.asked.answers.done():
                try:
                    await asyncio.wait_for(self._some.wait(), patience)
                except TimeoutError:
                    yield stage
                patience = QUIET_SECONDS
                self._some.clear()
                newest, self._newest = self._newest, {}
                for event in newest.values():
                    stage = event if isinstance(event, StageReached) else stage
                    yield event
