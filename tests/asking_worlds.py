"""Small worlds to ask: documents written by hand and embedded by eight words, contexts, questions, and what runs left."""

import asyncio
import hashlib
import shutil
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from flows.ask import answer_one, ask
from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.corpus.writer import open_for_writing
from storage.graph.candidates import CandidateGraph
from storage.graph.search import EVERYTHING, Scope
from storage.locations import CorpusLocation, corpus_location
from storage.records.answers import Answer
from storage.records.documents import (
    DocumentGraph,
    Edge,
    EdgeKind,
    EmbedderIdentity,
    Modality,
    Node,
    NodeKind,
    Section,
    TableRow,
    identify,
)
from storage.records.embedded import Embedded
from storage.runs.answer_json import answer_json
from storage.runs.log import EntryKind, asking_files
from storage.runs.views import RunEntries, read_run
from tasks.asking.candidates import find_candidates, score
from tasks.asking.question import AskContext, context_of, understand
from tasks.asking.records import NodeScores, PathReader, Question
from tasks.asking.request import AskRequest, find_scope
from tasks.lineage.writing import lineage_of_run, working_at
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import AskSettings
from tasks.step import workplace
from tests.kept_worlds import kept_world, locked
from tests.storage import worlds

TORQUE = "With which torque are the bolts between blade root and hub of the MT-2 tightened?"
COAST = "How many megawatts are possible at the Aldre coast?"
WEIGHT = "What is the weight of an MT-3 without its base?"
TOLD = {
    TORQUE: ("maintenance_manual.docx", 1, "1,850"),
    COAST: ("strategy.pptx", 4, "1,150"),
    WEIGHT: ("product_page.html", 1, "163"),
}
"""Questions of the corpus `small`: where the answer of each stands, and a word of it."""

AXES = ("tide", "blade", "cable", "price", "storm", "harbour", "crew", "steel")
MODALITY = {NodeKind.TABLE: Modality.TABLE, NodeKind.FIGURE: Modality.FIGURE}


@dataclass(frozen=True)
class AxisEmbedder:
    """Embeds a text by which of eight words it holds; one without any lies between all."""

    identity: EmbedderIdentity = worlds.EMBEDDER

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        return Embedded(self.unit(texts))

    def embed_query(self, text: str) -> np.ndarray:
        return self.unit([text])

    def states_of_query(self, text: str) -> None:
        """It tells no tokens, as a server."""

    def unit(self, texts: Sequence[str]) -> np.ndarray:
        sums = np.array([[text.lower().count(axis) for axis in AXES] for text in texts], dtype=np.float32).reshape(-1, len(AXES))
        sums[~sums.any(axis=1)] = 1.0
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)


@dataclass(frozen=True)
class Passage:
    """A node to be; `arcs` lead from it to others of its document, by place. Lines of a table are rows, the first its head."""

    text: str
    page: int = 1
    kind: NodeKind = NodeKind.PARAGRAPH
    label: str = ""
    section: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    arcs: tuple[tuple[int, EdgeKind, float], ...] = ()


def written(name: str, *passages: Passage, evolved: np.ndarray | None = None, printed: Sequence[str] = ()) -> DocumentGraph:
    """Return the document of these passages; `printed` are the labels on its pages."""
    plain = worlds.graph(name, nodes=len(passages))
    sections = {title: _section(plain, place, title, passages) for place, title in enumerate(_titles(passages))}
    nodes = tuple(_node(plain, place, passage, sections.get(passage.section)) for place, passage in enumerate(passages))
    document = plain.document_id
    vectors = AxisEmbedder().unit([passage.text for passage in passages])
    last = max((passage.page for passage in passages), default=1)
    return replace(
        plain,
        pages=tuple(
            replace(plain.pages[0], id=identify(plain.version, "page", number + 1), number=number + 1, label=label)
            for number, label in enumerate([*printed, *[None] * (last - len(printed))])
        ),
        sections=tuple(sections.values()),
        nodes=nodes,
        rows=tuple(row for node in nodes if node.modality is Modality.TABLE for row in _rows(node)),
        edges=tuple(
            Edge(nodes[tail].id, nodes[head].id, document, document, kind, weight)
            for tail, passage in enumerate(passages)
            for head, kind, weight in passage.arcs
        ),
        initial_vectors=vectors,
        vectors=vectors if evolved is None else evolved,
        page_vectors=np.zeros((last, worlds.DIMENSION), dtype=np.float32),
    )


def _titles(passages: Sequence[Passage]) -> list[str]:
    return list(dict.fromkeys(passage.section for passage in passages if passage.section))


def _section(graph: DocumentGraph, place: int, title: str, passages: Sequence[Passage]) -> Section:
    name, pages = identify(graph.version, "section", place), [passage.page for passage in passages if passage.section == title]
    return Section(name, graph.document_id, graph.version, place, title, 1, None, min(pages), max(pages))


def _node(graph: DocumentGraph, place: int, passage: Passage, section: Section | None) -> Node:
    return replace(
        graph.nodes[place],
        kind=passage.kind,
        modality=MODALITY.get(passage.kind, Modality.TEXT),
        content=passage.text,
        page=passage.page,
        section_id=section.id if section else None,
        section_path=(section.title,) if section else (),
        label=passage.label,
        html=None,
        picture_text=passage.text if passage.kind is NodeKind.FIGURE else "",
        summary=passage.summary or passage.text,
        keywords=passage.keywords,
        search_text=f"{passage.section} {passage.text}".strip(),
        meaningless=False,
    )


def _rows(node: Node) -> Iterator[TableRow]:
    for number, line in enumerate(node.content.splitlines()):
        cells = tuple(line.split(": "))
        name = identify(node.id, "row", number)
        yield TableRow(name, node.id, node.document_id, node.version, number, node.page, cells, line, is_header=number == 0)


