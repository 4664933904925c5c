"""The step in which a model reads a document page by page, with the pictures of its pages."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from storage.records.documents import ParsedDocument
from tasks.content_graph.analysis import analyze_nodes, summarize_pages
from tasks.content_graph.description import describing
from tasks.content_graph.page_by_page import described_by_pages, edges_of_pages, read_page_by_page
from tasks.content_graph.structure import Structured, structure_document
from tasks.finding.plan import DocumentWork
from tasks.ingest import keys
from tasks.ingest.steps import NotKeptError, add_notes, require_enough_replies
from tasks.parsing.jobs import PDF
from tasks.parsing.parse import ParseError, open_pages
from tasks.progress import report
from tasks.step import MODEL, step


@step("see-pages", version="1", retries=0, cache_key=keys.version_key, summary=keys.hash_structured, tag=lambda *_: MODEL)
def see_pages(work: DocumentWork, parsed: ParsedDocument, analyzed: Structured, tools: keys.IngestTools) -> Structured:
    """Have the model read every page: the outline, what elements say and what they have to do with each other.

    A page that cannot be drawn is read by its words, and notes it. Raises TooFewRepliesError as `analyze` does, NotKeptError where
    there is no file to draw from, ParseError where it cannot be opened.
    """
    assert tools.chat is not None
    reading, undrawn = tools.settings.reading, dict[int, str]()
    asking = describing(work.document_id, work.name, analyzed.nodes, analyzed.pages, reading, tools.artifacts)
    with _pictures(work, parsed, tools, undrawn, sees=tools.chat.abilities.sees) as picture_of:
        read = read_page_by_page(
            asking, chat=tools.chat, picture_of=picture_of, on_nodes=partial(report, work.document_id, "see-pages")
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


@contextmanager
def _pictures(
    work: DocumentWork, parsed: ParsedDocument, tools: keys.IngestTools, undrawn: dict[int, str], *, sees: bool
) -> Iterator[Callable[[int], bytes | None]]:
    """Give the picture of each page, kept or drawn; None where its format has none, or where `undrawn` says why."""
    kept = {page.number: page.image for page in parsed.pages}
    with ExitStack() as opened:
        draw = None
        if sees and parsed.media_type == PDF and not all(kept.values()):
            if not work.path:
                raise NotKeptError("its pages are to be drawn for the model; ingest its file")
            file = open_pages(Path(work.path), settings=tools.settings, document_id=work.document_id, password=work.password)
            draw = opened.enter_context(file)

        def picture_of(number: int) -> bytes | None:
            if image := kept[number]:
                return tools.artifacts.read(image)
            try:
                return draw(number, tools.settings.reading.analysis.pages_model.dpi) if draw else None
            except ParseError as error:
                undrawn[number] = f"not seen by the model: {error.reason}"
                return None

        yield picture_of
