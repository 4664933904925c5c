"""Takes questions in, so many at a time, and hands each to a task worker of this process through the Prefect server."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import httpx
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import State
from prefect.exceptions import PrefectHTTPStatusError
from prefect.filesystems import LocalFileSystem
from prefect.results import ResultStore
from prefect.serializers import JSONSerializer
from prefect.states import Scheduled

from flows.ask_deployed import Answers, answer, waiting
from flows.display.output import CommandError
from storage.codec import without_sign_in
from storage.locations import called_with_folder
from tasks.asking.request import AskRequest

RETRY_SECONDS = 5
BEGIN_SECONDS = 60.0
"""A worker takes a question at once, though it may wait for a seat then; a Prefect server that starts again forgets some."""

PATIENCE_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Between tries to reach a Prefect server that is busy, or starts again."""


class NotHandedOverError(CommandError):
    """The Prefect server did not take the question."""


class FullError(CommandError):
    """No more questions are taken in for a moment."""

    def __init__(self, room: int) -> None:
        super().__init__(
            "the query service is full: so many questions are being answered or wait already",
            str(room),
            f"ask again in {RETRY_SECONDS} seconds; FLOWREADER_ASK_QUEUE lets more wait",
        )


@dataclass(frozen=True, slots=True)
class Intake:
    """Takes questions in: `room` of them are being answered or wait at any time."""

    prefect: PrefectClient
    room: int
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, request: AskRequest) -> Answers:
        """Return the answers; raise CommandError where there is no room or no Prefect server, else what the question raises."""
        if len(waiting) >= self.room:
            raise FullError(self.room)
        run_id, called_with = uuid4(), called_with_folder() / str(uuid4())
        answered = waiting.for_run(run_id)
        answered.add_done_callback(lambda _done: called_with.unlink(missing_ok=True))
        try:
            await self._hand_over(run_id, called_with, request)
        except Exception as error:
            answered.cancel()
            raise NotHandedOverError(
                f"the question could not be handed over to the Prefect server ({type(error).__name__})",
                without_sign_in(str(self.prefect.api_url)),
                "see whether it is up; `flowreader ask` without --server needs none",
            ) from error
        if not (await asyncio.wait([answered], timeout=BEGIN_SECONDS))[0] and not waiting.has_begun(run_id):
            answered.cancel()
            raise NotHandedOverError(
                f"no worker took the question in {BEGIN_SECONDS:.0f} s, for the server lost it or gave it to another machine",
                without_sign_in(str(self.prefect.api_url)),
                "ask again; `flowreader ask` without --server needs no server",
            )
        return await answered

    async def _hand_over(self, run_id: UUID, called_with: Path, request: AskRequest) -> None:
        """Have the Prefect server call a task worker, which reads what the task is called with next to its results.

        `answer.delay` would do it, and write Prefect's settings next to the question; passwords may be among them.
        """
        store = ResultStore(result_storage=LocalFileSystem(basepath=str(called_with.parent)), serializer=JSONSerializer())
        record = store.create_result_record({"parameters": {"request": request.model_dump(mode="json")}}, key=called_with.name)
        called_with.parent.mkdir(parents=True, exist_ok=True)
        called_with.write_bytes(record.serialize())
        state: State[Answers] = Scheduled()
        state.state_details.deferred, state.state_details.task_parameters_id = True, UUID(called_with.name)
        await self._create_run(run_id, state, request.corpus)

    async def _create_run(self, run_id: UUID, state: State[Answers], corpus: str) -> None:
        """Create the run, one at a time: SQLite under the Prefect server takes one writer, and refuses many after ten seconds."""
        for patience in (*PATIENCE_SECONDS, None):
            try:
                async with self.writing:
                    await self.prefect.create_task_run(
                        answer,
                        flow_run_id=None,
                        dynamic_key=str(run_id),
                        id=run_id,
                        name=answer.name,
                        state=state,
                        extra_tags=[corpus],
                    )
                return
            except (PrefectHTTPStatusError, httpx.TransportError):
                if patience is None:
                    raise
                await asyncio.sleep(patience)
