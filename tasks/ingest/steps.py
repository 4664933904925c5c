"""The steps that make a graph of a document, each with its version, its key and what it calls.

A step's version is raised when its code makes another result of the same inputs, and with it GRAPH_VERSION in
tasks/finding/plan.py.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from storage.locations import pictures_folder
from storage.records.documents import DocumentGraph, DocumentState, Node, Page, PageParser, ParsedDocument, Vectors
from storage.records.embedded import Embedded, Tokens
from storage.text import counted
from tasks.algorithms.links import EvolvedVectors, lite_round
from tasks.algorithms.text.leaning import widespread_words
from tasks.content_graph.analysis import analyze_nodes, embedding_text, summarize_pages
from tasks.content_graph.asking import uses_short_forms
from tasks.content_graph.description import described_places, describing, telling_pictures
from tasks.content_graph.evolution import evolve_document
from tasks.content_graph.links import Judge
from tasks.content_graph.model_analysis import describe_nodes
from tasks.content_graph.model_evolution import EvolvedNodes, edges_of_rounds, judge_round
from tasks.content_graph.model_map import map_calls, sum_up
from tasks.content_graph.structure import Structured, structure_document
from tasks.finding.plan import DocumentWork
from tasks.ingest import keys
from tasks.models.chat.errors import ChatError
from tasks.models.chat.model import ChatModel
from tasks.models.embedding.embedder import Embedder
from tasks.parsing.parse import ParseError, parse_file
from tasks.parsing.pictures_read import read_words
from tasks.progress import report
from tasks.step import MODEL, ONCE, PARSE, step


def embed_nodes(
    *, texts: Sequence[str], embedder: Embedder, batch_nodes: int, on_nodes: Callable[[int, int], None], keeps_tokens: bool = False
) -> Embedded:
    """Embed the texts of one document; batches are cut in node order, so that a second run cuts the same.

    `on_nodes(done, total)` is called after each batch.
    """
    vectors, tokens = [np.zeros((0, embedder.identity.dimension), np.float32)], list[Tokens]()
    for first in range(0, len(texts), batch_nodes):
        embedded = embedder.embed_documents(texts[first : first + batch_nodes])
        vectors.append(embedded.vectors)
        tokens += [embedded.tokens] if keeps_tokens and embedded.tokens is not None else []
        on_nodes(min(first + batch_nodes, len(texts)), len(texts))
    return Embedded(np.concatenate(vectors), tuple(chain.from_iterable(tokens)) if tokens else None)


def page_vectors(*, pages: Sequence[Page], nodes: Sequence[Node], vectors: Vectors) -> Vectors:
    """Return for each page the unit mean of its nodes' vectors, weighted by their words; zeros for a page without nodes.

    A node without words counts as one word.
    """
    row_of_page = {page.number: row for row, page in enumerate(pages)}
    sums = np.zeros((len(pages), vectors.shape[1]), dtype=np.float64)
    for node, vector in zip(nodes, vectors, strict=True):
        words = max(1, len(node.search_text.split()))
        sums[row_of_page[node.page]] += words * vector.astype(np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    mean: Vectors = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0).astype(np.float32)
    return mean


class NotKeptError(RuntimeError):
    """An earlier reading is needed and no longer kept: the document stays as it is until its file is read."""


class TooFewRepliesError(RuntimeError):
    """Too many nodes got no usable reply: the document fails, what came is kept, and the next ingest asks for the rest."""


def require_enough_replies(errors: Mapping[int, ChatError], *, asked: int, share: float, what: str = "nodes") -> None:
    """Raise TooFewRepliesError where more than this share of what was asked about, and more than one, got no usable reply."""
    if len(errors) > max(1.0, share * asked):
        first = next(iter(errors.values()))
        raise TooFewRepliesError(
            f"{len(errors)} of {asked} {what} got no usable reply from the model, the first: {first}; "
            "the other replies are kept, the next ingest asks again"
        )


def add_notes(
    pages: Sequence[Page], page_of: Sequence[int], errors: Mapping[int, ChatError], what: str, thing: str = "element"
) -> tuple[Page, ...]:
    """Return the pages; one with elements without a usable reply notes how many, what they have instead, and why.

    `page_of` has the page of each place.
    """
    troubles: dict[int, Counter[str]] = {}
    for place, error in errors.items():
        troubles.setdefault(page_of[place], Counter())[str(error.outcome)] += 1
    return tuple(
        replace(page, note="; ".join(filter(None, (page.note, _note(troubles[page.number], what, thing)))))
        if page.number in troubles
        else page
        for page in pages
    )


def _note(outcomes: Counter[str], what: str, thing: str) -> str:
    reasons = ", ".join(f"{outcome} {number} times" if number > 1 else outcome for outcome, number in sorted(outcomes.items()))
    return f"{counted(outcomes.total(), thing)} {what}, because the model gave no usable reply ({reasons})"


@step("parse", version="1", retries=ONCE, cache_key=keys.parse_key, codec=keys.PARSED, tag=lambda *_: PARSE)
def parse(work: DocumentWork, tools: keys.IngestTools) -> ParsedDocument:
    """Read a file into pages of blocks, in a child process; raise NotKeptError where no file is to be read."""
    if not work.path:
        raise NotKeptError("no reading of it with these settings is kept; ingest its file with them")
    return parse_file(
        path=Path(work.path),
        document_id=work.document_id,
        password=work.password,
        settings=tools.settings,
        artifacts=tools.artifacts,
        on_pages=partial(report, work.document_id, "parse"),
    )


@step("read-words", version="1", retries=ONCE, cache_key=keys.words_key, codec=keys.PARSED)
def read_pictures(work: DocumentWork, parsed: ParsedDocument, tools: keys.IngestTools) -> ParsedDocument:
    """Read pages and figures without text by OCR; raise ParseError where nothing can be read at all."""
    settings = tools.settings.reading.ocr
    readable = read_words(
        parsed=parsed,
        settings=settings,
        artifacts=tools.artifacts,
        cache_folder=pictures_folder(),
        on_pictures=partial(report, work.document_id, "read-words"),
    )
    require_something_to_read(readable, ocr_enabled=settings.enabled)
    return readable


@step("structure", version="2", retries=0, cache_key=keys.version_key, summary=keys.hash_structured)
def structure(work: DocumentWork, parsed: ParsedDocument, tools: keys.IngestTools) -> Structured:
    """Turn blocks into sections, nodes, table rows and the edges that the layout states."""
    structured = structure_document(parsed=parsed, version=work.version, settings=tools.settings.reading)
    report(work.document_id, "structure", 1, 1)
    return structured


@step(
    "analyze",
    version="1",
    retries=ONCE,
    cache_key=keys.version_key,
    summary=keys.hash_structured,
    tag=lambda *of: of[-1].tag_of_chat,
)
def analyze(work: DocumentWork, structured: Structured, tools: keys.IngestTools) -> Structured:
    """Give every node its summary, keywords and search text, every page its summary (eq. 11)."""
    settings = tools.settings.reading.analysis
    nodes = analyze_nodes(nodes=structured.nodes, rows=structured.rows, settings=settings)
    analyzed = replace(structured, nodes=nodes)
    if tools.chat is not None and "model" in (settings.by, settings.pages) and not tools.reads_pages:
        analyzed = _describe(work, analyzed, tools, tools.chat)
    report(work.document_id, "analyze", 1, 1)
    return replace(analyzed, pages=summarize_pages(pages=analyzed.pages, nodes=analyzed.nodes, settings=settings))


def _describe(work: DocumentWork, analyzed: Structured, tools: keys.IngestTools, chat: ChatModel) -> Structured:
    """Let the model describe what rules have read; raise TooFewRepliesError where it fails on too much."""
    asking = describing(work.document_id, work.name, analyzed.nodes, analyzed.pages, tools.settings.reading, tools.artifacts)
    described = describe_nodes(asking, chat=chat, on_nodes=partial(report, work.document_id, "analyze"))
    require_enough_replies(described.errors, asked=described.asked, share=tools.settings.limits.undescribed_share)
    return replace(
        analyzed,
        nodes=described.nodes,
        pages=add_notes(analyzed.pages, [node.page for node in analyzed.nodes], described.errors, "described by rules"),
        unfinished=keys.may_be_mended(described.errors),
    )


@step("embed", version="3", retries=ONCE, cache_key=keys.vectors_key, codec=keys.EMBEDDED, tag=lambda *of: of[-1].tag_of_embedder)
def embed(work: DocumentWork, texts: Sequence[str], tools: keys.IngestTools) -> Embedded:
    """Embed the texts of a document's nodes (eq. 12), in batches cut in node order."""
    return embed_nodes(
        keeps_tokens=keys.keeps_tokens(tools),
        texts=texts,
        embedder=tools.embedder,
        batch_nodes=tools.settings.reading.embedding.batch_nodes,
        on_nodes=partial(report, work.document_id, "embed"),
    )


