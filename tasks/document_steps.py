"""The steps that make a graph of a document, each with its version, its key and what it calls.

A step's version is raised when its code makes another result of the same inputs, and GRAPH_VERSION in tasks/planning.py with it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from storage.artifacts import ArtifactStore, hash_bytes
from storage.codec import decode_graph, encode_graph, from_json, to_json
from storage.locations import pictures_folder
from storage.memo import StepMemo
from storage.records import (
    DocumentGraph,
    DocumentRecord,
    DocumentState,
    Edge,
    Node,
    PageParser,
    ParsedDocument,
    Vectors,
    identify,
)
from tasks.analysis import analyze_nodes, embedding_text, summarize_pages
from tasks.description_calls import described_places, describing
from tasks.embedding import embed_nodes, page_vectors
from tasks.evolution import evolve_document
from tasks.link_judgements import Judge
from tasks.model_analysis import describe_nodes
from tasks.model_evolution import evolve_by_model
from tasks.models.chat import ChatModel
from tasks.models.embedder import Embedder
from tasks.models.ocr import ocr_identity
from tasks.outcomes import Outcome, ready
from tasks.parsing import ParseError, parse_file, parse_inputs
from tasks.picture_reading import read_words
from tasks.planning import DocumentWork
from tasks.progress import report
from tasks.settings import IngestSettings
from tasks.step import Codec, StepKey, step
from tasks.structure import Structured, structure_document
from tasks.unanswered import may_be_mended, noted_pages, require_enough_replies


@dataclass(frozen=True, slots=True)
class Tools:
    """What the steps of a run share; `chat` is None where rules read."""

    settings: IngestSettings
    artifacts: ArtifactStore
    embedder: Embedder
    chat: ChatModel | None = None

    @property
    def judges_links(self) -> bool:
        """Whether a model evolves what it described."""
        return self.settings.reading.evolution.mode == "model"


@dataclass(frozen=True, slots=True)
class Judged:
    """A structure as a model rewrote it, with the vectors of its new words and the links it named."""

    structured: Structured
    vectors: Vectors
    edges: tuple[Edge, ...]


def pictures_of(parsed: ParsedDocument) -> set[str]:
    """Return the artifacts that a parsed document points to: page images and figure crops."""
    crops = {block.picture for page in parsed.pages for block in page.blocks}
    return {name for name in crops | {page.image for page in parsed.pages} if name}


def _encode_vectors(vectors: Vectors) -> list[bytes]:
    stream = io.BytesIO()
    np.save(stream, vectors, allow_pickle=False)
    return [stream.getvalue()]


PARSED = Codec(
    encode=lambda parsed: [to_json(parsed)],
    decode=lambda parts: from_json(ParsedDocument, parts[0]),
    pictures=pictures_of,
)
VECTORS: Codec[Vectors] = Codec(encode=_encode_vectors, decode=lambda parts: np.load(io.BytesIO(parts[0]), allow_pickle=False))
GRAPH = Codec(
    encode=encode_graph,
    decode=lambda parts: decode_graph(parts[0], parts[1]),
    pictures=lambda graph: {name for name in [*(n.picture for n in graph.nodes), *(p.image for p in graph.pages)] if name},
)


def structured_hash(structured: Structured) -> dict[str, str]:
    """Return the hash of what is made anew each time, for the lineage."""
    return {"0": hash_bytes(to_json(structured))}


def parse_key(work: DocumentWork, tools: Tools) -> StepKey:
    """Key by the bytes, the parser and what it is told; limits may send a page to a fallback, but a ready one is not read again."""
    reading = tools.settings.reading
    return StepKey(work.document_id, parse_inputs(work.document_id, reading.parse, reading.ocr), work.name)


def words_key(work: DocumentWork, _parsed: ParsedDocument, tools: Tools) -> StepKey:
    """Key by what was parsed and the OCR engine."""
    return StepKey(work.document_id, identify(parse_key(work, tools).inputs, ocr_identity()), work.name)


def version_key(work: DocumentWork, *_inputs: object) -> StepKey:
    """Key by the document's version, which names everything."""
    return StepKey(work.document_id, work.version, work.name)


