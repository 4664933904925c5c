"""The papers' document: what a model was sent while it was read in, and of questions, and what a picture shows."""

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pypdfium2
from PIL import Image, ImageChops, ImageStat

from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.locations import corpus_location
from storage.records.documents import EdgeKind, Node, NodeKind
from tests.chat_server import ChatRequest, chat_server
from tests.program import environment_kept, said
from tests.scripted_answers import passages_of, path_answer

FIGURES, SCAN = "page 1", "page 5"
PAGES = (FIGURES, "page 2", "page 3", "page 4", SCAN)
"""Charts stand on the first, and the last was scanned."""
LONG = 60
"""Characters of a passage that nobody writes by chance."""
FACT = "the reader"
SHADES, ALIKE, SHAPE = (48, 48), 6.0, 0.15
"""To what pictures are shrunk to be compared, how far shades of the same may lie apart, and heights to widths."""


@dataclass(frozen=True)
class Papers:
    """The document `folder` keeps, and a home with a corpus for each preset, in which questions may be asked."""

    folder: Path
    home: Path

    def sent_at_ingest(self, preset: str) -> list[ChatRequest]:
        bodies = json.loads((self.folder / f"{preset}.json").read_text())
        return [ChatRequest(number, body, {}) for number, body in enumerate(bodies, 1)]

    def ask(self, preset: str, question: str, reply: Callable[[ChatRequest], Any]) -> tuple[list[ChatRequest], dict[str, Any]]:
        """Ask by the preset and its reader; return what was sent, and the answer."""
        with environment_kept(), chat_server(reply) as server:
            os.environ |= {"FLOWREADER_CHAT_BASE_URL": server.base_url, "FLOWREADER_CHAT_MODEL": "scripted"}
            answer = said("ask", question, "--corpus", preset, "--preset", preset, home=self.home)
        return server.requests, answer

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the document as rules describe them, in order; all presets have the same."""
        with self.corpus("molorag") as snapshot:
            (record,) = snapshot.documents()
            return tuple(snapshot.nodes(record.id))

    @cached_property
    def drawn(self) -> Mapping[str, Image.Image]:
        """The pages by "page 1", and what stands in the box of each node that has a picture, by "n7"; drawn without the product."""
        with pypdfium2.PdfDocument(self.folder / "documents" / "mixed.pdf") as pdf:
            pages = [page.render(scale=1.5).to_pil().convert("L") for page in pdf]
        found = {f"page {number}": page for number, page in enumerate(pages, 1)}
        for node in self.nodes:
            if node.picture and node.box:
                page = pages[node.page - 1]
                left, top, right, bottom = (share * size for share, size in zip(node.box, page.size * 2, strict=True))
                found[f"n{node.ordinal}"] = page.crop((round(left), round(top), round(right), round(bottom)))
        return found

    def pictures_of(self, request: ChatRequest) -> list[str]:
        """Return what each picture of the request shows, by the names of `drawn`."""
        return [self.name_of(Image.open(io.BytesIO(data)).convert("L")) for data in request.images]

    def passages(self, request: ChatRequest) -> list[Node]:
        """Return the nodes that the request shows as passages, in order."""
        return [self.node_of(heading, text) for heading, text in passages_of(request).values()]

    def node_of(self, heading: str, text: str) -> Node:
        """Return the node of a heading such as "n1: caption, page 3", whose words come last in the text, or its first words."""
        whole, place = text.partition("[... ")[0].rstrip(), f"{heading.partition(': ')[2]},"
        line, last = plain(whole), plain(" ".join(whole.splitlines()[-2 if place.startswith("table") else -1 :]))
        of_kind = [node for node in self.nodes if place.startswith(f"{node.kind.value}, page {node.page},")]
        cut = [node for node in of_kind if len(of_kind) == 1 or (whole != text and {*last.split()} <= {*words_of(node).split()})]
        found = cut[0] if cut else max(of_kind, key=lambda node: line.rfind(words_of(node)))
        assert cut or words_of(found) in line, f"none of the nodes stands under {heading}"
        return found

    def nodes_in(self, text: str) -> set[int]:
        """Return which passages and tables stand in a text, by ordinal; a caption is also its figure's."""
        line, alone = plain(text), [node for node in self.nodes if node.kind not in (NodeKind.CAPTION, NodeKind.FIGURE)]
        return {node.ordinal for node in alone if len(words_of(node)) >= LONG and words_of(node)[:LONG] in line}

    def ordinals(self, preset: str) -> dict[str, int]:
        """Return the ordinal of each node by its id, which is another in each corpus."""
        with self.corpus(preset) as snapshot:
            return {node.id: node.ordinal for record in snapshot.documents() for node in snapshot.nodes(record.id)}

    def edges(self, preset: str) -> set[tuple[int, int]]:
        """Return which nodes are joined by what they mean, from ordinal to ordinal."""
        ordinals = self.ordinals(preset)
        with self.corpus(preset) as snapshot:
            found = [edge for record in snapshot.documents() for edge in snapshot.edges(record.id)]
        joining = (EdgeKind.SEMANTIC, EdgeKind.WINDOW)
        return {(ordinals[edge.source], ordinals[edge.target]) for edge in found if edge.kind in joining}

    @contextmanager
    def corpus(self, preset: str) -> Iterator[Snapshot]:
        with environment_kept():
            os.environ["FLOWREADER_HOME"] = str(self.home)
            with open_for_reading(corpus_location(preset)) as snapshot:
                yield snapshot

    def name_of(self, picture: Image.Image) -> str:
        apart = {name: far_apart(picture, drawn) for name, drawn in self.drawn.items()}
        nearest = min(apart, key=apart.__getitem__)
        assert apart[nearest] < ALIKE, f"nothing in the document looks like it, the nearest is {nearest}: {apart[nearest]:.1f}"
        return nearest


def words_of(node: Node) -> str:
    return plain(node.caption if node.kind is NodeKind.FIGURE else node.content)


def far_apart(one: Image.Image, other: Image.Image) -> float:
    """Return how far the shades of two pictures lie apart, from 0 to 255; those of another shape all the way."""
    shapes = [picture.height / picture.width for picture in (one, other)]
    if max(shapes) > (1 + SHAPE) * min(shapes):
        return 255.0
    shrunk = [picture.resize(SHADES, Image.Resampling.BOX) for picture in (one, other)]
    return float(ImageStat.Stat(ImageChops.difference(*shrunk)).mean[0])


def plain(text: str) -> str:
    """Return a text as one line."""
    return " ".join(text.split())


def quote_first(request: ChatRequest, *, whole: bool = False) -> dict[str, Any]:
    """Reply to a reader of passages with the first words of the first of them, and facts that name the call."""
    name, (_heading, text) = next(iter(passages_of(request).items()))
    words = " ".join(text.splitlines()[-1].strip("| ").split()[:8])
    return path_answer(words, [{"passage": name, "quote": words}], whole=whole, facts=fact_of(request))


def fact_of(request: ChatRequest) -> str:
    """Return what a reader notes down, which no document says."""
    return f"seen in call {request.number} of {FACT}"


def forms_of(requests: Sequence[ChatRequest], form: str) -> list[ChatRequest]:
    return [request for request in requests if request.form == form]
