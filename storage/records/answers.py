"""The records of an answer: what it says, where that stands, how the evidence was routed, what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from storage.records.documents import Box, Modality


class AnswerStatus(StrEnum):
    """What came of a question.

    Of a model's answer all parts are supported (`answered`), some are, or a part of the question has none (`partial`), or nothing
    that was read supports any (`unverified`). `evidence` is what rules found where no model answered: quotes, and no answer.
    """

    ANSWERED = "answered"
    PARTIAL = "partial"
    UNVERIFIED = "unverified"
    EVIDENCE = "evidence"
    NOT_FOUND = "not_found"


class Support(StrEnum):
    """What stands behind a part of an answer: its words or its value stand in what is cited, or we computed it of values there."""

    QUOTED = "quoted"
    COMPUTED = "computed"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """Words of an answer, and what supports them.

    `citations` are the places, from 0, of its proof among the answer's citations; `working` is the arithmetic of a computed part,
    such as "95.2 - 94.1 = 1.1".
    """

    text: str
    support: Support
    citations: tuple[int, ...] = ()
    working: str = ""


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
    """A candidate page with its score; higher is better.

    `probability` that it holds evidence, given that anything that was asked does; None where that is not known.
    """

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
    """A chain of nodes that carried flow, and what its reader said or quoted: `answer` is empty where it supports none.

    `quality` and `share` are those of the paper's replicator dynamics, None where chains do not compete.
    """

    nodes: tuple[str, ...]
    pages: tuple[PagePlace, ...]
    flow: float
    quality: float | None
    share: float | None
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
    """What the gate saw; `triggered` names why it fired and is empty where it stayed quiet. `saturation` is the paper's alone."""

    consistency: float
    saturation: float | None
    triggered: str
    edits: tuple[GraphEdit, ...]


class TraceKind(StrEnum):
    """What a reader did in a step on its way to the evidence."""

    SEARCH = "search"
    SUB_QUESTION = "sub-question"
    CHECK = "check"
    REPLAN = "replan"
    QUERY = "query"
    CONTEXT = "context"
    LOCATE = "locate"
    RATE = "rate"
    REFLECT = "reflect"
    WIDEN = "widen"
    READ = "read"


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A step of a reader that finds its own way: `number` from 1, and the earlier steps that it `needs`.

    `asked` is what it looked for, `found` what came of it, in words; `nodes` and `pages` are where. Words may be a document's.
    """

    number: int
    kind: TraceKind
    asked: str
    found: str
    needs: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    pages: tuple[PagePlace, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """How probable it is that what was asked does not answer the question, by `features` that have names.

    From `threshold` on nothing is shown. Both are None where no weights hold for the corpus's embedder; then nothing is refused.
    """

    features: Mapping[str, float]
    probability: float | None = None
    threshold: float | None = None

    @property
    def refuses(self) -> bool:
        return self.probability is not None and self.threshold is not None and self.probability >= self.threshold


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost: model calls, tokens, money, seconds by step.

    `calls` were made, `cached` were answered before and cost nothing; together there are `most_calls` at most. `counts` are what a
    reader counts of its own way: pages rated, sub-questions, rounds.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    seconds: Mapping[str, float]
    cached: int = 0
    most_calls: int = 0
    counts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its proof. `pages` ranks all candidate pages, `evidence_pages` are those that were read.

    `completeness` is F, the score by which their number was chosen; no probability.
    `answer` is a model's, in `parts` by what supports them, or of the `catalog`, which introduces documents; where none read, or
    nothing was found, it is empty, has no part, and `answer_by` is None: the citations speak.
    `why` gives the reason of the status in words. `top-k` has no paths and no gate; `flow` and `top-k` have no `trace`.
    `asked` is when, in ISO 8601 and UTC; `scope` what the question was limited to. `cached`: the whole answer was kept from when
    the same was asked before; then `usage` is of giving it again. `refusal` is None where a model read.
    `asked_as` is the question as it was understood after the answer that it `follows`; `thread` is the id of the first in a row.
    """

    answer_id: str
    asked: str
    question: str
    answer: str
    answer_by: Literal["model", "catalog"] | None
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
    asked_as: str
    follows: str | None
    thread: str
    notes: tuple[str, ...] = ()
    cached: bool = False
    refusal: Refusal | None = None
    completeness: float | None = None
    trace: tuple[TraceStep, ...] = ()
    parts: tuple[AnswerPart, ...] = ()

    @property
    def was_completed(self) -> bool:
        """Whether the question left out what it is about, and was understood after the one before."""
        return self.asked_as != self.question

    @property
    def is_unproven(self) -> bool:
        """Whether the answer is a model's that nothing proves; what is cited is what rules found."""
        return self.status is AnswerStatus.UNVERIFIED
