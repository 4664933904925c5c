"""The chat model behind an OpenAI-compatible server: the one way by which anything here asks one.

A call is looked up in the cache, asked, checked, asked once more with the error named, and then fails by name.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import wait
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from pydantic import BaseModel

from storage.errors import parts_of
from storage.runs.replies import CachedReply, CallCache, KeptReplies
from tasks.models.abilities import PROBE_SECONDS, forget_abilities
from tasks.models.chat.budget import Budget, price
from tasks.models.chat.call import ChatCall, ModelCall, Tally
from tasks.models.chat.errors import (
    ChatEndedError,
    ChatError,
    NoMoreRepliesError,
    Outcome,
    PicturesRejectedError,
)
from tasks.models.chat.reply import DeclinedReplyError, UnusableReplyError, parse_reply, value_of
from tasks.models.chat.request import Message, PictureError, Request, call_key, first_messages, request_of, second_messages
from tasks.models.chat.service import STOP_POLL_SECONDS, ChatService, borrow, give_back, in_time, on_the_loop
from tasks.models.chat.stream import Completion, Draft
from tasks.models.endpoints import Endpoint
from tasks.models.faults import without_key
from tasks.progress import StoppedError, stop_requested
from tasks.settings.models import ModelSettings

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")
P = ParamSpec("P")

PROBED_PART = 4
"""A quarter of the time that is left, at most, goes into finding out what the model can do."""


def open_chat(
    endpoint: Endpoint,
    settings: ModelSettings,
    *,
    cache: CallCache,
    listener: Callable[[ModelCall], None] = lambda _call: None,
    drafts: Callable[[str], None] = lambda _text: None,
    until: float | None = None,
    probe_seconds: float = PROBE_SECONDS,
    budget: Budget | None = None,
) -> ChatModel:
    """Return the model of a run; close it, or use it in a `with` block. It spends of this `budget`, or of one of its own.

    The listener gets each call as it ends, `drafts` the words of a call's draft as they come, all of them each time; both from any
    thread, in the context that the call was asked from. A model that was never met is asked for `probe_seconds` at most what it can
    do, which is no call of the run. Raises ChatEndedError where the server is of no use to us,
    within 5 s where nothing answers, and by `until` (time.monotonic()) whatever it does.
    """
    if until is not None:
        probe_seconds = min(probe_seconds, (until - time.monotonic()) / PROBED_PART)
    try:
        service = on_the_loop(borrow(endpoint, settings, until, probe_seconds)).result()
    except NoMoreRepliesError as error:
        what, remedy = parts_of(error)
        raise ChatEndedError(f"no chat server: {endpoint.base_url} did not list its models: {what}", remedy=remedy) from error
    return ChatModel(service, endpoint, settings, cache, listener, drafts, budget or Budget(settings.budget, settings.prices))


class ChatModel:
    """A chat model for one run; any thread may ask."""

    def __init__(
        self,
        service: ChatService,
        endpoint: Endpoint,
        settings: ModelSettings,
        cache: CallCache,
        listener: Callable[[ModelCall], None],
        drafts: Callable[[str], None],
        budget: Budget,
    ) -> None:
        """Use `open_chat`."""
        self.name = service.model.name
        self.abilities = service.abilities
        self.budget = budget
        self._service, self._endpoint, self._settings, self._cache, self._listener = service, endpoint, settings, cache, listener
        self._drafts = drafts
        self._kept = KeptReplies(cache)
        self._end: Exception | None = None
        self._in_flight: set[asyncio.Timeout] = set()
        self._unseen: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def ended(self) -> bool:
        """Whether it is asked no more: its budget is spent, its server is gone, or it was closed."""
        return self._end is not None

    def close(self) -> None:
        """Let the server go; calls in flight are cut, those that wait are not sent, and both end with ChatEndedError."""
        on_the_loop(self._close()).result()

    def ask_all(self, calls: Sequence[ChatCall[T]], *, until: float | None = None, goes_on: bool = False) -> list[T | ChatError]:
        """Ask all together and return the values in the order of the calls, an error in the place of each that got none.

        Blocks this thread; calls that are in flight at the moment `until` of time.monotonic() are cut. Raises ChatEndedError where
        the run cannot go on, StoppedError where the user ended it: both after the calls in flight have come back; their replies are
        in the cache then. Where the caller `goes_on` without the model, the end of the run stands in the place of each call, too.
        """
        keys = [call_key(call, model=self.name, settings=self._settings) for call in calls]
        wanted: defaultdict[str, list[str]] = defaultdict(list)
        for call, key in zip(calls, keys, strict=True):
            wanted[call.subject].append(key)
        kept = {subject: self._kept.find(subject, of_subject) for subject, of_subject in wanted.items()}
        cached = [self._recall(call, key, kept[call.subject]) for call, key in zip(calls, keys, strict=True)]
        missing = [place for place, value in enumerate(cached) if value is None]
        asked = iter(self._ask_together([(calls[place], keys[place]) for place in missing], until, goes_on))
        return [value if value is not None else next(asked) for value in cached]

    def saw(self, call: ChatCall[Any]) -> bool:
        """Say whether the pictures of a call that was asked were shown."""
        return bool(call.images) and call_key(call, model=self.name, settings=self._settings) not in self._unseen

    def _ask_together(self, calls: Sequence[tuple[ChatCall[T], str]], until: float | None, goes_on: bool) -> list[T | ChatError]:
        """Ask those that are not in the cache; wait, and look whether the user ends it."""
        work = on_the_loop(self._ask_side_by_side(calls, until, goes_on))
        while not wait([work], timeout=STOP_POLL_SECONDS).done:
            if stop_requested():
                self._end = self._end or StoppedError()
                if not wait([work], timeout=self._settings.deadlines.stop_seconds).done:
                    work.cancel()
                    raise StoppedError
        return work.result()

    async def _ask_side_by_side(
        self, calls: Sequence[tuple[ChatCall[T], str]], until: float | None, goes_on: bool
    ) -> list[T | ChatError]:
        """Ask by as many workers as there may be calls in flight: a run with many calls does not fill the queue for all others."""
        replies: dict[int, T | ChatError] = {}
        waiting = enumerate(calls)

        async def work() -> None:
            for place, (call, key) in waiting:
                try:
                    replies[place] = await self._ask(call, key, until)
                except ChatError as error:
                    replies[place] = error
                except ChatEndedError as error:
                    if not goes_on:
                        raise
                    replies[place] = NoMoreRepliesError(str(error)).about(call.item)

        workers = min(len(calls), self._settings.limits.in_flight)
        ended = [error for error in await asyncio.gather(*(work() for _ in range(workers)), return_exceptions=True) if error]
        if ended:
            raise ended[0]
        return [replies[place] for place in range(len(calls))]

    def _recall(self, call: ChatCall[T], key: str, kept: Mapping[str, CachedReply]) -> T | None:
        """Return the value of the reply that was kept; None where there is none, or where it does not pass the checks of today."""
        if key not in kept:
            return None
        try:
            value = parse_reply(kept[key].text, call.form)
        except UnusableReplyError:
            return None
        if call.check(value):
            return None
        self._note(call, key, Tally(), 0.0, Outcome.CACHED, "")
        return value

    async def _ask(self, call: ChatCall[T], key: str, until: float | None) -> T:
        """Get one reply and keep it; whatever happens, call the listener."""
        tally, outcome, problem, began = Tally(), Outcome.ENDED, "the run ended first", time.monotonic()
        try:
            async with in_time(until), self._service.places:
                began = time.monotonic()
                self._require_going()
                try:
                    value, completion = await self._value(call, tally)
                except PicturesRejectedError:
                    if call.without_pictures is None:
                        raise
                    self._unseen.add(key)
                    forget_abilities(self._endpoint, self._service.model)
                    call = call.without_pictures
                    key = call_key(call, model=self.name, settings=self._settings)
                    value, completion = await self._value(call, tally)
                kept = CachedReply(completion.text, self.name, tally.input_tokens, tally.output_tokens, call.prompt_hash)
                self._cache.keep(call.subject, key, kept)  # here, not in a thread: the hand-over takes longer than the line
            outcome, problem = Outcome.OK, ""
            return value
        except ChatError as error:
            outcome, problem = error.outcome, str(error.about(call.item))
            raise
        except Exception as error:  # a server that is down, a budget, a full disk: what costs money must not go on
            self._end, problem = self._end or error, str(error)
            raise
        finally:
            if tally.attempts or outcome != Outcome.ENDED:
                self._note(call, key, tally, time.monotonic() - began, outcome, problem)

    async def _close(self) -> None:
        self._end = self._end or ChatEndedError(
            "the model was closed while calls waited for it", remedy="give the same command again"
        )
        for deadline in self._in_flight:
            deadline.reschedule(0.0)
        self._in_flight.clear()
        await give_back(self._service)

    def _require_going(self) -> None:
        if self._end is not None:
            raise self._end

    async def _value(self, call: ChatCall[T], tally: Tally) -> tuple[T, Completion]:
        """Return the value and the words it was read from; raise ChatError where both replies are of no use."""
        messages = await self._first_messages(call)
        completion = await self._exchange(call, messages, tally)
        try:
            return value_of(completion, call), completion
        except DeclinedReplyError as error:
            raise ChatError(f"the model declined: {error}", Outcome.REFUSED) from error
        except UnusableReplyError as error:
            first = str(error)
        completion = await self._exchange(call, second_messages(messages, completion.text, first), tally)
        try:
            return value_of(completion, call), completion
        except (DeclinedReplyError, UnusableReplyError) as error:
            raise ChatError(f"neither reply can be used; the first: {first}; the second: {error}", Outcome.INVALID) from error

    async def _first_messages(self, call: ChatCall[Any]) -> list[Message]:
        try:
            return await _aside_for_pictures(call, first_messages, call, pixels=self._settings.pictures.pixels)
        except PictureError as error:
            raise ChatError(f"{error}; read its document in again", Outcome.REJECTED) from error

    async def _exchange(self, call: ChatCall[Any], messages: list[Message], tally: Tally) -> Completion:
        context_tokens = self._service.model.context_tokens
        request = await _aside_for_pictures(
            call, request_of, call, messages, model=self.name, settings=self._settings, context_tokens=context_tokens
        )
        if call.draft:
            request = replace(request, draft=Draft(call.draft, self._drafts))
        try:
            async with asyncio.timeout(None) as deadline:
                self._in_flight.add(deadline)
                try:
                    return await self._service.complete(request, tally, self._spending)
                finally:
                    self._in_flight.discard(deadline)
        except TimeoutError:
            self._require_going()  # closed: it has no other deadline
            raise

    @asynccontextmanager
    async def _spending(self, request: Request, tally: Tally, calls: int) -> AsyncIterator[None]:
        """Wait for room in the budget; send nothing more once the run ended."""
        async with self.budget.spending(request, tally, calls):
            self._require_going()
            yield

    def _note(self, call: ChatCall[Any], key: str, tally: Tally, seconds: float, outcome: Outcome, error: str) -> None:
        ended = ModelCall(
            purpose=call.purpose,
            subject=call.subject,
            item=call.item,
            model=self.name,
            prompt_hash=call.prompt_hash,
            key=key,
            input_tokens=tally.input_tokens,
            output_tokens=tally.output_tokens,
            cost=price(tally.input_tokens, tally.output_tokens, self._settings.prices),
            seconds=round(seconds, 4),
            attempts=tally.attempts,
            outcome=outcome,
            error=without_key(error, self._endpoint),
        )
        self._listener(ended)


async def _aside_for_pictures(call: ChatCall[Any], work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Do the work in a thread where the call has pictures, which takes milliseconds; text alone is done sooner than handed over."""
    return await asyncio.to_thread(work, *args, **kwargs) if call.images else work(*args, **kwargs)
