"""Corpora and documents: what is there, pages with their texts and pictures, tables, and removal."""

import asyncio
import csv
import io
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response

from flows.service.paths import from_root, roots_of
from flows.service.rest.forms import Corpus, Cursor, DocumentNamed, Documents, Number, Width, of_kind
from storage.cleaning.removing import remove_document
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.memo import HEXADECIMAL
from storage.text import printable_path
from tasks.report.pictures import PICTURE_WIDTH, draw_page
from tasks.views.corpora import CorporaView, CorpusView, open_runs, view_corpora, view_corpus
from tasks.views.documents import (
    DocumentDetails,
    OutlineView,
    PageView,
    ReceiptView,
    find_page,
    open_document,
    view_details,
    view_document,
    view_outline,
    view_page,
    view_receipt,
)
from tasks.views.errors import RefusedError

router = APIRouter(tags=["documents"])


@router.get("/corpora")
def corpora() -> CorporaView:
    """List the corpora with what they hold."""
    return from_root(view_corpora())


@router.get("/corpora/{corpus}")
def status(corpus: Corpus) -> CorpusView:
    """Show a corpus: its documents with their states, and which ingests are at work or were killed."""
    location = corpus_location(corpus)
    runs = open_runs(location)
    with open_for_reading(location) as snapshot:
        return from_root(view_corpus(snapshot, runs), [path for run in runs for path in run.paths])


@router.get("/corpora/{corpus}/documents")
def documents(corpus: Corpus, cursor: Cursor = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Documents:
    """List the documents."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        listed = snapshot.documents()
    end = cursor + limit
    shown = list(map(view_document, listed[cursor:end]))
    return Documents(corpus=corpus, documents=shown, next_cursor=end if end < len(listed) else None)


@router.get("/corpora/{corpus}/documents/{document}")
def document(corpus: Corpus, document: DocumentNamed) -> DocumentDetails:
    """Show a document: its state, paths, outline and pages."""
    with open_document(corpus, document) as (snapshot, record):
        return from_root(view_details(snapshot, record), roots_of(snapshot.documents()))


@router.delete("/corpora/{corpus}/documents/{document}")
async def remove(corpus: Corpus, document: DocumentNamed) -> ReceiptView:
    """Remove a document, and the copy that was uploaded; the receipt says what went."""
    return view_receipt(await asyncio.to_thread(remove_document, corpus_location(corpus), printable_path(document), now=False))


@router.get("/corpora/{corpus}/documents/{document}/outline")
def outline(corpus: Corpus, document: DocumentNamed) -> OutlineView:
    """List the sections."""
    with open_document(corpus, document) as found:
        return view_outline(*found)


@router.get("/corpora/{corpus}/documents/{document}/pages/{page}")
def page(corpus: Corpus, document: DocumentNamed, page: Number) -> PageView:
    """Show the texts of a page in reading order, each with its box."""
    with open_document(corpus, document) as found:
        return view_page(*found, page)


@router.get(
    "/corpora/{corpus}/documents/{document}/pages/{page}/picture",
    response_class=Response,
    responses=of_kind("image/webp", "the picture"),
)
def picture(request: Request, corpus: Corpus, document: DocumentNamed, page: Number, width: Width = PICTURE_WIDTH) -> Response:
    """Draw a page; boxes of texts and citations are parts of its width and height."""
    with open_document(corpus, document) as (snapshot, record):
        found = find_page(snapshot, record, page)
    # A browser must ask each time: the document may have been removed.
    headers = {"ETag": f'"{record.id}-{page}-{width}"', "Cache-Control": "private, no-cache"}
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    drawn, why = draw_page(record, found, width)
    if not drawn:
        raise RefusedError(404, f"page {page} of {record.name!r} has no picture: {why}", record.name, "its texts can be had")
    return Response(drawn.data, media_type="image/webp", headers=headers)


@router.get(
    "/corpora/{corpus}/documents/{document}/tables/{node}.csv",
    response_class=Response,
    responses=of_kind("text/csv", "the table"),
)
def table(corpus: Corpus, document: DocumentNamed, node: str) -> Response:
    """Give the cells of a table, named by its node's id, as CSV: as the document has them, so that a formula stays one."""
    with open_document(corpus, document) as (snapshot, record):
        found = snapshot.find_nodes([node]) if HEXADECIMAL.fullmatch(node) else []
        rows = snapshot.passages_and_rows([node])[1].get(node) if [each.document_id for each in found] == [record.id] else None
    if not rows:
        what = f"{record.name!r} has no table {node[:100]!r}"
        raise RefusedError(404, what, node[:100], "take the `node` of a table on one of its pages")
    text = io.StringIO()
    csv.writer(text).writerows(row.cells for row in sorted(rows, key=lambda row: row.row))
    attached = f"attachment; filename*=UTF-8''{quote(record.name, safe='')}-{node[:8]}.csv"
    return Response(text.getvalue(), media_type="text/csv", headers={"Content-Disposition": attached})