def published(folder: Path, *graphs: DocumentGraph, embedder: EmbedderIdentity = worlds.EMBEDDER) -> CorpusLocation:
    """Put a corpus of these documents in this folder, ready to be asked: a copy of the one that is kept of them."""
    location = worlds.corpus_in(folder)
    if location.folder.exists():
        _publish(folder, graphs, embedder)
    else:
        shutil.copytree(_kept(graphs, embedder), folder, dirs_exist_ok=True)
    return location


def _publish(folder: Path, graphs: Sequence[DocumentGraph], embedder: EmbedderIdentity) -> None:
    with open_for_writing(worlds.corpus_in(folder), embedder=embedder, wait_seconds=5) as corpus:
        worlds.publish(corpus, *graphs)
        corpus.index()


def _kept(graphs: Sequence[DocumentGraph], embedder: EmbedderIdentity) -> Path:
    """Return the folder with the corpus of these documents, which is made once and read by all sessions."""
    library = kept_world("library", lambda _folder: None, Path(__file__), Path(worlds.__file__))
    place = library / _fingerprint(graphs, embedder)
    with locked(library / f"{place.name}.lock"):
        if not place.exists():
            unfinished = place.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            _publish(unfinished, graphs, embedder)
            unfinished.rename(place)
    return place


def _fingerprint(graphs: Sequence[DocumentGraph], embedder: EmbedderIdentity) -> str:
    parts = [embedder, *(getattr(graph, field.name) for graph in graphs for field in fields(graph))]
    found = hashlib.sha256()
    for part in parts:
        found.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return found.hexdigest()[:16]


@contextmanager
def at_context(
    location: CorpusLocation, *, scope: Scope = EVERYTHING, reader: PathReader | None = None, **settings: dict[str, Any]
) -> Iterator[AskContext]:
    """Give the context in a snapshot of the corpus, within a run whose file `run_of` reads."""
    chosen = AskSettings.model_validate(settings)
    with open_for_reading(location) as snapshot:
        context = context_of(snapshot, scope, chosen, AxisEmbedder(), reader or ExtractiveReader(chosen.reading))
        with at_work(location, snapshot):
            yield context


@contextmanager
def at_work(location: CorpusLocation, snapshot: Snapshot) -> Iterator[None]:
    """Give the steps inside the block a run to write to."""
    with (
        lineage_of_run(location, parameters={}, settings={}, run_id="ask-test", snapshot=lambda: snapshot.number) as place,
        working_at(replace(place, remembers=False)),
    ):
        yield


def at_place(context: AskContext, scope: Scope | None = None, **settings: dict[str, Any]) -> AskContext:
    """Return the context with another scope, or with the defaults and these settings, in the same snapshot."""
    chosen = AskSettings.model_validate(settings) if settings else context.settings
    return replace(context, scope=context.scope if scope is None else scope, settings=chosen)


def asked(text: str, context: AskContext) -> Question:
    return asyncio.run(understand("q", text, context))


def candidates_of(text: str, context: AskContext) -> tuple[Question, CandidateGraph, NodeScores]:
    """Return a question, its candidates and their scores."""
    question = asked(text, context)
    graph = find_candidates(question, context)
    return question, graph, score(question, graph, context)


def ordinals_of(graph: CandidateGraph, context: AskContext) -> list[int]:
    """Return the place of each candidate in its document."""
    return [node.ordinal for node in context.snapshot.find_nodes(graph.ids)]


def answer_at(context: AskContext, text: str, **asked: Any) -> Answer:
    """Ask of a small world, by the whole flow."""
    request = AskRequest(questions=(text,), settings=context.settings, **asked)
    return asyncio.run(answer_one(text, request, context, workplace.get()))


async def collected(answers: AsyncGenerator[Answer, None]) -> list[Answer]:
    async with aclosing(answers):
        return [answer async for answer in answers]


def answers_to(*questions: str, corpus: str = "small", settings: dict[str, Any] | None = None, **limits: Any) -> list[Answer]:
    """Ask the corpus of this process's home, as the command does, anew."""
    chosen = AskSettings.model_validate(settings or {})
    asked = {"questions": questions, "corpus": corpus, "settings": chosen, "fresh": True} | limits
    return asyncio.run(collected(ask(AskRequest(**asked))))


def answer_to(question: str, **limits: Any) -> Answer:
    (answer,) = answers_to(question, **limits)
    return answer


def embedder_of(corpus: str) -> EmbedderIdentity:
    with open_for_reading(corpus_location(corpus)) as snapshot:
        return snapshot.embedder


def lasting(answer: Answer) -> dict[str, Any]:
    """Return of an answer what is the same whenever the same is asked: all but ids, links, times and seconds."""
    return lasting_json(answer_json(answer))


def lasting_json(told: dict[str, Any]) -> dict[str, Any]:
    del told["answer_id"], told["thread"], told["asked"], told["usage"]["seconds"]
    # A link names the answer.
    told.pop("link", None)
    for cited in told["citations"]:
        cited.pop("link", None)
    return told


def run_of(location: CorpusLocation) -> RunEntries:
    """Return what the last run that asked left."""
    return read_run(max(asking_files(location), key=lambda path: path.stat().st_mtime_ns))


def steps_of(location: CorpusLocation) -> list[str]:
    return [record.step for record in run_of(location).steps()]


def limited(snapshot: Snapshot, **limits: Any) -> Scope:
    return find_scope(snapshot, AskRequest(questions=("?",), **limits))


def answers_kept(location: CorpusLocation) -> list[dict[str, Any]]:
    return [entry for entry in run_of(location).entries if entry["kind"] == EntryKind.ANSWER]
