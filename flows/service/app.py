"""Where questions come in over HTTP.

/ is the page for people, with the answers' own pages under /answers. POST /ask takes an AskRequest as JSON and gives
`{"answers": [...]}`; POST /ask/stream takes one of one question and tells how it goes, as server-sent events. /v1 is for clients of
OpenAI, POST /mcp for those of MCP. GET /health shows how many wait. An error is `{"error": {"what", "value", "remedy"}}`.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route

from flows.display.output import CommandError
from flows.service import openai_protocol, pages
from flows.service.intake import Intake
from flows.service.mcp_tools import Tools
from flows.service.news import News
from flows.service.received import HEALTH, LARGEST_BODY, checked, error_of, received, refusal, require_welcome
from storage.errors import ExpectedError
from tasks.asking.request import AskRequest
from tasks.events import DraftGrown

ASK, STREAM, MCP = "/ask", "/ask/stream", "/mcp"
MOST_QUESTIONS = 64
"""In one request: more would hold a seat for hours, and are better asked one by one."""


def web_app(intake: Intake, *, token: str = "") -> FastAPI:
    tools = Tools("default", intake.ask)
    # Who is welcome is looked at below, for every route. Without sessions a service that starts anew has lost none.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools.streamable_http_app(stateless_http=True, transport_security=security, max_request_body_size=LARGEST_BODY)
    app = FastAPI(
        title="FlowReader",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lambda _app: tools.session_manager.run(),
        routes=[Route(MCP, StreamableHTTPASGIApp(tools.session_manager), methods=["POST"])],
    )
    app.state.intake = intake
    app.include_router(pages.router)
    app.mount("/static", pages.static)
    app.include_router(openai_protocol.router)
    app.post(STREAM, response_class=EventSourceResponse)(tell)

    @app.post(ASK)
    async def ask(request: Request) -> Response:
        return JSONResponse({"answers": await intake.ask(await request_in(request))})

    @app.get(HEALTH)
    async def health() -> dict[str, int]:
        return {"waiting": len(intake.waiting), "room": intake.room}

    @app.middleware("http")
    async def guarded(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            require_welcome(request, token)
            return await call(request)
        except Exception as error:
            path = request.url.path
            asks = path in (ASK, STREAM, openai_protocol.CHAT)
            return (openai_protocol.refused if path.startswith(openai_protocol.PREFIX) else refusal)(error, of_question=asks)

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


async def request_in(request: Request) -> AskRequest:
    """Return what is asked; raise CommandError where it is no JSON of an AskRequest, naming the field."""
    asked = checked(AskRequest, await received(request))
    if len(asked.questions) > MOST_QUESTIONS:
        raise CommandError(
            "too many questions in one request", str(len(asked.questions)), f"send at most {MOST_QUESTIONS} at a time"
        )
    return asked