@step(
    "evolve-round",
    version="1",
    retries=0,
    cache_key=keys.round_key,
    summary=keys.vectors_hash,
)
def evolve_round(work: DocumentWork, number: int, before: EvolvedVectors, tools: keys.IngestTools) -> EvolvedVectors:
    """Move every node's vector towards its neighbours' for one round, by rule; it takes milliseconds and is not remembered."""
    return lite_round(before=before, number=number, neighbours=tools.settings.reading.evolution.neighbours)


@step("judge-links", version="1", retries=0, cache_key=keys.round_key, summary=keys.nodes_hash, tag=lambda *_: MODEL)
def judge_links(work: DocumentWork, number: int, before: EvolvedNodes, tools: keys.IngestTools) -> EvolvedNodes:
    """Have the model rewrite the nodes and name their links for one round (eq. 14); raise TooFewRepliesError as `analyze` does.

    What it replied is kept with the model's replies: a run that was killed does its rounds again without asking.
    """
    assert tools.chat is not None
    reading = tools.settings.reading
    analysis = reading.analysis.model
    subjects = described_places(before.nodes, reading.analysis, reading.ocr)
    seen = tools.chat.abilities.sees and reading.evolution.model.content_characters > 0
    judge = Judge(
        document_id=work.document_id,
        name=work.name,
        settings=reading.evolution.model,
        short=analysis.short if uses_short_forms(analysis.forms, tools.chat) else None,
        chat=tools.chat,
        on_nodes=partial(report, work.document_id, "judge-links"),
        total=len(subjects) * reading.evolution.rounds,
        artifacts=tools.artifacts,
        pictures=telling_pictures(before.nodes, reading.analysis, reading.ocr) if seen else {},
        done=len(subjects) * (number - 1),
    )
    judged = judge_round(before, number, subjects=subjects, settings=reading.evolution, judge=judge)
    require_enough_replies(judged.errors, asked=len(subjects), share=tools.settings.limits.undescribed_share)
    return judged


