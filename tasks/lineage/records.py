"""The records of lineage: how an answer, a document or a run came to be, and what became of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from storage.records.answers import NamedDocument, PagePlace
from storage.records.documents import Box
from storage.records.steps import StepRecord


class RunKind(StrEnum):
    """What a run did; `unknown` where the line that says it is lost."""

    ASK = "ask"
    INGEST = "ingest"
    EVOLVE = "evolve"
    EVALUATE = "evaluate"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        return "run" if self is RunKind.UNKNOWN else f"{self} run"


Row = dict[str, Any]
"""A row that is only shown: an answer in a list, or the sum of a run's steps of one name or calls for one purpose."""

MAKES_DOCUMENTS = frozenset({RunKind.INGEST, RunKind.EVOLVE})


class Standing(StrEnum):
    """Whether a document is there: `replaced` where its file has another content now, `gone` where none has its name."""

    PUBLISHED = "published"
    REPLACED = "replaced"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Damage:
    """A run's file that cannot be read in full: how many lines are cut, or why it cannot be opened."""

    run_id: str
    torn: int
    unreadable: str


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run: `began` is when the first step did that is named, `outcome` how it ended, `snapshot` what was published then."""

    run_id: str
    kind: RunKind
    began: str
    outcome: str
    snapshot: int | None
    code_version: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call of a model, about an answer or a document; `prompt` is the file whose hash it is, empty where none has it any more."""

    about: str
    purpose: str
    model: str
    prompt: str
    prompt_hash: str
    key: str
    input_tokens: int
    output_tokens: int
    cost: float
    seconds: float
    attempts: int
    outcome: str
    error: str


@dataclass(frozen=True, slots=True)
class PagesRead:
    """Pages of a document that one parser read, and why a fallback did."""

    document_id: str
    parser: str
    pages: tuple[int, ...]
    note: str


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """What a run did with a document; `published` says that it made the version that is published now."""

    run: RunHead
    steps: tuple[StepRecord, ...]
    calls: tuple[CallRecord, ...]
    published: bool


@dataclass(frozen=True, slots=True)
class DocumentHistory:
    """A document and the runs that read it, the newest first. `document.id` is the SHA-256 of its bytes.

    What is not published any more has no files, and what is gone no name: of a removed document nothing comes back.
    `parser` has the versions; `notes` name pages that another than the usual one read.
    """

    document: NamedDocument
    standing: Standing
    version: str
    state: str
    reason: str
    paths: tuple[str, ...]
    size_bytes: int
    media_type: str
    pages: int
    nodes: int
    notes: tuple[str, ...]
    parser: str
    readings: tuple[DocumentReading, ...]


@dataclass(frozen=True, slots=True)
class NodePlace:
    """A node of a path; `kind` and `document_id` are empty where it is not in the corpus any more."""

    id: str
    document_id: str = ""
    page: int = 0
    kind: str = ""
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class PathPlaces:
    """A path of an answer, without the words of its reader."""

    nodes: tuple[NodePlace, ...]
    pages: tuple[PagePlace, ...]
    flow: float
    quality: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class DocumentInRun:
    """A document that a run had to do with; what is not published has no name here."""

    document: NamedDocument
    published: bool
