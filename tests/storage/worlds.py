"""Small seeded worlds for the tests of storage: graphs of documents, their records, and an empty corpus."""

import hashlib
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from storage.corpus.export import export_document
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import CorpusWriter, open_for_writing
from storage.locations import CorpusLocation
from storage.records.documents import (
    Box,
    DocumentGraph,
    DocumentRecord,
    DocumentState,
    Edge,
    EdgeKind,
    EmbedderIdentity,
    Modality,
    Node,
    NodeKind,
    Page,
    PageParser,
    Section,
    TableRow,
    identify,
)

DIMENSION = 8
EMBEDDER = EmbedderIdentity("small", "fp32", DIMENSION)


def corpus_in(folder: Path, name: str = "default") -> CorpusLocation:
    return CorpusLocation(name=name, folder=folder / "corpora" / name)


def writing(place: CorpusLocation, wait_seconds: float = 5) -> AbstractContextManager[CorpusWriter]:
    return open_for_writing(place, embedder=EMBEDDER, wait_seconds=wait_seconds)


def exports(place: CorpusLocation) -> dict[str, bytes]:
    with open_for_reading(place) as snapshot:
        return {document.id: export_document(snapshot, document.id) for document in snapshot.documents()}


def document_id(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def unit_vectors(random: np.random.Generator, count: int, dimension: int) -> np.ndarray:
    vectors = random.normal(size=(count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def graph(
    name: str, *, nodes: int = 6, settings: str = "a", picture: str | None = None, dimension: int = DIMENSION
) -> DocumentGraph:
    """A document of `nodes` nodes, two pages, a table of three rows and a chain of edges; the same name gives the same."""
    document = document_id(name)
    version = identify(document, settings)
    random = np.random.default_rng(int(version[:8], 16))
    box: Box = (0.1, 0.25, 1 / 3, 0.75)
    parts = tuple(
        Node(
            id=identify(version, ordinal),
            document_id=document,
            version=version,
            ordinal=ordinal,
            kind=NodeKind.TABLE if ordinal == 0 else NodeKind.PARAGRAPH,
            modality=Modality.TABLE if ordinal == 0 else Modality.TEXT,
            content=f"words {ordinal} of {name}, which says näive things \x00 and more",
            page=1 + ordinal % 2,
            box=None if ordinal % 2 else box,
            section_id=identify(version, "section"),
            section_path=("Report", name),
            html="<table></table>" if ordinal == 0 else None,
            picture=picture if ordinal == 1 else None,
            keywords=("alpha", "beta") if ordinal else (),
            search_text=f"words {ordinal} of {name}",
            meaningless=ordinal == 2,
            round=3,
        )
        for ordinal in range(nodes)
    )
    pages = tuple(
        Page(
            id=identify(version, "page", number),
            document_id=document,
            version=version,
            number=number,
            label=None,
            width_points=612.0,
            height_points=792.0,
            parser=PageParser.MINERU,
            note="",
            summary="sum",
            image=picture,
            lines=f"1000 9000 3000 9200 the foot of page {number}",
        )
        for number in (1, 2)
    )
    rows = tuple(
        TableRow(
            identify(version, "row", row), parts[0].id, document, version, row, 1, ("count", str(row)), f"count: {row}", row == 0
        )
        for row in range(3)
    )
    edges = tuple(
        Edge(first.id, second.id, document, document, EdgeKind.NEXT, 0.5, "follows", 1) for first, second in pairwise(parts)
    )
    return DocumentGraph(
        document_id=document,
        version=version,
        title=name,
        media_type="application/pdf",
        pages=pages,
        sections=(Section(identify(version, "section"), document, version, 0, "Report", 1, None, 1, 2),),
        nodes=parts,
        rows=rows,
        edges=edges,
        initial_vectors=unit_vectors(random, nodes, dimension),
        vectors=unit_vectors(random, nodes, dimension),
        page_vectors=unit_vectors(random, 2, dimension),
    )


def record(of: DocumentGraph, *paths: str) -> DocumentRecord:
    return DocumentRecord(
        id=of.document_id,
        version=of.version,
        paths=paths or (f"/files/{of.title}.pdf",),
        size_bytes=1234,
        media_type=of.media_type,
        title=of.title,
        state=DocumentState.READY,
        reason="",
        pages=len(of.pages),
        nodes=len(of.nodes),
        attempt="",
        notes=("page 2 read by pdfium",),
    )


def failed(of: DocumentGraph, reason: str = "zero bytes") -> DocumentRecord:
    return replace(record(of), state=DocumentState.FAILED, reason=reason, pages=0, nodes=0)


def link(first: DocumentGraph, second: DocumentGraph) -> list[Edge]:
    """Both arcs of a semantic edge between two documents' first nodes."""
    ends = ((first, second), (second, first))
    return [Edge(a.nodes[0].id, b.nodes[0].id, a.document_id, b.document_id, EdgeKind.SEMANTIC, 0.625) for a, b in ends]


def publish(corpus: CorpusWriter, *graphs: DocumentGraph, cross_edges: list[Edge] | None = None) -> int:
    return corpus.publish(graphs=graphs, records=[record(each) for each in graphs], cross_edges=cross_edges or [])