@step(
    "embed-round",
    version="1",
    retries=ONCE,
    cache_key=keys.round_vectors_key,
    codec=keys.VECTORS,
    tag=lambda *of: of[-1].tag_of_embedder,
)
def embed_round(work: DocumentWork, number: int, texts: Sequence[str], tools: keys.IngestTools) -> Vectors:
    """Embed what a round of a model wrote, as `embed` does; remembered until the document is published."""
    rounds = tools.settings.reading.evolution.rounds
    embedded = embed_nodes(
        texts=texts,
        embedder=tools.embedder,
        batch_nodes=tools.settings.reading.embedding.batch_nodes,
        on_nodes=lambda done, total: report(work.document_id, "embed-round", (number - 1) * total + done, rounds * total),
    )
    return embedded.vectors


@step("write-map", version="1", retries=0, cache_key=keys.version_key, summary=keys.hash_structured, tag=lambda *_: MODEL)
def write_map(work: DocumentWork, structured: Structured, tools: keys.IngestTools, evolved: keys.Evolved) -> Structured:
    """Have the model sum up pages and sections, after the rounds; raise TooFewRepliesError as `analyze` does."""
    assert tools.chat is not None
    structured = _as_evolved(structured, evolved, tools)
    asking = map_calls(work.document_id, work.name, structured, tools.settings.reading.analysis)
    entries, asked, errors = sum_up(asking, chat=tools.chat, on_entries=partial(report, work.document_id, "write-map"))
    require_enough_replies(errors, asked=asked, share=tools.settings.limits.undescribed_share, what="pages and sections")
    pages = tuple(replace(page, summary=entry.summary) for page, entry in zip(structured.pages, entries, strict=False))
    sections = zip(structured.sections, entries[len(pages) :], strict=True)
    for thing, what in (("page", "summed up by rules"), ("section", "without a summary")):
        of_kind = {place: error for place, error in errors.items() if (place < len(pages)) == (thing == "page")}
        pages = add_notes(pages, [entry.page for entry in entries], of_kind, what, thing)
    return replace(
        structured,
        pages=pages,
        sections=tuple(replace(section, summary=entry.summary) for section, entry in sections),
        unfinished=structured.unfinished or keys.may_be_mended(errors),
    )