def graph_key(
    work: DocumentWork, _parsed: ParsedDocument, structured: Structured, _initial: Vectors, _tools: Tools, judged: Judged | None
) -> StepKey:
    """Key by the version; what is unfinished also by what it holds, so that nobody takes it for the document's graph."""
    last = judged.structured if judged else structured
    if not last.unfinished:
        return version_key(work)
    return StepKey(work.document_id, identify(work.version, structured_hash(last)["0"]), work.name)


def vectors_key(work: DocumentWork, texts: Sequence[str], tools: Tools) -> StepKey:
    """Key by the very texts, how they are cut into batches, and the embedder."""
    batch = tools.settings.reading.embedding.batch_nodes
    return StepKey(work.document_id, identify(tools.embedder.identity.key, batch, *texts), work.name)


@step("parse", version="1", retries=1, cache_key=parse_key, codec=PARSED)
def parse(work: DocumentWork, tools: Tools) -> ParsedDocument:
    """Read a file into pages of blocks, in a child process."""
    settings = tools.settings
    return parse_file(
        path=Path(work.path),
        document_id=work.document_id,
        password=work.password,
        parse=settings.reading.parse,
        ocr=settings.reading.ocr,
        limits=settings.limits,
        work=settings.work,
        artifacts=tools.artifacts,
        on_pages=partial(report, work.document_id, "parse"),
    )


@step("read-words", version="1", retries=1, cache_key=words_key, codec=PARSED)
def read_pictures(work: DocumentWork, parsed: ParsedDocument, tools: Tools) -> ParsedDocument:
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


@step("structure", version="1", retries=0, cache_key=version_key, told=structured_hash)
def structure(work: DocumentWork, parsed: ParsedDocument, tools: Tools) -> Structured:
    """Turn blocks into sections, nodes, table rows and the edges that the layout states."""
    reading = tools.settings.reading
    structured = structure_document(
        parsed=parsed,
        version=work.version,
        settings=reading.structure,
        structural_weights=reading.evolution.structural_weights.by_kind(),
    )
    report(work.document_id, "structure", 1, 1)
    return structured


@step("analyze", version="1", retries=0, cache_key=version_key, told=structured_hash)
def analyze(work: DocumentWork, structured: Structured, tools: Tools) -> Structured:
    """Give every node its summary, keywords and search text, every page its summary (eq. 11)."""
    settings = tools.settings.reading.analysis
    nodes = analyze_nodes(nodes=structured.nodes, rows=structured.rows, settings=settings)
    analyzed = replace(structured, nodes=nodes)
    if tools.chat is not None:
        analyzed = _described(work, analyzed, tools, tools.chat)
    report(work.document_id, "analyze", 1, 1)
    return replace(analyzed, pages=summarize_pages(pages=analyzed.pages, nodes=analyzed.nodes, settings=settings))


def _described(work: DocumentWork, analyzed: Structured, tools: Tools, chat: ChatModel) -> Structured:
    """Have the model describe what rules have read; raise UnansweredError where it fails on too much."""
    reading = tools.settings.reading
    asking = describing(
        document_id=work.document_id,
        name=work.name,
        nodes=analyzed.nodes,
        settings=reading.analysis,
        ocr=reading.ocr,
        artifacts=tools.artifacts,
    )
    described = describe_nodes(asking, chat=chat, on_nodes=partial(report, work.document_id, "analyze"))
    require_enough_replies(described.errors, asked=described.asked, share=tools.settings.limits.undescribed_share)
    return replace(
        analyzed,
        nodes=described.nodes,
        pages=noted_pages(analyzed.pages, analyzed.nodes, described.errors, "described by rules"),
        unfinished=may_be_mended(described.errors),
    )


@step("embed", version="1", retries=1, cache_key=vectors_key, codec=VECTORS)
def embed(work: DocumentWork, texts: Sequence[str], tools: Tools) -> Vectors:
    """Embed the texts of a document's nodes (eq. 12), in batches cut in node order."""
    return embed_nodes(
        texts=texts,
        embedder=tools.embedder,
        batch_nodes=tools.settings.reading.embedding.batch_nodes,
        on_nodes=partial(report, work.document_id, "embed"),
    )


def judged_hash(judged: Judged) -> dict[str, str]:
    """Return the hash of what is made anew each time, for the lineage."""
    return structured_hash(judged.structured)


