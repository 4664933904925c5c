"""The records of an answer: what it says, where that stands, how the evidence was routed, what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from storage.records.documents import Box, Modality


class AnswerStatus(StrEnum):
    """What came of a question.

    `answered` and `partial`, where a part of the question has no support, are for a model that read; `evidence` was found by rules
    and no model read it.
    """

    ANSWERED = "answered"
    PARTIAL = "partial"
    EVIDENCE = "evidence"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class NamedDocument:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class PagePlace:
    """A page of a document, 1-based: the physical page, slide or sheet; 1 for DOCX and HTML."""

    document: NamedDocument
    page: int


@dataclass(frozen=True, slots=True)
class RankedPage:
    """A candidate page with its score; higher is better. `probability` that it holds the answer, None where that is not known."""

    document: NamedDocument
    page: int
    score: float
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """Words of a document that the answer stands on. Without a box the element itself is shown; an erased quote is empty.

    `probability` that its page holds the answer, None where that is not known.
    """

    document: NamedDocument
    page: int
    box: Box | None
    node_id: str
    quote: str
    section: tuple[str, ...] = ()
    modality: Modality = Modality.TEXT
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class EvidencePath:
    """A chain of nodes that carried flow, and what its reader said: `answer` is empty where it supports none."""

    nodes: tuple[str, ...]
    pages: tuple[PagePlace, ...]
    flow: float
    quality: float
    share: float
    answer: str = ""


@dataclass(frozen=True, slots=True)
class GraphEdit:
    """A change that System 2 made to the network: an arc's similarity before and after, or a new source (no target)."""

    kind: str
    source: str
    target: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class GateReport:
    """What the gate saw; `triggered` names why it fired and is empty where it stayed quiet."""

    consistency: float
    saturation: float
    triggered: str
    edits: tuple[GraphEdit, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost: model calls, tokens, money, seconds by step.

    `calls` were made, `cached` were answered before and cost nothing; together there are `most_calls` at most.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    seconds: Mapping[str, float]
    cached: int = 0
    most_calls: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its proof. `pages` ranks all candidate pages, `evidence_pages` are where the chosen paths stand.

    `answer_by` is None where nothing was found; `why` gives the reason of the status in words. `top-k` has no paths and no gate.
    `asked` is when, in ISO 8601 and UTC; `scope` what the question was limited to. `cached`: the whole answer was kept from when
    the same was asked before; then `usage` is of giving it again.
    """

    answer_id: str
    asked: str
    question: str
    answer: str
    answer_by: Literal["model", "rules"] | None
    status: AnswerStatus
    why: str
    reader: str
    citations: tuple[Citation, ...]
    paths: tuple[EvidencePath, ...]
    pages: tuple[RankedPage, ...]
    evidence_pages: tuple[PagePlace, ...]
    gate: GateReport | None
    usage: Usage
    corpus: str
    snapshot: int
    scope: Mapping[str, Any]
    settings: Mapping[str, Any]
    models: Mapping[str, str]
    notes: tuple[str, ...] = ()
    cached: bool = False
