"""The query service over HTTP.

/ is the page for people, with the answers' own pages under /answers. POST /api/v1/ask, or /ask, takes an AskRequest as JSON and
returns `{"answers": [...]}`; POST /ask/stream takes one question and reports progress as server-sent events. /v1 is for
clients of OpenAI, POST /mcp for those of MCP, /api/v1 for all others; /docs is the documentation. GET /health shows how many
wait. An error is `{"error": {"what", "value", "remedy"}}`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import metadata

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from flows.service import openai_protocol
from flows.service.ingests import Ingests
from flows.service.intake import Intake
from flows.service.mcp_tools import Tools
from flows.service.received import HEALTH, LARGEST_BODY, TokenCheck, require_welcome
from flows.service.refusals import describe_misfit, refusal_of, refusal_of_question
from flows.service.rest import api
from flows.service.rest.forms import PREFIX
from flows.service.web import answers, asking, documentation, documents, html
from storage.text import printable_path
from tasks.parsing.supervisor import ParserStoppedError
from tasks.views.errors import RefusedError
from tasks.watching.metrics_endpoint import as_text

MCP = "/mcp"
QUESTIONS = (*api.QUESTIONS, openai_protocol.COMPLETIONS)
"""Refusals on these paths count as refused questions."""


def web_app(intake: Intake, *, token: str = "") -> FastAPI:
    check = TokenCheck(token) if token else None
    tools = Tools(intake.ask, searching=intake.search, verifying=intake.verify)
    # `guard` checks every route. Without sessions a restart of the service loses none.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    tools.streamable_http_app(stateless_http=True, transport_security=security, max_request_body_size=LARGEST_BODY)
    app = FastAPI(
        title="FlowReader",
        docs_url=None,
        redoc_url=None,
        version=metadata.version("flowreader"),
        lifespan=lambda app: run_with_app(app, tools),
        routes=[Route(MCP, StreamableHTTPASGIApp(tools.session_manager), methods=["POST"])],
        exception_handlers={RequestValidationError: reply_to_error, HTTPException: reply_to_error},
    )
    app.state.check = check
    app.state.intake, app.state.ingests, app.state.has_token = intake, Ingests(), bool(token)
    for group in (asking, answers, documents, openai_protocol):
        app.include_router(group.router, include_in_schema=False)
    app.add_api_route("/style.css", html.style, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=html.FOLDER / "static"))
    documentation.install(app)
    api.install(app)

    @app.get(HEALTH, tags=["service"])
    async def health() -> dict[str, int]:
        return {"waiting": len(intake.waiting), "room": intake.room}

    @app.middleware("http")
    async def guard(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            require_welcome(request, check)
            reply = await call(request)
        except ClientDisconnect:
            reply = Response(status_code=400)  # for nobody
        except Exception as error:
            reply = await reply_to_error(request, error)
        reply.headers["X-Content-Type-Options"] = "nosniff"
        # A report's own policy forbids the rest, but only a header can forbid framing.
        reply.headers.setdefault("Content-Security-Policy", "frame-ancestors 'none'")
        return reply

    return app


async def reply_to_error(request: Request, error: Exception) -> Response:
    """Return the reply to an error: a page for people, else JSON, in OpenAI's shape for its clients; raise an unexpected error."""
    path = request.scope["path"]
    is_question = path in QUESTIONS and not isinstance(error, HTTPException | RequestValidationError)
    refusal = (refusal_of_question if is_question else refusal_of)(translate_error(request, error))
    if path.startswith(f"{openai_protocol.PREFIX}/"):
        return JSONResponse({"error": openai_protocol.make_openai_error(refusal.error)}, refusal.status, refusal.headers)
    if html.is_for_people(request) and not path.startswith(f"{PREFIX}/"):
        corpus = request.query_params.get("corpus", "")
        return html.html("error.html", refusal.status, refusal.headers, framed=True, corpus=corpus, error=refusal.error)
    return JSONResponse({"error": refusal.error.model_dump()}, refusal.status, refusal.headers)


def translate_error(request: Request, error: Exception) -> Exception:
    """Return FastAPI's error of a wrong form or route as one of ours, any other as it is."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return describe_misfit({**first, "loc": first["loc"][1:]}, "/openapi.json has the fields")
    if isinstance(error, HTTPException):
        path = request.scope["path"]
        remedy = openai_protocol.WHERE if path.startswith(openai_protocol.PREFIX) else "/openapi.json lists what there is"
        shown = printable_path(path)[:100]
        return RefusedError(error.status_code, f"{error.detail}: {request.method} {shown}", shown, remedy, headers=error.headers)
    if isinstance(error, ParserStoppedError):
        return RefusedError(503, "the page is not drawn: the query service is shutting down", "", "try again when it is up")
    return error


@asynccontextmanager
async def run_with_app(app: FastAPI, tools: Tools) -> AsyncIterator[None]:
    """Count, and serve MCP, while the app runs; end its ingests with it."""
    with as_text() as app.state.metrics:
        async with tools.session_manager.run():
            await app.state.ingests.go_on()
            yield
            await app.state.ingests.end()
            if app.state.check:
                app.state.check.tell()
