"""The synthetic corpora of `make bench-ask`: topics with real vectors, a Zipf vocabulary, documents with a real shape.

The figures of a document's shape (nodes a page, words a node, tables, arcs a node) are those of a corpus of 38 real documents.
"""

import hashlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from storage.corpus.writer import open_for_writing
from storage.locations import CorpusLocation
from storage.records.documents import (
    DocumentGraph,
    Edge,
    EdgeKind,
    Modality,
    Node,
    NodeKind,
    Page,
    PageParser,
    Section,
    TableRow,
    Vectors,
    identify,
)
from tasks.algorithms.text.late_interaction import BITS
from tasks.algorithms.text.leaning import widespread_words
from tasks.algorithms.text.words import STOP_WORDS
from tasks.models.embedding.embedder import default_identity, open_embedder
from tests.storage.worlds import record

SUBJECTS = (
    "solar panels", "river floods", "school lunches", "bank loans", "coral reefs", "heart surgery", "railway signals",
    "wheat prices", "mobile phones", "vaccines for children", "immigrant families", "steel bridges", "forest fires",
    "machine translation", "pension funds", "drinking water", "electric buses", "video games", "museum visitors", "dairy farms",
    "space telescopes", "news readers", "office rents", "sleep disorders", "wind turbines", "football clubs", "census forms",
    "cargo ships", "air pollution", "language models", "library books", "tourist hotels", "chess engines", "army recruits",
    "coffee exports", "hospital beds", "court rulings", "oil refineries", "university fees", "honey bees",
)  # fmt: skip
ASPECTS = (
    "cost", "history", "safety", "growth since 2010", "regional differences", "public opinion", "measurement errors",
    "regulation", "energy use", "staff training", "seasonal variation", "future plans", "comparison with Japan",
    "funding sources", "daily operation", "failures and repairs", "effects on women", "statistical models",
    "environmental impact", "ownership", "quality control", "share of older people", "taxes", "research methods", "complaints",
)  # fmt: skip
VOCABULARY = 30_000
SYLLABLES = ("ba", "ren", "to", "lis", "ma", "cor", "du", "vek", "shi", "no", "tra", "pel", "gu", "din", "sa", "mor")
DOCUMENTS_AT_ONCE = 100
NODES = 250
PAGES = 30
SECTION_NODES = 10
MEAN_WORDS = 80
TOPIC_WORDS = 0.2
NEAREST = 4
"""Semantic neighbours of each node before the relation is made symmetric; gives about seven arcs a node."""
CROSS_LINKS = 18
LINK_WEIGHT = {EdgeKind.NEXT: 0.5, EdgeKind.PART_OF: 0.6, EdgeKind.REFERS_TO: 0.8, EdgeKind.CONTINUES: 0.9}