@step("evolve", version="3", retries=ONCE, cache_key=keys.graph_key, codec=keys.GRAPH)
def evolve(
    work: DocumentWork,
    parsed: ParsedDocument,
    structured: Structured,
    initial: Embedded,
    tools: keys.IngestTools,
    evolved: keys.Evolved,
    second: Embedded | None = None,
) -> DocumentGraph:
    """Gather the finished graph of what the rounds left."""
    settings = tools.settings.reading.evolution
    if tools.settings.reading.analysis.map == "rules":  # else `write_map` did so
        structured = _as_evolved(structured, evolved, tools)
    if isinstance(evolved, EvolvedNodes):
        vectors, edges = evolved.vectors, edges_of_rounds(evolved, settings)
    else:
        nodes, vectors = structured.nodes, initial.vectors
        vectors, edges = evolve_document(nodes=nodes, initial_vectors=vectors, evolved=evolved, settings=settings)
    report(work.document_id, "evolve", 1, 1)
    return DocumentGraph(
        document_id=work.document_id,
        version=work.version,
        title=structured.title,
        media_type=parsed.media_type,
        pages=structured.pages,
        sections=structured.sections,
        nodes=structured.nodes,
        rows=structured.rows,
        edges=structured.edges + edges,
        initial_vectors=initial.vectors,
        vectors=vectors,
        page_vectors=page_vectors(pages=structured.pages, nodes=structured.nodes, vectors=vectors),
        second_vectors=second.vectors if second else None,
        tokens=initial.tokens,
        words=widespread_words((node.page, node.search_text) for node in structured.nodes),
    )


def _as_evolved(structured: Structured, evolved: keys.Evolved, tools: keys.IngestTools) -> Structured:
    """Return the structure with the nodes as a model rewrote them; pages say which of theirs it did not judge."""
    if not isinstance(evolved, EvolvedNodes):
        return structured
    on = [node.page for node in structured.nodes]
    pages = add_notes(structured.pages, on, evolved.errors, "linked as the round before left them")
    pages = summarize_pages(pages=pages, nodes=evolved.nodes, settings=tools.settings.reading.analysis)
    return replace(structured, nodes=evolved.nodes, pages=pages)


def embedding_texts(nodes: Sequence[Node], tools: keys.IngestTools) -> tuple[str, ...]:
    return tuple(embedding_text(node, tools.settings.reading.embedding.text) for node in nodes)


def require_something_to_read(parsed: ParsedDocument, *, ocr_enabled: bool) -> None:
    """Raise ParseError, with the first page's reason, where no page has a block and none could be read."""
    if any(page.blocks for page in parsed.pages):
        return
    if not ocr_enabled and any(page.image for page in parsed.pages):
        raise ParseError(
            DocumentState.OCR_REQUIRED, "its pages are pictures and OCR is off; set reading.ocr.enabled = true and ingest it again"
        )
    notes = next((page.note for page in parsed.pages if page.note), "no page holds text, a table or a figure")
    if all(page.parser is PageParser.NONE for page in parsed.pages):
        raise ParseError(DocumentState.FAILED, f"nothing could be read: {notes}")
