"""The page for people: a question, its progress, its answer with the evidence; the documents, and earlier questions.

It works without script, too: then the question is a form, and its reply leads to the answer's page.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from flows.service.received import FORM, parse_form, read_body, run_while_connected
from flows.service.refusals import refusal_of, refusal_of_question
from flows.service.web.html import html
from flows.service.web.library import EMPTY, list_coming, list_corpora, look_into
from storage.corpus.snapshot import open_for_reading
from storage.errors import ExpectedError, UnknownError
from storage.locations import corpus_location
from tasks.asking.request import AskRequest
from tasks.models.endpoints import EndpointError
from tasks.reading.choice import settle_reading
from tasks.settings.ask import AskSettings
from tasks.settings.readers import READERS
from tasks.views.corpora import view_corpora
from tasks.views.errors import ErrorView

USUAL = "default"

router = APIRouter()


REMEMBERED, YEAR_SECONDS = "flowreader-corpus", 365 * 24 * 3600
"""The cookie that names the corpus whose page this browser saw last."""


@router.get("/")
async def begin(request: Request, corpus: str = "") -> Response:
    """Show the page of a corpus, even one that does not exist yet; by default the one that this browser saw last."""
    return await asyncio.to_thread(page, request, corpus or request.cookies.get(REMEMBERED, ""), named=bool(corpus))


@router.post("/")
async def ask(request: Request) -> Response:
    """Answer the form's question, and redirect to its answer; errors are shown on the page."""
    given = parse_qs((await read_body(request, FORM)).decode("utf-8", "replace"))
    fields = {name: values[0] for name, values in given.items()}
    corpus, question, reader, follow = (fields.get(name, "") for name in ("corpus", "question", "reader", "follow"))
    try:
        limits = {"documents": given.get("documents", []), "follow": follow or None, "settings": settings_in(fields)}
        asked = {"questions": [question], "corpus": corpus, "reader": reader or READERS[0], **limits}
        (answer,) = await run_while_connected(request, request.app.state.intake.ask(parse_form(AskRequest, asked)))
    except (ExpectedError, OSError) as error:
        refusal = refusal_of_question(error)
        # An answer that is gone can be followed no more.
        kept = "" if isinstance(error, UnknownError) else follow
        shown = partial(page, request, corpus, question=question, reader=reader, follow=kept)
        return await asyncio.to_thread(shown, error=refusal.error, status=refusal.status)
    return RedirectResponse(f"/answers/{answer['answer_id']}?corpus={quote(corpus)}", 303)


def settings_in(fields: Mapping[str, str]) -> dict[str, Any]:
    by, pages = fields.get("by", ""), fields.get("pages", "")
    wanted = pages.isdecimal() and fields.get("reader", READERS[0]) == READERS[0]
    return ({"reading": {"by": by}} if by else {}) | ({"pages_per_answer": int(pages)} if wanted else {})


def choose_corpus(names: Sequence[str]) -> str:
    """Return the corpus to begin with: `default`, else the largest; `default` also where there is none yet."""
    if USUAL in names or not names:
        return USUAL
    return max(view_corpora().corpora, key=lambda row: row.documents).corpus


def page(
    request: Request,
    corpus: str,
    *,
    named: bool = False,
    error: ErrorView | None = None,
    question: str = "",
    reader: str = "",
    follow: str = "",
    status: int = 200,
) -> HTMLResponse:
    """Return the page of the corpus if it exists, or is `named` and could; else of the usual one."""
    names = list_corpora()
    chosen = corpus if corpus in names or (named and corpus_location(corpus)) else choose_corpus(names)
    contents = {**EMPTY, "coming": list_coming(request.app.state.ingests.list_of(chosen))}
    try:
        if chosen in names:
            with open_for_reading(corpus_location(chosen)) as snapshot:
                contents = look_into(snapshot, request)
    except (ExpectedError, OSError) as damage:
        error = error or refusal_of(damage).error
    try:
        model, trouble = settle_reading(AskSettings()).reading.by == "model", ""
    except EndpointError as wrong:
        model, trouble = False, str(wrong)
    reply = html(
        "ask.html",
        status,
        corpora=names,
        corpus=chosen,
        is_new=chosen not in names,
        error=error,
        question=question,
        reader=reader or READERS[0],
        follow=follow,
        model=model,
        trouble=trouble,
        **contents,
    )
    if chosen in names:
        reply.set_cookie(REMEMBERED, chosen, max_age=YEAR_SECONDS, httponly=True, samesite="strict")
    return reply
