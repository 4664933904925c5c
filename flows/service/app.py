"""Where questions come in over HTTP.

/ is the page for people, with the answers' own pages under /answers. POST /ask takes an AskRequest as JSON and gives
`{"answers": [...]}`; POST /ask/stream takes one of one question and tells how it goes, as server-sent events. /v1 is for clients of
OpenAI, POST /mcp for those of MCP, /api/v1 for all others. GET /health shows how many wait. An error is
`{"error": {"what", "value", "remedy"}}`.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.sse import EventSourceResponse, ServerSentEvent
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from flows.display.output import CommandError
from flows.service import openai_protocol
from flows.service.ingests import Ingests
from flows.service.intake import Intake
from flows.service.mcp_tools import Tools
from flows.service.news import News
from flows.service.received import HEALTH, LARGEST_BODY, error_of, received, refusal, require_welcome
from flows.service.rest import api, asking, forms
from flows.service.rest.once import Once
from flows.service.tokens import TokenCheck
from flows.service.web import html, site
from storage.errors import ExpectedError
from tasks.events import DraftGrown
from tasks.watching.metrics_endpoint import as_text

ASK, STREAM, MCP = "/ask", "/ask/stream", "/mcp"


def web_app(intake: Intake, *, token: str = "") -> FastAPI:
    check = TokenCheck(token) if token else None
    tools = Tools(intake.ask, searching=intake.search)
    # Who is welcome is looked at below, for every route. Without sessions a service that starts anew has lost none.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools.streamable_http_app(stateless_http=True, transport_security=security, max_request_body_size=LARGEST_BODY)
    app = FastAPI(
        title="FlowReader",
        docs_url=None,
        redoc_url=None,
        version=metadata.version("flowreader"),
        lifespan=lambda app: living(app, tools),
        routes=[Route(MCP, StreamableHTTPASGIApp(tools.session_manager), methods=["POST"])],
    )
    app.state.check = check
    app.state.intake, app.state.ingests, app.state.once, app.state.has_token = intake, Ingests(), Once(), bool(token)
    site.install(app)
    app.include_router(openai_protocol.router, include_in_schema=False)
    app.post(STREAM, response_class=EventSourceResponse, include_in_schema=False)(tell)
    app.delete(f"{STREAM}/{{question_id}}", status_code=204, include_in_schema=False)(stop)
    app.post(ASK, **asking.ASKING)(asking.ask)
    api.install(app)

    @app.get(HEALTH, tags=["service"])
    async def health() -> dict[str, int]:
        return {"waiting": len(intake.waiting), "room": intake.room}

    @app.middleware("http")
    async def guarded(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            require_welcome(request, check)
            reply = await call(request)
        except ClientDisconnect:
            reply = Response(status_code=400)  # for nobody
        except Exception as error:
            path = request.scope["path"]
            asks = path in (ASK, STREAM, openai_protocol.CHAT, api.ASK)
            refused = {openai_protocol.PREFIX: openai_protocol.refused, forms.PREFIX: forms.refused}
            shown = html.refused if html.is_for_people(request) else refusal
            reply = next((words for begin, words in refused.items() if path.startswith(begin)), shown)(error, of_question=asks)
        reply.headers["X-Content-Type-Options"] = "nosniff"
        # A report forbids all else itself, but where it may be framed only a header says.
        reply.headers.setdefault("Content-Security-Policy", "frame-ancestors 'none'")
        return reply

    for kind, answer in ((RequestValidationError, forms.refused_by_form), (HTTPException, forms.refused_by_route)):
        app.add_exception_handler(kind, shown_to(answer))
    return app


def shown_to(answer: Callable[[Request, Exception], Awaitable[Response]]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return what gives people a page where it gives programs an error, and clients of OpenAI one in their words."""

    async def reply(request: Request, error: Exception) -> Response:
        given = await answer(request, error)
        if request.scope["path"].startswith(f"{openai_protocol.PREFIX}/"):
            return openai_protocol.in_envelope(given, openai_protocol.WHERE)
        return html.as_page(given) if html.is_for_people(request) else given

    return reply


@asynccontextmanager
async def living(app: FastAPI, tools: Tools) -> AsyncIterator[None]:
    """Count while the app lives; what it was reading in ends with it."""
    with as_text() as app.state.metrics:
        async with tools.session_manager.run():
            await app.state.ingests.go_on()
            yield
            await app.state.ingests.end()
            if app.state.check:
                app.state.check.tell()


async def followed(request: Request, response: Response) -> News:
    """Take a question in and follow it; what is refused is so before the stream begins. The header says what stops it."""
    asked, intake = asking.request_in(await received(request)), request.app.state.intake
    if len(asked.questions) != 1:
        raise CommandError("a stream tells of one question", str(len(asked.questions)), f"send one, or many to {ASK}")
    news = News(intake.take_in(asked))
    response.headers["Location"] = f"{STREAM}/{news.asked.id}"
    return news


async def stop(request: Request, question_id: str) -> None:
    request.app.state.intake.stop(question_id)


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
