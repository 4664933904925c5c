"""The one decorator. A step is a plain function; inside a Prefect run `submit` makes it a task, else it is just called.

Both ways it leaves the same lineage record, and a result that was made before from the same inputs is read back
from artifacts instead of made again. The memory is ours, not Prefect's: it checks every hash, works without a
server, and is forgotten with its document. Prefect shows such a task as cached.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar
from uuid import UUID

from storage.artifacts import ArtifactStore
from storage.memo import StepMemo
from storage.records.documents import identify
from storage.records.steps import StepRecord
from storage.runs.log import RunLog
from storage.system import may_pass
from tasks.events import StepEnded, emit
from tasks.progress import kind_of

if TYPE_CHECKING:
    from prefect import Task
    from prefect.client.schemas.objects import State

P = ParamSpec("P")
R = TypeVar("R")

RETRY_SECONDS, JITTER = 1.0, 0.5
OFTEN, ONCE = 2, 1
"""Retries of a step that reads or writes what may fail in passing: files, LanceDB, DuckDB, pipes to child processes.

OFTEN where an attempt takes moments; ONCE where it takes minutes, or holds steps that are tried again themselves. A step
that only asks a model has none: the model is asked again, and its reply kept, by rules of their own inside the step, and what a
question writes in its call book would be there twice. Nor has one that only computes: it would fail the same way.
"""
PARSE, MODEL = "parse", "model"
"""Tags of a task: it reads a file in processes of its own; in this run it asks a chat model, or an embedder that is served.

On Prefect's server an operator may limit how many tasks with a tag run at once, and each of them asks it.
"""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where the steps of a run keep and remember what they make; `listener` gets the record of each step, as the log does.

    Where it does not remember, the memo is neither read nor written.
    """

    artifacts: ArtifactStore
    memo: StepMemo
    log: RunLog
    run_id: str
    listener: Callable[[StepRecord], None] = lambda _record: None
    remembers: bool = True

    def note(self, record: StepRecord) -> None:
        self.log.step(record)
        self.listener(record)
        emit(StepEnded(self.run_id, record))


@dataclass(frozen=True, slots=True)
class Codec(Generic[R]):
    """How a result becomes artifacts and is read back from them; `pictures` names the artifacts that it points to."""

    encode: Callable[[R], Sequence[bytes]]
    decode: Callable[[Sequence[bytes]], R]
    pictures: Callable[[R], Iterable[str]] = lambda _result: ()


@dataclass(frozen=True, slots=True)
class StepKey:
    """What a step works on: `subject` (a document's id, a question's) owns the result, `inputs` names all that decides it.

    `name` is shown. The result is remembered for the `owner`: a question that is asked again has another id.
    """

    subject: str
    inputs: str
    name: str
    owner: str = ""

    @property
    def kept_under(self) -> str:
        return self.owner or self.subject


workplace: ContextVar[Workplace] = ContextVar("workplace")


@dataclass(slots=True)
class Chain:
    """Steps that each wait for the one before, as Prefect's UI draws it: those of a document, or of a question.

    `last` are the task runs that the next step waits for; there are none outside a Prefect run.
    """

    last: tuple[UUID, ...] = ()


chain: ContextVar[Chain] = ContextVar("chain")

turn: ContextVar[Callable[[], Awaitable[None]]] = ContextVar("turn")
"""Awaited before each step of a question that may have to let others go first."""


@contextmanager
def chain_steps(after: Iterable[UUID] = ()) -> Iterator[Chain]:
    """Chain the steps inside the block, the first of them to these task runs; yield the chain, for others to wait for its end."""
    own = Chain(tuple(after))
    token = chain.set(own)
    try:
        yield own
    finally:
        chain.reset(token)


class TaskWork(Generic[R]):
    """The work of a task run, and what came of it. Prefect would walk through every block of a document looking for futures:
    it does not look into this, for it is no dataclass.
    """

    def __init__(self, perform: Callable[[int], tuple[R, bool]], name: str) -> None:
        self.perform, self.name = perform, name
        self.result: list[R] = []
        self.task_run: tuple[UUID, ...] = ()


