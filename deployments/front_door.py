"""Where questions come in over HTTP.

POST /ask takes an AskRequest as JSON and gives `{"answers": [...]}`; GET /answers/ID/report?corpus=NAME gives an answer's page;
GET /health tells how many wait. An error is `{"error": {"what", "value", "remedy"}}`.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from deployments.intake import Intake
from deployments.question_requests import request_in
from deployments.refusals import WrongHostError, WrongTokenError, refusal
from flows.ask_task import waiting
from storage.answers import find_answer
from storage.artifacts import kept_artifacts
from storage.locations import corpus_location
from storage.snapshot import open_for_reading
from tasks.network_address import host_of, is_this_machine
from tasks.reporting import render_report

ASK, HEALTH = "/ask", "/health"


def web_app(intake: Intake, *, token: str = "") -> FastAPI:
    """Return the web application that takes questions in; a `token`, where there is one, is asked for."""
    app = FastAPI(title="FlowReader", docs_url=None, redoc_url=None, openapi_url=None)

    @app.post(ASK)
    async def ask(request: Request) -> Response:
        return JSONResponse({"answers": await intake.ask(await request_in(request))})

    @app.get("/answers/{answer_id}/report")
    async def report(answer_id: str, corpus: str = "default") -> Response:
        return HTMLResponse(await asyncio.to_thread(report_of, answer_id, corpus))

    @app.get(HEALTH)
    async def health() -> dict[str, int]:
        return {"waiting": len(waiting), "room": intake.room}

    @app.middleware("http")
    async def guarded(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            require_welcome(request, token)
            return await call(request)
        except Exception as error:
            return refusal(error, of_question=request.url.path == ASK)

    return app


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
    """Return the page of an answer, with what is published now."""
    location = corpus_location(corpus)
    with open_for_reading(location) as snapshot:
        answer = find_answer(location, answer_id, present={record.id for record in snapshot.documents()})
        return render_report(answer, snapshot, kept_artifacts()).html
