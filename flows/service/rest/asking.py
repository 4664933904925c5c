"""Questions and their progress; passages, answers with their reports and lineage; metrics."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field

from flows.service.news import LatestEvents
from flows.service.paths import from_root, roots_of
from flows.service.received import JSON, parse_form, read_body, run_while_connected
from flows.service.refusals import refusal_of_question
from flows.service.rest.forms import AnswerNamed, Corpus, Cursor, of_kind
from storage.cleaning.threads import RemovedThread, remove_thread
from storage.corpus.snapshot import open_for_reading
from storage.errors import ExpectedError, RequestError
from storage.locations import corpus_location
from storage.runs.answer_json import answer_json
from tasks.asking.request import QUESTION_BOUNDS, AskRequest
from tasks.events import DraftGrown
from tasks.report.write import report_of
from tasks.views.answers import AnswersView, AnswerView, view_answer, view_answers
from tasks.views.checks import VerificationView
from tasks.views.runs import AnswerLineageView, lineage_json, view_lineage

MOST_QUESTIONS = 64
"""In one request: more would hold a seat for hours."""

STREAM = "/ask/stream"

router, stream = APIRouter(tags=["answers"]), APIRouter()


class AnswersGiven(BaseModel):
    answers: list[AnswerView]


class TextGiven(BaseModel):
    text: str = Field(description="plain text or Markdown; what is checked stands between quotation marks, or is a number")


TEXT = {"requestBody": {"required": True, "content": {JSON: {"schema": TextGiven.model_json_schema()}}}}
FORM = {"requestBody": {"required": True, "content": {JSON: {"schema": {"$ref": "#/components/schemas/AskRequest"}}}}}


@router.get("/corpora/{corpus}/search")
async def passages(
    request: Request,
    corpus: Corpus,
    query: Annotated[str, Query(examples=["revenue in 2024"], json_schema_extra=QUESTION_BOUNDS)],
    documents: Annotated[
        list[str] | None, Query(description="only these: at least 8 digits of an id, a file name, or a part that no other has")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    cursor: Cursor = 0,
) -> dict[str, Any]:
    """Rank the passages for a query, each with page, box and quote; nothing is answered, and nothing kept."""
    asked = AskRequest(questions=(query,), corpus=corpus, documents=tuple(documents or ()))
    hits, more = await run_while_connected(request, request.app.state.intake.search(asked, cursor, limit))
    return {"query": query, "passages": hits, "next_cursor": more}


@router.post("/corpora/{corpus}/verify", openapi_extra=TEXT)
async def verify(request: Request, corpus: Corpus) -> VerificationView:
    """Look for the quotes and numbers of a text in a corpus, each with page and box; no model is asked, and nothing kept."""
    given = parse_form(TextGiven, await read_body(request))
    return await run_while_connected(request, request.app.state.intake.verify(given.text, corpus))


@router.post("/ask", responses={200: {"model": AnswersGiven}}, openapi_extra=FORM)
async def ask(request: Request) -> Response:
    """Answer questions from a corpus, each with numbered citations; without a chat model the evidence is quoted."""
    answering = request.app.state.intake.ask(parse_request(await read_body(request)))
    return JSONResponse({"answers": await run_while_connected(request, answering)})


@router.get("/corpora/{corpus}/answers")
def answers(corpus: Corpus, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> AnswersView:
    """List the newest answers, in short."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        newest = view_answers(snapshot.newest_answers(limit), snapshot)
    return AnswersView.model_validate({"corpus": corpus, "answers": newest})


@router.get("/corpora/{corpus}/answers/{answer}", responses={200: {"model": AnswerView}})
def answer(corpus: Corpus, answer: AnswerNamed) -> Response:
    """Show an answer again, without what quotes a document that was removed since."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        found = view_answer(snapshot.answer(answer), snapshot)
    return JSONResponse(answer_json(found))


@router.delete("/corpora/{corpus}/answers/{answer}")
def remove(corpus: Corpus, answer: AnswerNamed) -> RemovedThread:
    """Delete an answer with its whole thread: the questions in a row that it belongs to."""
    return remove_thread(corpus_location(corpus), answer)


@router.get(
    "/corpora/{corpus}/answers/{answer}/report",
    response_class=Response,
    responses=of_kind("text/html", "a page that holds all it needs"),
)
def report(corpus: Corpus, answer: AnswerNamed) -> Response:
    """Show an answer as a page of HTML that holds all it needs."""
    return HTMLResponse(report_of(answer, corpus))


@router.get("/corpora/{corpus}/answers/{answer}/lineage", responses={200: {"model": AnswerLineageView}})
def lineage(corpus: Corpus, answer: AnswerNamed) -> Response:
    """Tell how an answer came about: its run, steps, calls of models, and the documents it was read from."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        found = lineage_json(view_lineage(snapshot, snapshot.answer(answer).answer_id))
        return JSONResponse(from_root(found, roots_of(snapshot.documents())))


@router.get("/metrics", response_class=Response, responses=of_kind("text/plain", "for Prometheus"))
def metrics(request: Request) -> Response:
    """Show what was counted since the service began."""
    return Response(request.app.state.metrics(), media_type="text/plain; version=0.0.4")


def parse_request(body: bytes) -> AskRequest:
    """Return the AskRequest; raise RequestError, naming the field, where the body is none, or for too many questions."""
    asked = parse_form(AskRequest, body)
    if (many := len(asked.questions)) > MOST_QUESTIONS:
        raise RequestError("too many questions in one request", str(many), f"send at most {MOST_QUESTIONS} at a time")
    return asked


async def follow_question(request: Request, response: Response) -> LatestEvents:
    """Take a question in and follow it; refusals come before the stream begins. The header has the address that stops it."""
    asked, intake = parse_request(await read_body(request)), request.app.state.intake
    if len(asked.questions) != 1:
        raise RequestError("a stream is about one question", str(len(asked.questions)), "send one, or many to /api/v1/ask")
    news = LatestEvents(intake.take_in(asked))
    response.headers["Location"] = f"{STREAM}/{news.asked.id}"
    return news


@stream.delete(f"{STREAM}/{{question_id}}", status_code=204)
async def stop(request: Request, question_id: str) -> None:
    request.app.state.intake.stop(question_id)


@stream.post(STREAM, response_class=EventSourceResponse)
async def tell(news: Annotated[LatestEvents, Depends(follow_question)]) -> AsyncIterator[ServerSentEvent]:
    """Yield `stage` and `draft`, then `error` or `answer`; `withdrawn` precedes an answer that does not begin with the draft."""
    draft = ""
    async for event in news.follow():
        if isinstance(event, DraftGrown):
            draft = event.text
            yield make_event("draft", {"text": draft})
        else:
            parts = {"done": event.done, "of": event.of} if event.of else {}
            yield make_event("stage", {"words": event.words, **parts})
    try:
        (answer,) = await news.asked.wait_for_answers()
    except (ExpectedError, OSError) as error:
        yield make_event("error", refusal_of_question(error).error.model_dump())
        return
    if not answer["answer"].startswith(draft):
        yield make_event("withdrawn", {})
    yield make_event("answer", answer)


def make_event(event: str, value: Mapping[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(event=event, raw_data=json.dumps(value))
