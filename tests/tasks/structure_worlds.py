"""Parsed pages of a few blocks, and what structure becomes of them."""

from storage.records.documents import Block, PageParser, ParsedDocument, ParsedPage
from tasks.content_graph.structure import structure_document
from tasks.settings.ingest import ReadingSettings

HTML = "<table><tr><td>Region</td><td>2023</td></tr><tr><td>North</td><td>4.1</td></tr></table>"
MORE = "<table><tr><td>South</td><td>3.9</td></tr></table>"


def structure(*pages, size=(600, 800), parser=PageParser.MINERU, outline=(), title="", levels_read=None):
    parsed = ParsedDocument(
        document_id="d" * 64,
        media_type="application/pdf",
        title=title,
        pages=tuple(ParsedPage(number, *size, parser, tuple(blocks)) for number, blocks in enumerate(pages, 1)),
        outline=tuple(outline),
    )
    return structure_document(parsed=parsed, version="v", settings=ReadingSettings(), levels_read=levels_read or {})


def block(kind, text="", top=0.1, bottom=None, **more):
    return Block(kind=kind, text=text, box=(0.1, top, 0.9, bottom or top + 0.02), **more)