@dataclass(eq=False)
class Step(Generic[P, R]):
    """A function with a name, a version, retries, a key and, where `codec` is given, a memory of its results.

    Where there is no codec, `summary` makes what the lineage records of a result.
    """

    function: Callable[P, R]
    name: str
    version: str
    retries: int
    cache_key: Callable[..., StepKey]
    codec: Codec[Any] | None
    summary: Callable[[Any], Mapping[str, str]]
    tag: Callable[..., str]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        attempt = 1
        while True:
            try:
                return self._perform(attempt, *args, **kwargs)[0]
            except Exception as error:
                if attempt > self.retries or not may_pass(error):
                    raise
            attempt += 1
            time.sleep(RETRY_SECONDS * random.uniform(1.0, 1.0 + JITTER))

    def recall(self, key: StepKey, attempt: int = 1) -> R | None:
        """Return what this step made for this key before, None where it did not or the artifact is damaged."""
        place, clock = workplace.get(), time.monotonic()
        names = self.find_artifacts(key, place.memo) if self.codec and place.remembers else None
        if not (self.codec and names):
            return None
        with place.memo.sparing():
            result: R = self.codec.decode([place.memo.artifacts.read(names[part]) for part in sorted(names, key=int)])
            place.note(replace(self._begin_record(place, key, attempt), seconds=_since(clock), cache_hit=True, outputs=dict(names)))
            return result
        return None

    def find_artifacts(self, key: StepKey, memo: StepMemo) -> dict[str, str] | None:
        """Return the names of the artifacts that the step made for this key, None where there are none or one is damaged."""
        return memo.lookup(key.kept_under, self.name, self.identity(key))

    def remember(self, key: StepKey, result: R, memo: StepMemo) -> Mapping[str, str]:
        """Keep what the step made for this key, and return its artifacts; the step has a codec."""
        assert self.codec is not None
        with memo.sparing():
            names = {str(part): memo.artifacts.put(data) for part, data in enumerate(self.codec.encode(result))}
            memo.remember(key.kept_under, self.name, self.identity(key), names, within=self.codec.pictures(result))
            return names
        return self.summary(result)

    def identity(self, key: StepKey) -> str:
        return identify(self.name, self.version, key.inputs)

    def _begin_record(self, place: Workplace, key: StepKey, attempt: int) -> StepRecord:
        """Return the line of lineage for an attempt that begins now."""
        return StepRecord(
            run_id=place.run_id,
            step=self.name,
            version=self.version,
            key=self.identity(key),
            subject=key.subject,
            started=datetime.now(UTC).isoformat(),
            seconds=0.0,
            attempts=attempt,
            cache_hit=False,
            outputs={},
        )

    async def submit(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Do the step in a thread, when its turn comes; inside a Prefect run as a task of that run, with its retries and state."""
        if its_turn := turn.get(None):
            await its_turn()
        if not _inside_a_prefect_run():
            return await asyncio.to_thread(self, *args, **kwargs)
        from prefect import tags
        from prefect.client.schemas.objects import StateDetails
        from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
        from prefect.states import Completed

        own = chain.get(Chain())
        name = f"{self.name} {self.cache_key(*args, **kwargs).name}".replace("{", "(").replace("}", ")")
        work = TaskWork(lambda attempt: self._perform(attempt, *args, **kwargs), name)
        # As completed whatever came of them: what follows a caught error goes on.
        before: list[Any] = [Completed(data=True, state_details=StateDetails(task_run_id=one)) for one in own.last]
        try:
            with tags(*filter(None, [self.tag(*args, **kwargs)])):
                await self._task(work, wait_for=before)
        except ConcurrencySlotAcquisitionError:
            # The server is away, and the limits with it; what has no tag goes on without it, and so does this.
            return await asyncio.to_thread(self, *args, **kwargs)
        finally:
            own.last = work.task_run or own.last
        return work.result[-1]

    @cached_property
    def _task(self) -> Task[[TaskWork[R]], Any]:
        """The step as a task of Prefect, made at its first use: importing a step imports no Prefect."""
        from prefect import task
        from prefect.cache_policies import NO_CACHE
        from prefect.context import TaskRunContext
        from prefect.states import Completed

        async def body(work: TaskWork[R]) -> State[None] | None:
            context = TaskRunContext.get()
            assert context is not None
            work.task_run = (context.task_run.id,)
            result, remembered = await asyncio.to_thread(work.perform, context.task_run.run_count)
            work.result.append(result)
            return Completed(name="Cached", message="made before from the same inputs") if remembered else None

        # Prefect makes the key of a task of its function's name.
        body.__name__ = body.__qualname__ = self.function.__name__
        return task(
            name=self.name,
            description=self.function.__doc__,
            version=self.version,
            task_run_name=_task_run_name,  # type: ignore[arg-type] # a function with this argument is one that Prefect takes
            retries=self.retries,
            retry_delay_seconds=RETRY_SECONDS,
            retry_jitter_factor=JITTER,
            retry_condition_fn=_prefect_may_retry,
            persist_result=False,
            cache_policy=NO_CACHE,
        )(body)

    def _perform(self, attempt: int, *args: P.args, **kwargs: P.kwargs) -> tuple[R, bool]:
        """Recall or make the result and record how it went; return whether it was recalled."""
        place, key, clock = workplace.get(), self.cache_key(*args, **kwargs), time.monotonic()
        record = self._begin_record(place, key, attempt)
        names: Mapping[str, str] = {}
        error, recalled = "", None
        try:
            recalled = self.recall(key, attempt)
            if recalled is not None:
                return recalled, True
            result = self.function(*args, **kwargs)
            names = self.remember(key, result, place.memo) if self.codec and place.remembers else self.summary(result)
            return result, False
        except BaseException as problem:
            error = f"{kind_of(problem)}: {problem}"
            raise
        finally:
            if recalled is None:
                place.note(replace(record, seconds=_since(clock), outputs=dict(names), error=error))


def _since(clock: float) -> float:
    return round(time.monotonic() - clock, 4)


def step(
    name: str,
    version: str,
    retries: int,
    cache_key: Callable[..., StepKey],
    codec: Codec[Any] | None = None,
    summary: Callable[[Any], Mapping[str, str]] = lambda _result: {},
    tag: Callable[..., str] = lambda *_inputs: "",
) -> Callable[[Callable[P, R]], Step[P, R]]:
    """Make a function a step; give a codec where its result is dear enough to be remembered, else what lineage records of it.

    `tag` returns that of its task, "" for none, by the step's inputs.
    """

    def decorate(function: Callable[P, R]) -> Step[P, R]:
        return Step(function, name, version, retries, cache_key, codec, summary, tag)

    return decorate


def _inside_a_prefect_run() -> bool:
    """Say whether a flow runs here and no step does: one within a step is called as it is, one within a cluster's job is not."""
    import sys

    if "prefect" not in sys.modules:
        return False
    from prefect.context import FlowRunContext, TaskRunContext

    task_run = TaskRunContext.get()
    return FlowRunContext.get() is not None and not (task_run and isinstance(task_run.parameters.get("work"), TaskWork))


def _task_run_name(parameters: dict[str, Any]) -> str:
    return str(parameters["work"].name)


async def _prefect_may_retry(_task: Any, _run: Any, state: Any) -> bool:  # noqa: ANN401 - Prefect's own signature
    try:
        await state.aresult()
    except BaseException as error:
        return may_pass(error)
    return False
