"""Where questions come in over HTTP.

POST /ask takes an AskRequest as JSON and gives `{"answers": [...]}`; POST /ask/stream takes one of one question and tells how it
goes, as server-sent events. GET /answers/ID/report?corpus=NAME gives an answer's page;
GET /health shows how many wait; programs speak MCP at /mcp, read-only. An error is `{"error": {"what", "value", "remedy"}}`.
"""

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.routing import Route

from flows.ask_deployed import QuestionStoppedError
from flows.display.output import CommandError
from flows.service.intake import RETRY_SECONDS, FullError, Intake
from flows.service.mcp_tools import Tools
from flows.service.news import News
from storage.artifacts import kept_artifacts
from storage.corpus.snapshot import open_for_reading
from storage.errors import ExpectedError
from storage.locations import corpus_location
from storage.runs.answers import find_answer
from tasks.address import host_of, is_this_machine
from tasks.asking.request import AskRequest
from tasks.events import DraftGrown, QuestionRefused, Refusal, emit
from tasks.report.write import render_report

ASK, STREAM, HEALTH, MCP = "/ask", "/ask/stream", "/health", "/mcp"
LARGEST_BODY = 1_000_000
MOST_QUESTIONS = 64
"""In one request: more would hold a seat for hours, and are better asked one by one."""


class WrongTokenError(CommandError):
    """The request does not bring the token that the service was started with."""


class WrongHostError(CommandError):
    """The request names this machine by a name that the service does not know."""


def web_app(intake: Intake, *, token: str = "") -> FastAPI:
    by_mcp = Tools("default", intake.ask)
    # The Host is looked at below, for every route. No sessions: a service that starts anew has lost none.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    by_mcp.streamable_http_app(stateless_http=True, transport_security=security, max_request_body_size=LARGEST_BODY)
    at_mcp = Route(MCP, StreamableHTTPASGIApp(by_mcp.session_manager), methods=["POST"])
    app = FastAPI(
        title="FlowReader",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        routes=[at_mcp],
        lifespan=lambda _app: by_mcp.session_manager.run(),
    )
    app.state.intake = intake
    app.post(STREAM, response_class=EventSourceResponse)(tell)

    @app.post(ASK)
    async def ask(request: Request) -> Response:
        return JSONResponse({"answers": await intake.ask(await request_in(request))})

    @app.get("/answers/{answer_id}/report")
    async def report(answer_id: str, corpus: str = "default") -> Response:
        return HTMLResponse(await asyncio.to_thread(report_of, answer_id, corpus))

    @app.get(HEALTH)
    async def health() -> dict[str, int]:
        return {"waiting": len(intake.waiting), "room": intake.room}

    @app.middleware("http")
    async def guarded(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            require_welcome(request, token)
            return await call(request)
        except Exception as error:
            return refusal(error, of_question=request.url.path in (ASK, STREAM))

    return app


async def followed(request: Request) -> News:
    """Take a question in and follow it; what is refused is so before the stream begins."""
    asked, intake = await request_in(request), request.app.state.intake
    if len(asked.questions) != 1:
        raise CommandError("a stream tells of one question", str(len(asked.questions)), f"send one, or many to {ASK}")
    return News(intake.take_in(asked))


async def tell(news: Annotated[News, Depends(followed)]) -> AsyncIterator[ServerSentEvent]:
    """Yield `stage` and `draft` as they come, then `error`, or `answer`, with `withdrawn` before it where it is not the draft's."""
    draft = ""
    async for event in news.newest():
        if isinstance(event, DraftGrown):
            draft = event.text
            yield sent("draft", {"text": draft})
        else:
            parts = {"done": event.done, "of": event.of} if event.of else {}
            yield sent("stage", {"words": event.words, **parts})
    try:
        (answer,) = await news.asked.waited_for()
    except (ExpectedError, OSError) as error:
        yield sent("error", error_of(error, of_question=True))
        return
    if not answer["answer"].startswith(draft):
        yield sent("withdrawn", {})
    yield sent("answer", answer)


def sent(event: str, value: Mapping[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(event=event, raw_data=json.dumps(value))


def require_welcome(request: Request, token: str) -> None:
    """Raise WrongTokenError where a token is asked for and not given; where none is, WrongHostError for another machine's name."""
    if token:
        given = request.headers.get("Authorization", "")
        if request.url.path != HEALTH and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            how = "with another token" if given else "without its token"
            remedy = "set FLOWREADER_ASK_TOKEN to the token that the service was started with"
            raise WrongTokenError(f"the query service takes no question {how}", "", remedy)
    elif not is_this_machine(host_of(request.headers.get("Host", ""))):
        # A page of the web that has its own name lead to this machine is not to ask here.
        raise WrongHostError(
            "the query service is asked by a name that is not of this machine",
            request.headers.get("Host", "")[:100],
            "ask it by 127.0.0.1 or localhost, or start it with FLOWREADER_ASK_TOKEN",
        )


def report_of(answer_id: str, corpus: str) -> str:
    location = corpus_location(corpus)
    with open_for_reading(location) as snapshot:
        answer = find_answer(location, answer_id, present={record.id for record in snapshot.documents()})
        return render_report(answer, snapshot, kept_artifacts()).html


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


def refusal(error: Exception, *, of_question: bool) -> JSONResponse:
    """Return the reply to an error, with an event where a question was refused; raise what is not expected."""
    _reason, status, headers = _kind(error)
    return JSONResponse({"error": error_of(error, of_question=of_question)}, status, headers)


def error_of(error: Exception, *, of_question: bool) -> dict[str, str]:
    """Return an error in words, and do else what `refusal` does."""
    reason, _status, _headers = _kind(error)
    if of_question:
        emit(QuestionRefused(reason))
    shown = CommandError.from_error(error)
    return {"what": shown.what, "value": shown.value, "remedy": shown.remedy}


REPLIES: Mapping[type[Exception], tuple[Refusal, int, Mapping[str, str] | None]] = {
    FullError: (Refusal.FULL, 503, {"Retry-After": str(RETRY_SECONDS)}),
    WrongTokenError: (Refusal.TOKEN, 401, {"WWW-Authenticate": "Bearer"}),
    WrongHostError: (Refusal.HOST, 400, None),
    QuestionStoppedError: (Refusal.CANNOT, 503, None),
}
"""Why a question is refused, the status and the headers; of other errors `_kind` decides."""


def _kind(error: Exception) -> tuple[Refusal, int, Mapping[str, str] | None]:
    if type(error) in REPLIES:
        return REPLIES[type(error)]
    if not isinstance(error, ExpectedError | OSError):
        raise error
    asked_wrongly = isinstance(error, CommandError | LookupError | ValueError)
    return (Refusal.REQUEST, 400, None) if asked_wrongly else (Refusal.CANNOT, 503, None)