def corpus(folder: Path, nodes: int) -> None:
    """Publish a corpus of about so many nodes, as an ingest does, below this FLOWREADER_HOME, where it is not there whole."""
    location = CorpusLocation(f"nodes-{nodes}", folder / "corpora" / f"nodes-{nodes}")
    whole = location.folder / "WHOLE"
    if whole.exists():
        return
    shutil.rmtree(location.folder, ignore_errors=True)
    world, count = World(topic_vectors()), max(1, nodes // NODES)
    with open_for_writing(location, embedder=default_identity(), wait_seconds=0) as writer:
        for start in range(0, count, DOCUMENTS_AT_ONCE):
            numbers = range(start, min(count, start + DOCUMENTS_AT_ONCE))
            graphs = [world.document(number) for number in numbers]
            links = [edge for number in numbers for edge in cross_edges(number)]
            records = [record(graph, f"/reports/{graph.title.lower().replace(' ', '-')}.pdf") for graph in graphs]
            writer.publish(graphs=graphs, records=records, cross_edges=links)
        writer.index()
        writer.tidy(keep_seconds=0)
    whole.touch()


def topic_vectors() -> Vectors:
    """Return the vectors of what the world tells of, one a topic: subject by subject, aspect by aspect."""
    told = [f"The report describes the {aspect} of {subject} in detail." for subject in SUBJECTS for aspect in ASPECTS]
    return normalised(open_embedder(default_identity()).embed_documents(told).vectors)


def questions(count: int, *, seed: int) -> list[str]:
    """Return questions about drawn topics, each with a word of the vocabulary that few nodes hold."""
    random = np.random.default_rng(seed)
    words = vocabulary()
    asked = []
    for topic in random.choice(len(SUBJECTS) * len(ASPECTS), count, replace=count > len(SUBJECTS) * len(ASPECTS)):
        subject, aspect = SUBJECTS[topic // len(ASPECTS)], ASPECTS[topic % len(ASPECTS)]
        rare = words[int(random.integers(2_000, VOCABULARY))]
        asked.append(f"What does the report say about the {aspect} of {subject} and {rare}?")
    return asked


def vocabulary() -> list[str]:
    """Return the words by falling frequency: stop words first, as in English."""
    random = np.random.default_rng(0)
    made: dict[str, None] = dict.fromkeys(sorted(STOP_WORDS)[:120])
    while len(made) < VOCABULARY:
        made["".join(SYLLABLES[part] for part in random.integers(0, len(SYLLABLES), int(random.integers(2, 6))))] = None
    return list(made)


def normalised(vectors: Vectors) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class World:
    """Topics with their vectors, one a row, and the words; the same for every corpus."""

    topics: Vectors
    words: list[str] = field(default_factory=vocabulary)

    def document(self, number: int) -> DocumentGraph:
        random = np.random.default_rng([1, number])
        document, version = names_of(number)
        topics = draw_topics(random)
        vectors = self._vectors(random, topics)
        parts = self._nodes(random, topics, document, version)
        return DocumentGraph(
            document_id=document,
            version=version,
            title=f"Report {number}",
            media_type="application/pdf",
            pages=tuple(
                Page(identify(version, "page", page), document, version, page, None, 612, 792, PageParser.MINERU, "", "", None)
                for page in range(1, PAGES + 1)
            ),
            sections=tuple(
                Section(identify(version, "section", head), document, version, head, f"Part {head}", 1, None, 1, PAGES)
                for head in range(0, NODES, SECTION_NODES)
            ),
            nodes=parts,
            rows=tuple(row for node in parts if node.modality is Modality.TABLE for row in self._rows(random, node)),
            edges=tuple(inner_edges(parts, vectors, document)),
            initial_vectors=normalised(vectors + 0.2 * vectors[random.permutation(NODES)]),
            vectors=vectors,
            page_vectors=normalised(np.array([vectors[page_positions(page)].mean(axis=0) for page in range(1, PAGES + 1)])),
            # As many bits as an ingest keeps, of no meaning: how long they take does not depend on it.
            tokens=tuple(random.bytes(BITS // 8 * (1 + len(node.content.split()))) for node in parts),
            words=widespread_words((node.page, node.search_text) for node in parts),
        )

    def _vectors(self, random: np.random.Generator, topics: np.ndarray) -> Vectors:
        """Return vectors around their topic: other topics' vectors as structured noise, a little of it without structure."""
        others = self.topics[random.integers(0, len(self.topics), (len(topics), 3))]
        noise = random.standard_normal((len(topics), self.topics.shape[1]), np.float32) / np.sqrt(self.topics.shape[1])
        weights = random.uniform(0.1, 0.6, (len(topics), 3, 1)).astype(np.float32)
        return normalised(self.topics[topics] + (weights * others).sum(axis=1) + 0.4 * noise)

    def _nodes(self, random: np.random.Generator, topics: np.ndarray, document: str, version: str) -> tuple[Node, ...]:
        lengths = np.clip(random.lognormal(np.log(MEAN_WORDS * 0.7), 0.8, len(topics)), 3, 600).astype(int)
        lengths[::SECTION_NODES] = 4
        ranks = random.zipf(1.3, int(lengths.sum())) % len(self.words)
        about = random.random(len(ranks)) < TOPIC_WORDS
        made: list[Node] = []
        start = 0
        for ordinal, (topic, length) in enumerate(zip(topics.tolist(), lengths.tolist(), strict=True)):
            subject, aspect = SUBJECTS[topic // len(ASPECTS)], ASPECTS[topic % len(ASPECTS)]
            own = f"{subject} {aspect}".split()
            chosen = zip(ranks[start : start + length].tolist(), about[start : start + length].tolist(), strict=True)
            text = " ".join(own[rank % len(own)] if is_topic else self.words[rank] for rank, is_topic in chosen) + "."
            start += length
            head = ordinal - ordinal % SECTION_NODES
            title = f"Part {head}"
            kind, modality = kind_of(ordinal)
            made.append(
                Node(
                    id=identify(version, ordinal),
                    document_id=document,
                    version=version,
                    ordinal=ordinal,
                    kind=kind,
                    modality=modality,
                    content=text,
                    page=1 + ordinal * PAGES // NODES,
                    box=(0.1, 0.1, 0.9, 0.2),
                    section_id=identify(version, "section", head),
                    section_path=(title,),
                    summary=text[:150],
                    keywords=(subject, aspect),
                    search_text=f"{title}\n{text}",
                    round=3,
                )
            )
        return tuple(made)

    def _rows(self, random: np.random.Generator, table: Node) -> list[TableRow]:
        rows = []
        for row in range(14):
            cells = (self.words[int(random.integers(200, VOCABULARY))], str(int(random.integers(1, 10_000))))
            text = f"name: {cells[0]}, value: {cells[1]}"
            name = identify(table.id, "row", row)
            rows.append(TableRow(name, table.id, table.document_id, table.version, row, table.page, cells, text, row == 0))
        return rows


def names_of(number: int) -> tuple[str, str]:
    document = hashlib.sha256(f"report {number}".encode()).hexdigest()
    return document, identify(document, "bench")


def draw_topics(random: np.random.Generator) -> np.ndarray:
    """Return a topic for each node: runs of a few nodes about one aspect, two of three about the document's own subject."""
    runs = np.repeat(np.arange(NODES // 5 + 1), 5)[:NODES]
    own = int(random.integers(0, len(SUBJECTS)))
    subject = np.where(random.random(runs.max() + 1) < 2 / 3, own, random.integers(0, len(SUBJECTS), runs.max() + 1))
    aspect = random.integers(0, len(ASPECTS), runs.max() + 1)
    return np.asarray((subject * len(ASPECTS) + aspect)[runs])


def kind_of(ordinal: int) -> tuple[NodeKind, Modality]:
    if ordinal % SECTION_NODES == 0:
        return NodeKind.TITLE, Modality.TEXT
    if ordinal % 40 == 7:
        return NodeKind.TABLE, Modality.TABLE
    if ordinal % 17 == 3:
        return NodeKind.FIGURE, Modality.FIGURE
    return NodeKind.PARAGRAPH, Modality.TEXT


def page_positions(page: int) -> list[int]:
    """Return the nodes that stand on the page."""
    return [ordinal for ordinal in range(NODES) if 1 + ordinal * PAGES // NODES == page]


def inner_edges(parts: tuple[Node, ...], vectors: Vectors, document: str) -> list[Edge]:
    """Return the edges within a document: the window, the nearest by cosine, reading order, sections and references."""
    count = len(parts)
    cosines = np.maximum(vectors @ vectors.T, 0)
    pairs: list[tuple[int, int, EdgeKind]] = []
    for step in (1, 2, 3):
        pairs += [(tail, tail + step, EdgeKind.WINDOW) for tail in range(count - step)]
        pairs += [(tail + step, tail, EdgeKind.WINDOW) for tail in range(count - step)]
    nearest = np.argpartition(-(cosines - 2 * np.eye(count)), min(NEAREST, count - 1), axis=1)[:, :NEAREST]
    similar = {(tail, int(head)) for tail in range(count) for head in nearest[tail] if tail != head}
    pairs += [(*pair, EdgeKind.SEMANTIC) for pair in sorted(similar | {(head, tail) for tail, head in similar})]
    pairs += [(tail, tail + 1, EdgeKind.NEXT) for tail in range(count - 1)]
    pairs += [(tail, tail - tail % SECTION_NODES, EdgeKind.PART_OF) for tail in range(count) if tail % SECTION_NODES]
    pairs += [(tail, tail - tail % SECTION_NODES + 7, EdgeKind.REFERS_TO) for tail in range(5, count - 10, 20)]
    pairs += [(tail, tail + 1, EdgeKind.CONTINUES) for tail in range(14, count - 1, 25)]
    return [
        Edge(parts[tail].id, parts[head].id, document, document, kind, LINK_WEIGHT.get(kind, round(float(cosines[tail, head]), 6)))
        for tail, head, kind in pairs
    ]


def cross_edges(number: int) -> list[Edge]:
    """Return links of the document with earlier ones, both ways."""
    random = np.random.default_rng([2, number])
    edges: dict[tuple[str, str], Edge] = {}
    own, own_version = names_of(number)
    for _ in range(CROSS_LINKS if number else 0):
        other, other_version = names_of(int(random.integers(0, number)))
        one, two = (identify(version, int(random.integers(0, NODES))) for version in (own_version, other_version))
        weight = round(float(random.uniform(0.5, 0.95)), 6)
        edges[one, two] = Edge(one, two, own, other, EdgeKind.SEMANTIC, weight)
        edges[two, one] = Edge(two, one, other, own, EdgeKind.SEMANTIC, weight)
    return list(edges.values())
