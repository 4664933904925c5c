"""The page for people: a question, how it goes, its answer with the evidence; the documents, and what was asked before.

It is read without script, too: then the question is a form, and its reply leads to the answer's page.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from flows.service.received import WrongHostError, checked, error_of, received, status_of
from storage.artifacts import kept_artifacts
from storage.catalog.in_use import corpora_in
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.errors import ExpectedError
from storage.locations import corpora_folder, corpus_location, home
from storage.records.answers import Answer
from storage.records.documents import DocumentRecord
from storage.runs.answers import find_answer, newest_answers
from tasks.asking.request import AskRequest
from tasks.models.endpoints import chat_endpoint
from tasks.reading.judging import STATUS_WORDS
from tasks.report.page import STYLE
from tasks.report.write import render_report
from tasks.settings.readers import READERS

FOLDER = Path(__file__).parent
ANSWERS_SHOWN, DOCUMENTS_SHOWN = 20, 500
FORM = "application/x-www-form-urlencoded"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
TEMPLATES = Environment(
    loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
TEMPLATES.globals |= {"READERS": READERS, "STATUS_WORDS": STATUS_WORDS}

router = APIRouter()
static = StaticFiles(directory=FOLDER / "static")


@router.get("/")
async def begin(corpus: str = "") -> Response:
    """Show the page of a corpus, by default of the first."""
    return await asyncio.to_thread(page, corpus)


@router.post("/")
async def ask(request: Request) -> Response:
    """Answer the form's question, and lead to its answer; what is wrong stands on the page."""
    require_own_page(request)
    fields = {name: values[0] for name, values in parse_qs((await received(request, FORM)).decode("utf-8", "replace")).items()}
    corpus, question, reader = (fields.get(name, "") for name in ("corpus", "question", "reader"))
    try:
        asked = {"questions": [question], "corpus": corpus, "reader": reader or "flow", "settings": reading(fields.get("by", ""))}
        (answer,) = await request.app.state.intake.ask(checked(AskRequest, asked))
    except (ExpectedError, OSError) as error:
        words = error_of(error, of_question=True)
        return await asyncio.to_thread(page, corpus, error=words, question=question, reader=reader, status=status_of(error))
    return RedirectResponse(f"/answers/{answer['answer_id']}/report?corpus={quote(corpus)}", 303)


@router.get("/answers/{answer_id}/report")
async def report(answer_id: str, corpus: str = "default") -> Response:
    """Show an answer with its evidence."""
    return HTMLResponse(await asyncio.to_thread(report_of, answer_id, corpus))


def report_of(answer_id: str, corpus: str) -> str:
    location = corpus_location(corpus)
    with open_for_reading(location) as snapshot:
        answer = find_answer(location, answer_id, present={record.id for record in snapshot.documents()})
        return render_report(answer, snapshot, kept_artifacts()).html


@router.get("/style.css")
def style() -> Response:
    """One style for the page and the reports, which carry their own."""
    return Response(f"{STYLE.read_text('utf-8')}\n{(FOLDER / 'static' / 'page.css').read_text('utf-8')}", media_type="text/css")


def reading(by: str) -> dict[str, Any]:
    return {"reading": {"by": by}} if by else {}


def require_own_page(request: Request) -> None:
    """Raise WrongHostError where a form comes from a page of somebody else."""
    origin = request.headers.get("Origin", "")
    if urlsplit(origin).netloc != request.headers.get("Host"):
        raise WrongHostError("the question comes from another page", origin[:100], "ask it on the page of the query service itself")


def page(
    corpus: str, *, error: dict[str, str] | None = None, question: str = "", reader: str = "", status: int = 200
) -> HTMLResponse:
    names = [location.name for location in corpora_in(corpora_folder()) if location.current.exists()]
    if corpus and corpus not in names and error is None:
        raise UnknownCorpusError(f"corpus {corpus!r} is not here; / shows those that are")
    chosen = corpus if corpus in names else next(iter(names), "")
    documents, answers = shown(chosen) if chosen else ([], [])
    html = TEMPLATES.get_template("ask.html").render(
        corpora=names,
        corpus=chosen,
        documents=documents[:DOCUMENTS_SHOWN],
        more_documents=len(documents[DOCUMENTS_SHOWN:]),
        answers=answers,
        error=error,
        question=question,
        reader=reader or READERS[0],
        model=chat_endpoint() is not None,
        home=home(),
    )
    # With "no-referrer" the form would not say where it comes from.
    return HTMLResponse(html, status, {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"})


def shown(corpus: str) -> tuple[Sequence[DocumentRecord], Sequence[Answer]]:
    """Return the documents, those that are not ready first, and the newest answers."""
    location = corpus_location(corpus)
    with open_for_reading(location) as snapshot:
        records = sorted(snapshot.documents(), key=lambda record: (record.state == "ready", record.name))
    return records, newest_answers(location, ANSWERS_SHOWN, present={record.id for record in records})
