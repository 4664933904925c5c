"""Small answers and what they stand on: a PDF with squares in known places, a letter, a table; and a real corpus of them."""

import hashlib
import io
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pypdfium2 as pdfium
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from storage.artifacts import ArtifactStore
from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.corpus.writer import open_for_writing
from storage.records.answers import (
    Answer,
    AnswerStatus,
    Citation,
    EvidencePath,
    GateReport,
    NamedDocument,
    PagePlace,
    RankedPage,
    Usage,
)
from storage.records.documents import DocumentGraph, DocumentRecord, Modality, Node, NodeKind, identify
from tasks.report.evidence import ReportEvidence
from tasks.report.page import show_page
from tasks.views.answers import view_answer
from tests.storage.worlds import DIMENSION, EMBEDDER, corpus_in, document_id, graph, record, unit_vectors

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
PLAIN = graph("plain")
BOX = (0.25, 0.5, 0.5, 0.625)
"""Where the square of each page stands."""
ROTATED_BOX = (0.25, 0.125, 0.75, 0.25)
LETTER = document_id("letter")
HTML_TABLE = (
    "<table><tr><th>Part</th><th>Every</th></tr><tr><td>Gearbox</td><td>6 months</td></tr>"
    "<tr><td>Seal</td><td>48 months</td></tr></table>"
)


def squares_pdf(path: Path) -> Path:
    """Two pages of 400 by 800 points, a red square at BOX; the second is shown turned, its square then at ROTATED_BOX."""
    canvas = Canvas(str(path), pagesize=(400, 800), invariant=1)
    canvas.setFillColorRGB(1, 0, 0)
    x0, y0, x1, y1 = BOX
    canvas.rect(400 * x0, 800 * (1 - y1), 400 * (x1 - x0), 800 * (y1 - y0), stroke=0, fill=1)
    canvas.showPage()
    canvas.setFillColorRGB(1, 0, 0)
    # Turned clockwise, what was up is right: the shown x is the file's y, the shown y its x.
    x0, y0, x1, y1 = ROTATED_BOX
    canvas.rect(400 * y0, 800 * x0, 400 * (y1 - y0), 800 * (x1 - x0), stroke=0, fill=1)
    canvas.showPage()
    canvas.save()
    document = pdfium.PdfDocument(path.read_bytes())
    document[1].set_rotation(90)
    document.save(path)
    return path


def a_node(document: str, ordinal: int, content: str = "plain words", **more) -> Node:
    version = identify(document, "version")
    given = {"id": identify(version, ordinal), "document_id": document, "version": version, "ordinal": ordinal, "content": content}
    bare = {"page": 1, "box": BOX, "section_id": None, "section_path": (), "keywords": (), "search_text": "", "round": 0}
    return replace(PLAIN.nodes[1], **given | bare | more)


def a_table(document: str, ordinal: int, **more) -> Node:
    kinds = {"kind": NodeKind.TABLE, "modality": Modality.TABLE}
    given = {"html": HTML_TABLE, "label": "Table 1", "caption": "Table 1: Intervals"}
    return a_node(document, ordinal, "| Part | Every |", **kinds | given | more)


def a_record(document: str, name: str, *, media_type: str = PDF, path: str | None = None, pages: int = 2) -> DocumentRecord:
    given = {"id": document, "version": identify(document, "version"), "paths": (path or f"/files/{name}",), "notes": ()}
    return replace(record(PLAIN), title=name, media_type=media_type, pages=pages, **given)


def a_graph(
    document: str, nodes: tuple[Node, ...], *, media_type: str = PDF, sizes=((400.0, 800.0), (800.0, 400.0)), label=None
) -> DocumentGraph:
    version, random = identify(document, "version"), np.random.default_rng(1)
    given = {"document_id": document, "version": version}
    pages = tuple(
        replace(
            PLAIN.pages[0],
            id=identify(version, "page", n),
            number=n,
            width_points=w,
            height_points=h,
            label=label,
            **given,
        )
        for n, (w, h) in enumerate(sizes, 1)
    )
    vectors = unit_vectors(random, len(nodes), DIMENSION)
    own = {"pages": pages, "sections": (), "nodes": nodes, "rows": (), "edges": (), "initial_vectors": vectors, "vectors": vectors}
    return replace(PLAIN, media_type=media_type, page_vectors=unit_vectors(random, len(pages), DIMENSION), **given | own)


def named(record: DocumentRecord) -> NamedDocument:
    return NamedDocument(record.id, record.name)


