"""The records that cross layers: what a document becomes on its way to the published graph."""

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from storage.records.embedded import Tokens

Box = tuple[float, float, float, float]  # [x0, y0, x1, y1] in 0..1 of the page, from its top left corner

WHOLE_PAGE: Box = (0.0, 0.0, 1.0, 1.0)  # of elements of a format without pages: it says nothing of where they stand

PageKey = tuple[str, int]  # a page: its document's id and its number there, counted from 1

Vectors = npt.NDArray[np.float32]  # unit vectors, one a row


class DocumentState(StrEnum):
    """How far a document came; everything but `ready` carries its reason in words."""

    READY = "ready"
    FAILED = "failed"
    NEEDS_PASSWORD = "needs_password"
    OCR_REQUIRED = "ocr_required"


class Modality(StrEnum):
    """The tau of a node v = (s, K, tau, e)."""

    TEXT = "text"
    TABLE = "table"
    FIGURE = "figure"


class NodeKind(StrEnum):
    TITLE = "title"
    PARAGRAPH = "paragraph"
    LIST = "list"
    CAPTION = "caption"
    FORMULA = "formula"
    FOOTNOTE = "footnote"
    CODE = "code"
    TABLE = "table"
    FIGURE = "figure"
    HEADER = "header"
    FOOTER = "footer"
    PAGE_NUMBER = "page_number"


class EdgeKind(StrEnum):
    """What an edge means. `window` and `semantic` weigh a cosine, the others the weight of their kind."""

    NEXT = "next"
    WINDOW = "window"
    SEMANTIC = "semantic"
    PART_OF = "part_of"
    REFERS_TO = "refers_to"
    CAPTION_OF = "caption_of"
    CONTINUES = "continues"


class PageParser(StrEnum):
    MINERU = "mineru"
    PDFIUM = "pdfium"
    OCR = "ocr"
    PLAIN = "plain"
    NONE = "none"


def identify(*parts: str | int) -> str:
    """Return the SHA-256 of the parts, each framed by its length so that no two lists of parts collide."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = str(part).encode("utf-8", "surrogateescape")
        digest.update(b"%d:%b" % (len(encoded), encoded))
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that discovery accepted; `document_id` is the SHA-256 of its bytes, `path` is absolute.

    What lies in an object store has its address, as it is shown; then `path` is that of our copy.
    """

    path: str
    document_id: str
    size_bytes: int
    address: str = ""

    @property
    def known_as(self) -> str:
        return self.address or self.path


