"""The step in which a model reads a document page by page, with the pictures of its pages."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from storage.records.documents import Page, ParsedDocument
from tasks.content_graph.analysis import analyze_nodes, summarize_pages
from tasks.content_graph.description import describing
from tasks.content_graph.page_by_page import described_by_pages, edges_of_pages, read_page_by_page
from tasks.content_graph.structure import Structured, structure_document
from tasks.finding.plan import DocumentWork
from tasks.ingest import keys
from tasks.ingest.steps import NotKeptError, add_notes, require_enough_replies
from tasks.parsing.jobs import PDF
from tasks.parsing.parse import ParseError, render_page
from tasks.progress import report
from tasks.step import MODEL, step


@step("see-pages", version="1", retries=0, cache_key=keys.version_key, summary=keys.hash_structured, tag=lambda *_: MODEL)
def see_pages(work: DocumentWork, parsed: ParsedDocument, analyzed: Structured, tools: keys.IngestTools) -> Structured:
    """Have the model read every page: the outline, what elements say and what they have to do with each other.

    A page that cannot be drawn is read by its words, and notes it. Raises TooFewRepliesError as `analyze` does, NotKeptError where
    there is no file to draw from.
    """
    assert tools.chat is not None
    reading = tools.settings.reading
    pages, undrawn = {page.number: page for page in analyzed.pages}, dict[int, str]()

    def picture_of(number: int) -> bytes | None:
        try:
            return _draw(pages[number], parsed.media_type, work, tools)
        except ParseError as error:
            undrawn[number] = f"not seen by the model: {error.reason}"
            return None

    asking = describing(work.document_id, work.name, analyzed.nodes, analyzed.pages, reading, tools.artifacts)
    read = read_page_by_page(
        asking,
        chat=tools.chat,
        picture_of=picture_of,
        on_nodes=partial(report, work.document_id, "see-pages"),
    )
    require_enough_replies(read.errors, asked=len(read.errors) + len(read.levels), share=tools.settings.limits.undescribed_share)
    seen = structure_document(parsed=parsed, version=work.version, settings=reading, levels_read=read.levels)
    by_rules = analyze_nodes(nodes=seen.nodes, rows=seen.rows, settings=reading.analysis)
    nodes = described_by_pages(by_rules, read, reading.analysis)
    drawn = [replace(page, note="; ".join(filter(None, (page.note, undrawn.get(page.number))))) for page in seen.pages]
    noted = add_notes(drawn, [node.page for node in nodes], read.errors, "described by rules")
    return replace(
        seen,
        nodes=nodes,
        pages=summarize_pages(pages=noted, nodes=nodes, settings=reading.analysis),
        edges=edges_of_pages(nodes, read, seen.edges, reading.evolution.structural_weights.by_kind()),
        unfinished=keys.may_be_mended(read.errors),
    )


def _draw(page: Page, media_type: str, work: DocumentWork, tools: keys.IngestTools) -> bytes | None:
    """Return the page's picture, kept or drawn; None for a format without one."""
    if page.image:
        return tools.artifacts.read(page.image)
    if media_type != PDF or page.width_points <= 0:
        return None
    if not work.path:
        raise NotKeptError("its pages are to be drawn for the model; ingest its file")
    return render_page(
        Path(work.path),
        page=page.number,
        dpi=tools.settings.reading.analysis.pages_model.dpi,
        settings=tools.settings,
        document_id=work.document_id,
        password=work.password,
    )