def cite(node: Node, record: DocumentRecord, quote: str | None = None, **more) -> Citation:
    given = Citation(
        named(record), node.page, node.box, node.id, node.content if quote is None else quote, node.section_path, node.modality
    )
    return replace(given, **more)


def a_path(flow: float, *nodes: Node, answer: str = "so it is", names: dict[str, str] | None = None) -> EvidencePath:
    places = tuple(
        PagePlace(NamedDocument(node.document_id, (names or {}).get(node.document_id, "some.pdf")), node.page) for node in nodes
    )
    return EvidencePath(tuple(node.id for node in nodes), places, flow, 0.5, 0.25, answer)


def an_answer(citations: tuple[Citation, ...] = (), paths: tuple[EvidencePath, ...] = (), **more) -> Answer:
    given = {
        "answer_id": "ab" * 32,
        "asked": "2026-01-02T03:04:05+00:00",
        "question": "How often is the gearbox sampled?",
        "answer": "Every six months [1].",
        "answer_by": "model",
        "status": AnswerStatus.ANSWERED,
        "reader": "flow",
        "why": "two paths agree",
        "citations": citations,
        "paths": paths,
        "pages": tuple(RankedPage(cited.document, cited.page, 0.5) for cited in citations),
        "evidence_pages": tuple(PagePlace(cited.document, cited.page) for cited in citations),
        "gate": GateReport(0.75, 0.5, "", ()),
        "usage": Usage(0, 0, 0, 0.0, {"route": 0.25, "read": 0.75}),
        "corpus": "default",
        "snapshot": 1,
        "scope": {"documents": ["one"], "pages": None},
        "settings": {"gate": {"consistency": 0.65, "saturation": 0.6}},
        "models": {"embedder": "small"},
    }
    given |= more
    return Answer(**{"asked_as": given["question"], "follows": None, "thread": given["answer_id"]} | given)


def evidence_of(*nodes: Node, records: tuple[DocumentRecord, ...] = (), **more) -> ReportEvidence:
    nodes_by_id, documents = {node.id: node for node in nodes}, {record.id: record for record in records}
    given = {"sheets": (), "nodes": nodes_by_id, "documents": documents, "labels": {}, "left_out": ()}
    return ReportEvidence(**given | more)


def render(answer: Answer, evidence: ReportEvidence) -> str:
    """Return the answer's report."""
    corpus = SimpleNamespace(documents=evidence.documents.values, location=SimpleNamespace(name="default"))
    return show_page(view_answer(answer, corpus), evidence)


def id_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class World(NamedTuple):
    """A corpus of the squares and of a letter, open for reading."""

    snapshot: Snapshot
    artifacts: ArtifactStore
    paper: DocumentRecord
    squares: tuple[Node, ...]
    letter: DocumentRecord
    parts: tuple[Node, ...]


@contextmanager
def squares_and_letter(folder: Path, *, more: tuple[str, ...] = ("square 2", "square 3"), letter_name: str = "letter.docx"):
    """The world: a square on each page, printed iii, and elements that say `more`; a table, a figure, a text, a lost figure."""
    path = squares_pdf(folder / "squares.pdf")
    buffer = io.BytesIO()
    Image.linear_gradient("L").save(buffer, "PNG")
    crop = ArtifactStore(folder / "artifacts").put(buffer.getvalue())
    paper, letter = a_record(id_of(path), "squares.pdf", path=str(path)), a_record(LETTER, letter_name, media_type=DOCX, pages=1)
    squares = (
        a_node(paper.id, 0, "The first square", section_path=("One", "Squares")),
        a_node(paper.id, 1, "The turned square", page=2, box=ROTATED_BOX),
        *(a_node(paper.id, place, words) for place, words in enumerate(more, 2)),
    )
    parts = (
        replace(a_table(LETTER, 0, box=None), picture=crop),
        a_node(LETTER, 1, "words in the picture", box=None, picture=crop, caption="Figure 1: A gradient"),
        a_node(LETTER, 2, "A paragraph of the letter, with the quoted words in the middle of it.", box=None),
        a_node(LETTER, 3, box=None, picture="0" * 64),
    )
    graphs = (a_graph(paper.id, squares, label="iii"), a_graph(LETTER, parts, media_type=DOCX, sizes=((0.0, 0.0),)))
    location = corpus_in(folder)
    with open_for_writing(location, embedder=EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=graphs, records=[paper, letter])
    with open_for_reading(location) as snapshot:
        yield World(snapshot, ArtifactStore(folder / "artifacts"), paper, squares, letter, parts)
