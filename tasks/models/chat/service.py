"""One server, as the whole process uses it: its connections, limits and breaker are shared by all runs."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias, TypeVar

from storage.errors import parts_of
from tasks.models.abilities import PROBE_SECONDS, Abilities, find_abilities
from tasks.models.chat.call import Tally
from tasks.models.chat.errors import (
    ChatEndedError,
    ChatError,
    ContextTooLongError,
    NoMoreRepliesError,
    PicturesRejectedError,
)
from tasks.models.chat.request import Request, text_tokens
from tasks.models.chat.stream import Completion
from tasks.models.client import ServerClient
from tasks.models.endpoints import Endpoint, ServedModel, choose_model, same_model
from tasks.models.faults import FaultError, FaultKind, without_key
from tasks.models.patience import Breaker, Minute, Patience
from tasks.progress import StoppedError, stop_requested
from tasks.settings.models import ChatBudget, ChatPrices, ModelSettings

R = TypeVar("R")

_starting = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def on_the_loop(work: Coroutine[Any, Any, R]) -> Future[R]:
    """Start the work on the loop, which is started with the first; the result may be waited for in any other thread."""
    with _starting:
        if not _loops:
            _loops.append(asyncio.new_event_loop())
            threading.Thread(target=_loops[0].run_forever, name="chat", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, _loops[0])


STOP_POLL_SECONDS = 0.2
"""How often a thread that waits for a server looks whether the user ends it."""


def result_unless_stopped(work: Future[R]) -> R:
    """Return the result of work on the loop, which is cancelled where the user ends the run: then raise StoppedError."""
    try:
        while not wait([work], timeout=STOP_POLL_SECONDS).done:
            if stop_requested():
                raise StoppedError
    finally:
        work.cancel()
    return work.result()


@asynccontextmanager
async def in_time(until: float | None) -> AsyncIterator[None]:
    """Cut the block off at this moment of time.monotonic() and raise NoMoreRepliesError, at once where it is past; None: never."""
    left = None if until is None else until - time.monotonic()
    late = NoMoreRepliesError("no reply came in the time that the question has; ask.seconds gives it more")
    if left is not None and left <= 0:
        raise late
    try:
        async with asyncio.timeout(left) as deadline:
            yield
    except TimeoutError:
        if not deadline.expired():
            raise
        raise late from None


Spending: TypeAlias = Callable[[Request, Tally, int], AbstractAsyncContextManager[None]]
"""What a request is sent inside: it may have it wait, or raise what ends the run; the number is of the calls that begin."""


class ChatService:
    """Gets one completion for each call, of many at a time; belongs to one event loop."""

    def __init__(self, endpoint: Endpoint, settings: ModelSettings) -> None:
        self._endpoint, self._settings = endpoint, settings
        self._client = ServerClient(endpoint, settings)
        self._breaker = Breaker(settings.retries, self._look_again)
        self._minute = Minute(settings.limits)
        self._lost_in_a_row = 0
        self.users = 0
        self.places = asyncio.Semaphore(settings.limits.in_flight)
        self.model = ServedModel("", 0)
        self.abilities = Abilities(0, sees=False, read_per_second=0.0, written_per_second=0.0)

    async def open(self, *, probe_seconds: float = PROBE_SECONDS) -> None:
        """Ask which models are served; raise ChatEndedError, within the deadline, where nothing answers or none fits.

        An unknown model is probed for what it can do, for at most `probe_seconds`.
        """
        try:
            self.model = await self._choose_model()
        except FaultError as error:
            raise ChatEndedError(
                f"no chat server: {error}", remedy="start one there, or set FLOWREADER_CHAT_BASE_URL to where one is"
            ) from error
        self.abilities = await find_abilities(self._client, self._endpoint, self.model, self._settings, seconds=probe_seconds)

    @property
    def given_up(self) -> bool:
        """Whether the server stayed away so long that no call of this service passes any more."""
        return self._breaker.given_up

    async def close(self) -> None:
        await self._client.aclose()

    async def complete(self, request: Request, tally: Tally, spending: Spending) -> Completion:
        """Return a reply, however many requests it takes; the tally grows by all that was read and written for it.

        Each request is sent inside `spending`, with 1 for the first and 0 for a retry: what that raises ends it.

        Raises ChatError where this request gets none, ChatEndedError where no other would get one either.
        """
        patience = Patience(self._settings.retries)
        calls = 1
        while True:
            try:
                async with spending(request, tally, calls):
                    completion = await self._attempt(request, tally)
            except FaultError as fault:
                calls = 0
                if not await patience.after(fault):
                    raise self._lost(
                        ChatError(f"{fault} ({tally.attempts} requests); give the same command again later")
                    ) from fault
            except (ContextTooLongError, PicturesRejectedError):
                raise
            except ChatError as error:
                raise self._lost(error) from error
            else:
                self._lost_in_a_row = 0
                if not same_model(self.model.name, completion.model):
                    answering = without_key(completion.model, self._endpoint)[:80]
                    raise ChatEndedError(
                        f"{self._endpoint.base_url} was asked for {self.model.name} and answered as {answering!r}",
                        answering,
                        "nothing of it is kept: mend the server or set FLOWREADER_CHAT_MODEL",
                    )
                return completion

    async def _attempt(self, request: Request, tally: Tally) -> Completion:
        """Send the request once, when the server is well and the minute has room."""
        await self._breaker.wait()
        sent = await self._minute.admit(request.input_tokens + request.output_tokens)
        tally.attempts += 1
        try:
            completion = await self._client.complete(request)
        except FaultError as fault:
            if fault.kind == FaultKind.DOWN:
                self._breaker.note_failure()
            if fault.output_tokens is not None:
                sent.tokens = _add(tally, request.input_tokens, fault.output_tokens)
            raise
        self._breaker.note_success()
        told_input, told_output = completion.input_tokens, completion.output_tokens
        written = text_tokens(len(completion.text), 0, self._settings.estimates)
        sent.tokens = _add(
            tally, request.input_tokens if told_input is None else told_input, written if told_output is None else told_output
        )
        return completion

    def _lost(self, error: ChatError) -> Exception:
        """Return the error, or the end of the run where calls are lost one after the other."""
        self._lost_in_a_row += 1
        if self._lost_in_a_row < self._settings.retries.lost_until_end:
            return error
        return ChatEndedError(
            f"{self._lost_in_a_row} calls in a row got no reply, the last one: {error}",
            remedy="what is done is kept: mend the server and give the same command again",
        )

    async def _look_again(self) -> None:
        """Raise FaultError while the server does not list its models, ChatEndedError where ours is not the one any more."""
        model = await self._choose_model()
        if model.name != self.model.name:
            raise ChatEndedError(
                f"{self._endpoint.base_url} had {self.model.name} and has another model now, {model.name}",
                remedy="what is done is kept: give the same command again",
            )

    async def _choose_model(self) -> ServedModel:
        try:
            return choose_model(await self._client.models(), self._endpoint)
        except ChatError as error:  # of no item: nothing was asked
            what, remedy = parts_of(error)
            check = "check FLOWREADER_CHAT_BASE_URL"
            raise ChatEndedError(what, remedy=f"{remedy}; {check}" if remedy else check) from error


def _add(tally: Tally, input_tokens: int, output_tokens: int) -> int:
    tally.input_tokens += input_tokens
    tally.output_tokens += output_tokens
    return input_tokens + output_tokens


_shared: dict[tuple[Endpoint, ModelSettings], ChatService] = {}
_opening = asyncio.Lock()


async def borrow(endpoint: Endpoint, settings: ModelSettings, until: float | None, probe_seconds: float) -> ChatService:
    """Return the service, opened with its first user; raise ChatEndedError where nothing answers or no model fits.

    Raises NoMoreRepliesError where it is not open by then, by time.monotonic().
    """
    key = endpoint, settings.model_copy(update={"budget": ChatBudget(), "prices": ChatPrices()})
    async with in_time(until), _opening:
        service = _shared.get(key)
        if service is None or service.given_up:
            service = ChatService(endpoint, settings)
            try:
                await service.open(probe_seconds=probe_seconds)
            except BaseException:
                await service.close()
                raise
            _shared[key] = service
        service.users += 1
        return service


async def give_back(service: ChatService) -> None:
    """Let go; the last user closes the connections."""
    service.users -= 1
    if service.users == 0:
        for key in [key for key, known in _shared.items() if known is service]:
            del _shared[key]
        await service.close()
