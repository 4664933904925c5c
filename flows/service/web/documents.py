"""A document: its sections and pages, each with the places that an answer cites, and its removal."""

import asyncio
from enum import IntEnum
from urllib.parse import quote

from fastapi import APIRouter, Response

from flows.service.web.html import html
from storage.cleaning.removing import remove_document
from storage.errors import UnknownError
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.records.documents import Page
from storage.text import printable_path
from tasks.readers.page_pictures import NoPictureError, SourceCopies
from tasks.report.evidence import Numbered, cited_pages, marks_of
from tasks.report.pictures import SETTINGS, draw_page
from tasks.report.sheets import Exhibit
from tasks.views.answers import place_words
from tasks.views.documents import find_page, open_document, view_outline, view_receipt

READERS_SECONDS = 3.0
"""How long a removal on the page waits for readers of the document."""


SMALL_WIDTH = 200
"""Pixels of a page in a list."""
EMPTY_SHEET = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 4"/>'


class Zoom(IntEnum):
    FIT = 100
    LARGE = 150
    LARGEST = 250


router = APIRouter(prefix="/documents")


@router.get("/{document}")
def show_document(document: str, corpus: str = "default") -> Response:
    """Show a document's state, sections and pages."""
    with open_document(corpus, document) as found:
        return html("document.html", corpus=corpus, outline=view_outline(*found))


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
        why=why,
        marks=marks_of(citations),
        texts=[Exhibit(node, (), tuple(each.quote for _, each in citations if each.node_id == node.id), None) for node in nodes],
    )


@router.get("/{document}/pages/{number}/picture")
def picture(document: str, number: int, corpus: str = "default") -> Response:
    """Return a small picture of a page, for lists; an empty sheet where there is none."""
    with open_document(corpus, document) as (snapshot, record):
        found = find_page(snapshot, record, number)
    drawn, _why = draw_page(record, found, SMALL_WIDTH)
    data, kind = (drawn.data, "webp") if drawn else (EMPTY_SHEET, "svg+xml")
    return Response(data, media_type=f"image/{kind}", headers={"Cache-Control": "private, max-age=3600"})


@router.get("/{document}/file")
def original(document: str, corpus: str = "default") -> Response:
    """Return the document's very bytes, to be kept and not shown: they may be a page with a script."""
    with open_document(corpus, document) as (_snapshot, record), SourceCopies(SETTINGS.limits.file_megabytes) as copies:
        try:
            data = copies.of(record).read_bytes()
        except NoPictureError as error:
            what = f"the file of {record.name} is not here any more as it was read"
            raise UnknownError(what, record.name, "ingest it again, or read its pages") from error
    kept = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(record.name, safe='')}"}
    return Response(data, media_type="application/octet-stream", headers=kept)


def cited_on(page: Page, answer: Answer) -> list[Numbered]:
    return cited_pages(answer.citations).get((page.document_id, page.number), [])