@dataclass(frozen=True, slots=True)
class SkippedFile:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Block:
    """One element of a page as the parser saw it, in the parser's reading order.

    `text` is plain text; a table has `html` too, and `caption`, `footnote` where the parser joined them.
    `picture` is the artifact hash of a figure's crop, `picture_text` the words in it.
    `level` is a title's (1 = the document's title). `continues` says that the parser joins it to the block before.
    """

    kind: NodeKind
    text: str
    box: Box
    level: int | None = None
    html: str | None = None
    caption: str = ""
    caption_box: Box | None = None
    footnote: str = ""
    picture: str | None = None
    picture_text: str = ""
    continues: bool = False


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A physical page (1-based). `note` says why a fallback read it; `image` is an artifact where one was rendered."""

    number: int
    width_points: float
    height_points: float
    parser: PageParser
    blocks: tuple[Block, ...]
    label: str | None = None
    note: str = ""
    image: str | None = None
    lines: str = ""  # what is printed on it and where, as tasks/algorithms/layout/lines.py writes it


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    title: str
    level: int
    page: int


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    document_id: str
    media_type: str
    title: str
    pages: tuple[ParsedPage, ...]
    outline: tuple[OutlineEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it; `ordinal` counts in reading order, level 1 is the top.

    `summary` is a model's, empty where none wrote one.
    """

    id: str
    document_id: str
    version: str
    ordinal: int
    title: str
    level: int
    parent_id: str | None
    first_page: int
    last_page: int
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """An element of the content graph, v = (s, K, tau, e); its vector is a column of its row.

    `content` is the raw text, a table's Markdown, or the words in a figure. `search_text` is what full text sees:
    section titles, caption, content and the readable words in the picture. `ordinal` is the reading order.
    `meaningless` marks what says nothing by itself (reference lists, runs of signs).
    """

    id: str
    document_id: str
    version: str
    ordinal: int
    kind: NodeKind
    modality: Modality
    content: str
    page: int
    box: Box | None
    section_id: str | None
    section_path: tuple[str, ...]
    caption: str = ""
    label: str = ""
    html: str | None = None
    picture: str | None = None
    picture_text: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    search_text: str = ""
    meaningless: bool = False
    round: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """What of a node is read for an answer, named as in Node; to fetch the rest of it takes as long again."""

    id: str
    document_id: str
    kind: NodeKind
    modality: Modality
    page: int
    meaningless: bool
    content: str
    box: Box | None
    section_path: tuple[str, ...]
    caption: str
    label: str
    picture: str | None
    picture_text: str
    search_text: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table node, searchable by itself: `text` says header and value for each cell."""

    id: str
    node_id: str
    document_id: str
    version: str
    row: int
    page: int
    cells: tuple[str, ...]
    text: str
    is_header: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed edge; a symmetric relation is two of them. A cross-document edge belongs to its source's document."""

    source: str
    target: str
    source_document: str
    target_document: str
    kind: EdgeKind
    weight: float
    relation: str = ""
    round: int = 0

    @property
    def id(self) -> str:
        return identify("edge", self.source, self.target, self.kind)


@dataclass(frozen=True, slots=True)
class Page:
    id: str
    document_id: str
    version: str
    number: int
    label: str | None
    width_points: float
    height_points: float
    parser: PageParser
    note: str
    summary: str
    image: str | None
    lines: str = ""  # what is printed on it and where, as tasks/algorithms/layout/lines.py writes it


@dataclass(frozen=True, slots=True)
class GraphText:
    """Everything but vectors that a document brings into the published graph, cross-document edges aside."""

    document_id: str
    version: str
    title: str
    media_type: str
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    nodes: tuple[Node, ...]
    rows: tuple[TableRow, ...]
    edges: tuple[Edge, ...]
    words: tuple[tuple[str, float], ...] = field(default=(), kw_only=True)  # stems on most of its pages, with the share of them


@dataclass(frozen=True, slots=True)
class DocumentGraph(GraphText):
    """By node `initial_vectors`, `second_vectors` and `tokens` of round 0, and `vectors` of the last; by page `page_vectors`."""

    initial_vectors: Vectors
    vectors: Vectors
    page_vectors: Vectors
    second_vectors: Vectors | None = None
    tokens: Tokens | None = None


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What the catalog says of a document. `attempt` names what a failed try was made with (retried when that changes)."""

    id: str
    version: str
    paths: tuple[str, ...]
    size_bytes: int
    media_type: str
    title: str
    state: DocumentState
    reason: str
    pages: int
    nodes: int
    attempt: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.paths[0].rsplit("/", 1)[-1] if self.paths else self.id[:12]

    @property
    def other_names(self) -> tuple[str, ...]:
        """Names of other files with the same bytes."""
        return tuple(dict.fromkeys(name for path in self.paths if (name := path.rsplit("/", 1)[-1]) != self.name))


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What made the vectors of a corpus; a question must be embedded by the same.

    A corpus may have vectors of a `second` one as well. A setting `named` that: by its name or folder, or as its server calls it.
    `texts` is what of a node was embedded, its "content" or, as the "paper" has it, its summary and keywords.
    """

    name: str
    precision: str
    dimension: int
    second: "EmbedderIdentity | None" = None
    named: str = field(default="", compare=False)
    texts: str = "content"

    @property
    def key(self) -> str:
        own = f"{self.name}/{self.precision}/{self.dimension}{' of summaries' if self.texts == 'paper' else ''}"
        return f"{own} and {self.second.key}" if self.second else own
