"""Where questions come in over HTTP: so many at once, so many more that wait, and a clear word for the rest.

POST /ask takes an AskRequest as JSON and gives `{"answers": [...]}`; GET /answers/ID/report?corpus=NAME gives an answer's page;
GET /health tells how many wait. An error is `{"error": {"what", "value", "remedy"}}`.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import httpx
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import State
from prefect.exceptions import PrefectHTTPStatusError
from prefect.filesystems import LocalFileSystem
from prefect.results import ResultStore
from prefect.serializers import JSONSerializer
from prefect.states import Scheduled
from pydantic import ValidationError
from starlette.middleware.trustedhost import TrustedHostMiddleware

from flows.ask_task import Answers, answer, waiting
from flows.expected_errors import EXPECTED
from flows.showing import CommandError
from storage.answers import find_answer
from storage.artifacts import kept_artifacts
from storage.locations import corpus_location, reports_folder
from storage.snapshot import open_for_reading
from tasks.ask_request import AskRequest
from tasks.happenings import QuestionRefused, tell
from tasks.reporting import render_report

LARGEST_BODY = 1_000_000
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
RETRY_SECONDS = 5
MOST_QUESTIONS = 64
"""In one request: more would hold a seat for hours, and are better asked one by one."""

BEGIN_SECONDS = 60.0
"""A worker takes a question at once, though it may wait for a seat then; a Prefect server that starts again forgets some."""

PATIENCE_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Between tries to reach a Prefect server that is busy, or starts again."""


@dataclass(frozen=True, slots=True)
class FrontDoor:
    """Takes questions in: `room` of them are being answered or wait at any time; a `token`, where there is one, is asked for."""

    prefect: PrefectClient
    room: int
    token: str = ""
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, request: AskRequest) -> Answers:
        """Return the answers; raise CommandError where there is no room or no Prefect server, else what the question raises."""
        if len(waiting) >= self.room:
            tell(QuestionRefused())
            raise FullError(self.room)
        run_id, called_with = uuid4(), reports_folder() / "parameters" / str(uuid4())
        answered = waiting.for_run(run_id)
        answered.add_done_callback(lambda _done: called_with.unlink(missing_ok=True))
        try:
            await self._hand_over(run_id, called_with, request)
        except Exception as error:
            answered.cancel()
            raise NotHandedOverError(
                f"the question could not be handed over to the Prefect server ({type(error).__name__})",
                str(self.prefect.api_url),
                "see whether it is up; `flowreader ask` without --server needs none",
            ) from error
        if not (await asyncio.wait([answered], timeout=BEGIN_SECONDS))[0] and not waiting.has_begun(run_id):
            answered.cancel()
            raise NotHandedOverError(
                f"no worker took the question in {BEGIN_SECONDS:.0f} s, for the server lost it or gave it to another machine",
                str(self.prefect.api_url),
                "ask again; `flowreader ask` without --server needs no server",
            )
        return await answered

    async def _hand_over(self, run_id: UUID, called_with: Path, request: AskRequest) -> None:
        """Have the Prefect server call a task worker, which reads what the task is called with beside its results.

        `answer.delay` would do it, and write Prefect's settings beside the question; passwords may be among them.
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


class NotHandedOverError(CommandError):
    """The Prefect server did not take the question."""


class FullError(CommandError):
    """No more questions are taken in for a moment."""

    def __init__(self, room: int) -> None:
        """Take how many are inside."""
        super().__init__(
            "the query service is full: so many questions are being answered or wait already",
            str(room),
            f"ask again in {RETRY_SECONDS} seconds; FLOWREADER_ASK_QUEUE lets more wait",
        )


def web_app(door: FrontDoor) -> FastAPI:
    """Return the web application of a front door."""
    app = FastAPI(title="FlowReader", docs_url=None, redoc_url=None, openapi_url=None)

    @app.post("/ask")
    async def ask(request: Request) -> Response:
        return JSONResponse({"answers": await door.ask(await request_in(request))})

    @app.get("/answers/{answer_id}/report")
    async def report(answer_id: str, corpus: str = "default") -> Response:
        return HTMLResponse(await asyncio.to_thread(report_of, answer_id, corpus))

    @app.get("/health")
    async def health() -> dict[str, int]:
        return {"waiting": len(waiting), "room": door.room}

    @app.middleware("http")
    async def guarded(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        if door.token and request.url.path != "/health" and not _is_theirs(request, door.token):
            given = "with another token" if "Authorization" in request.headers else "without its token"
            refused = CommandError(f"the query service takes no question {given}", "", TOKEN_REMEDY)
            return told(401, refused, {"WWW-Authenticate": "Bearer"})
        try:
            return await call(request)
        except Exception as error:
            return refusal(error)

    if not door.token:
        # A page of the web that has its own name lead to this machine is not to ask here.
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK])
    return app


TOKEN_REMEDY = "set FLOWREADER_ASK_TOKEN to the token that the service was started with"


def _is_theirs(request: Request, token: str) -> bool:
    return hmac.compare_digest(request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode())


async def request_in(request: Request) -> AskRequest:
    """Return what is asked; raise CommandError where it is no JSON of an AskRequest, naming the field."""
    if request.headers.get("Content-Type", "").split(";")[0].strip() != "application/json":
        # What a page of the web may send without asking first is never this.
        raise CommandError(
            "a question is JSON", request.headers.get("Content-Type", ""), "send it with Content-Type: application/json"
        )
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise CommandError("a request is too large", f"over {LARGEST_BODY:,} bytes", "ask fewer questions at once")
    try:
        asked = AskRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the request"
        raise CommandError(f"{place}: {first['msg']}", str(first["input"])[:100], "deployments/README.md has the fields") from error
    if len(asked.questions) > MOST_QUESTIONS:
        raise CommandError(
            "too many questions in one request", str(len(asked.questions)), f"send at most {MOST_QUESTIONS} at a time"
        )
    return asked


def report_of(answer_id: str, corpus: str) -> str:
    """Return the page of an answer, with what is published now."""
    location = corpus_location(corpus)
    with open_for_reading(location) as snapshot:
        answer = find_answer(location, answer_id, present={record.id for record in snapshot.documents()})
        return render_report(answer, snapshot, kept_artifacts()).html


def refusal(error: Exception) -> Response:
    """Return what is told of an error; raise what nobody expected."""
    match error:
        case FullError():
            return told(503, error, {"Retry-After": str(RETRY_SECONDS)})
        case NotHandedOverError():
            return told(502, error)
        case CommandError():
            return told(400, error)
        case _ if isinstance(error, EXPECTED):
            theirs = isinstance(error, LookupError | ValueError)
            return told(400 if theirs else 503, CommandError.from_error(error))
    raise error


def told(status: int, error: CommandError, headers: dict[str, str] | None = None) -> Response:
    """Return an error as the command line tells it with --json."""
    return JSONResponse({"error": {"what": error.what, "value": error.value, "remedy": error.remedy}}, status, headers)
