"""A document: its sections and pages, each with the places that an answer cites, and its removal."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import ExitStack
from enum import IntEnum
from pathlib import PurePath
from urllib.parse import parse_qs, quote

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from starlette.background import BackgroundTask

from flows.service.again import read_again
from flows.service.received import FORM, read_body
from flows.service.web.html import html
from flows.service.web.library import view_row
from storage.cleaning.removing import remove_document
from storage.errors import UnknownError
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.records.documents import Node, Page
from storage.text import printable_path
from tasks.readers.page_pictures import NoPictureError, SourceCopies
from tasks.report.evidence import Numbered, cited_pages, marks_of
from tasks.report.pictures import NO_PICTURES, SETTINGS, Picture, draw_page
from tasks.report.sheets import Exhibit
from tasks.views.answers import place_words
from tasks.views.documents import find_page, open_document, view_outline, view_receipt

READERS_SECONDS = 3.0
"""How long a removal on the page waits for readers of the document."""
SMALL_WIDTH = 200
"""Pixels of a page in a list."""
NO_PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 36 48" font-family="sans-serif" font-size="9"
 text-anchor="middle" fill="#80868d"><text x="18" y="27">{}</text></svg>"""
DRAWING, DAY_SECONDS = CapacityLimiter(2), 24 * 3600
"""Small pictures that are drawn at once, and how long browsers keep them: what an id names never changes."""


class Zoom(IntEnum):
    FIT = 100
    LARGE = 150
    LARGEST = 250


router = APIRouter(prefix="/documents")


@router.get("/{document}")
def show_document(request: Request, document: str, corpus: str = "default") -> Response:
    """Show a document's state, sections and pages."""
    ingests = request.app.state.ingests.list_of(corpus)
    with open_document(corpus, document) as found:
        return html("document.html", corpus=corpus, document=view_row(found[1], ingests, request), outline=view_outline(*found))


@router.post("/{document}/again")
async def again(request: Request, document: str, corpus: str = "default") -> Response:
    """Read its file again, with the password that the form may give; the page of the corpus shows how that goes."""
    given, state = parse_qs((await read_body(request, FORM)).decode("utf-8", "replace")), request.app.state
    await read_again(state.ingests, corpus, document, given.get("password", [""])[0], everywhere=state.has_token)
    return RedirectResponse(f"/?corpus={quote(corpus)}#library", 303)


@router.post("/{document}/remove")
async def remove(document: str, corpus: str = "default") -> Response:
    """Remove a document at once, and show the receipt; what is being read goes later."""
    location = corpus_location(corpus)
    receipt = await asyncio.to_thread(remove_document, location, printable_path(document), now=True, patience=READERS_SECONDS)
    return html("removed.html", corpus=corpus, receipt=view_receipt(receipt))


@router.get("/{document}/pages/{number}")
def page(document: str, number: int, corpus: str = "default", answer: str = "", cited: int = 0, zoom: Zoom = Zoom.FIT) -> Response:
    """Show a page with the places that the answer cites, one of them highlighted, or its words where it has no picture."""
    with open_document(corpus, document) as (snapshot, record):
        found = find_page(snapshot, record, number)
        citations = cited_on(found, snapshot.answer(answer)) if answer else []
        nodes = snapshot.nodes_on(record.id, number)
    picture, why = draw_page(record, found)
    return html(
        "page_view.html",
        framed=True,
        corpus=corpus,
        answer=answer,
        cited=cited,
        zoom=zoom,
        record=record,
        page=found,
        place=place_words(record, found.number, found.label),
        picture=picture,
        why="" if why == NO_PICTURES else why,
        marks=marks_of(citations),
        texts=[exhibit_of(node, citations) for node in nodes],
    )


@router.get("/{document}/pages/{number}/picture")
async def picture(document: str, number: int, corpus: str = "default") -> Response:
    """Return a small picture of a page, for lists; a sheet with the kind of file where there is none."""
    # Lists ask for many at once, and each takes a process: a question that is asked meanwhile should not wait for all.
    name, drawn = await to_thread.run_sync(draw_small, document, number, corpus, limiter=DRAWING)
    if drawn is None:
        kind = re.sub(r"\W", "", PurePath(name).suffix)[:4].upper()
        return Response(NO_PICTURE.format(kind), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
    return Response(drawn.data, media_type="image/webp", headers={"Cache-Control": f"private, max-age={DAY_SECONDS}"})


def draw_small(document: str, number: int, corpus: str) -> tuple[str, Picture | None]:
    """Return the document's name and the picture, None where there is none."""
    with open_document(corpus, document) as (snapshot, record):
        found = find_page(snapshot, record, number)
    return record.name, draw_page(record, found, SMALL_WIDTH)[0]


@router.get("/{document}/file")
def original(document: str, corpus: str = "default") -> Response:
    """Return the document's very bytes, to be kept and not shown: they may be a page with a script."""
    with open_document(corpus, document) as (_snapshot, record), ExitStack() as held:
        copies = held.enter_context(SourceCopies(SETTINGS.limits.file_megabytes))
        try:
            path = copies.of(record)
        except NoPictureError as error:
            what = f"the file of {record.name} cannot be given: {error}"
            raise UnknownError(what, record.name, "ingest it again, or read its pages") from error
        gone = BackgroundTask(held.pop_all().close)
    return FileResponse(path, media_type="application/octet-stream", filename=record.name, background=gone)


def exhibit_of(node: Node, citations: Sequence[Numbered]) -> Exhibit:
    own = [(number, each.quote) for number, each in citations if each.node_id == node.id]
    return Exhibit(node, tuple(number for number, _ in own), tuple(quote for _, quote in own), None)


def cited_on(page: Page, answer: Answer) -> list[Numbered]:
    return cited_pages(answer.citations).get((page.document_id, page.number), [])