@step("judge-links", version="1", retries=0, cache_key=version_key, told=judged_hash)
def judge_links(work: DocumentWork, structured: Structured, initial: Vectors, tools: Tools) -> Judged:
    """Have the model rewrite the nodes and name their links for T rounds (eq. 14); raise UnansweredError as `analyze` does."""
    assert tools.chat is not None
    reading = tools.settings.reading
    subjects = described_places(structured.nodes, reading.analysis, reading.ocr)
    judge = Judge(
        document_id=work.document_id,
        name=work.name,
        settings=reading.evolution.model,
        chat=tools.chat,
        on_nodes=partial(report, work.document_id, "judge-links"),
        total=len(subjects) * reading.evolution.rounds,
    )
    evolved = evolve_by_model(
        nodes=structured.nodes,
        initial_vectors=initial,
        subjects=subjects,
        settings=reading.evolution,
        judge=judge,
        embed=lambda texts: embed(work, tuple(texts), tools),
    )
    require_enough_replies(evolved.errors, asked=len(subjects), share=tools.settings.limits.undescribed_share)
    pages = noted_pages(structured.pages, structured.nodes, evolved.errors, "linked as the round before left them")
    rewritten = replace(
        structured,
        nodes=evolved.nodes,
        pages=summarize_pages(pages=pages, nodes=evolved.nodes, settings=reading.analysis),
        unfinished=structured.unfinished or may_be_mended(evolved.errors),
    )
    return Judged(rewritten, evolved.vectors, evolved.edges)


@step("evolve", version="1", retries=0, cache_key=graph_key, codec=GRAPH)
def evolve(
    work: DocumentWork, parsed: ParsedDocument, structured: Structured, initial: Vectors, tools: Tools, judged: Judged | None
) -> DocumentGraph:
    """Gather the finished graph: evolved by rule for T rounds, or as a model judged it (eq. 14)."""
    if judged is not None:
        structured, vectors, edges = judged.structured, judged.vectors, judged.edges
    else:
        vectors, edges = evolve_document(
            document_id=work.document_id,
            nodes=structured.nodes,
            initial_vectors=initial,
            settings=tools.settings.reading.evolution,
        )
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
        initial_vectors=initial,
        vectors=vectors,
        page_vectors=page_vectors(pages=structured.pages, nodes=structured.nodes, vectors=vectors),
    )


def is_remembered(work: DocumentWork, memo: StepMemo) -> bool:
    """Say whether an earlier run made the finished graph, so that reading the document costs nothing."""
    return memo.lookup(work.document_id, evolve.name, identify(evolve.name, evolve.version, work.version)) is not None


def remembered_graph(work: DocumentWork) -> DocumentGraph | None:
    """Return the finished graph where an earlier run made it, published or not."""
    return evolve.recall(version_key(work))


def remembered_outcomes(records: Sequence[DocumentRecord], *, at_once: int) -> Iterator[list[Outcome]]:
    """Yield documents as they were published before, from their artifacts, `at_once` at a time.

    One whose artifact is gone is left out: the ingest of its file reads it anew.
    """
    for first in range(0, len(records), at_once):
        works = [work_of(record) for record in records[first : first + at_once]]
        found = [ready(work, graph) for work in works if (graph := remembered_graph(work))]
        if found:
            yield found


def work_of(record: DocumentRecord) -> DocumentWork:
    """Return a document of the catalog as work, where its steps need its names and version only."""
    return DocumentWork(
        document_id=record.id,
        version=record.version,
        path="",
        paths=record.paths,
        size_bytes=record.size_bytes,
        attempt=record.attempt,
    )


def embedding_texts(nodes: Sequence[Node], tools: Tools) -> tuple[str, ...]:
    """Return what is embedded of each node."""
    return tuple(embedding_text(node, tools.settings.reading.embedding.text) for node in nodes)


def require_something_to_read(parsed: ParsedDocument, *, ocr_enabled: bool) -> None:
    """Raise ParseError, with the first page's reason, where no page has a block and nobody could read one."""
    if any(page.blocks for page in parsed.pages):
        return
    if not ocr_enabled and any(page.image for page in parsed.pages):
        raise ParseError(
            DocumentState.OCR_REQUIRED, "its pages are pictures and OCR is off; set reading.ocr.enabled = true and ingest it again"
        )
    notes = next((page.note for page in parsed.pages if page.note), "no page holds text, a table or a figure")
    if all(page.parser is PageParser.NONE for page in parsed.pages):
        raise ParseError(DocumentState.FAILED, f"nothing could be read: {notes}")
