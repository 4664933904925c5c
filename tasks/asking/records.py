"""A question on its way to an answer, and what it takes to read: with a model or without, it is done by this protocol."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from storage.records.answers import AnswerPart, AnswerStatus
from storage.records.documents import PageKey, Passage, TableRow
from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.flow.refinement import Trigger
from tasks.algorithms.questions.places import NamedPlace
from tasks.algorithms.questions.terms import QuestionTerms
from tasks.models.chat.call import nothing_wrong
from tasks.prompts.prompt import Piece

T = TypeVar("T", bound=BaseModel)
Seen = TypeVar("Seen")


class Recorder(Generic[Seen]):
    """Takes what a step works with and no answer holds, for evaluations to fit to."""

    def __init__(self, name: str) -> None:
        self._watched: ContextVar[list[Seen] | None] = ContextVar(name, default=None)

    @property
    def is_watched(self) -> bool:
        return self._watched.get() is not None

    def record(self, item: Seen) -> None:
        if (seen := self._watched.get()) is not None:
            seen.append(item)

    @contextmanager
    def watch(self) -> Iterator[list[Seen]]:
        """Give a list that takes the items of each question that is answered inside the block, in any thread that it starts."""
        seen: list[Seen] = []
        token = self._watched.set(seen)
        try:
            yield seen
        finally:
            self._watched.reset(token)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what its words look for: terms for full text, places that it names, and its vector (d,).

    `text` is the question as it is understood; `cited` are nodes that the answer before it cites.
    """

    id: str
    text: str
    terms: QuestionTerms
    places: tuple[NamedPlace, ...]
    vector: npt.NDArray[np.float32]
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeScores:
    """What each candidate is worth (n,): its relevance r, phi and h, all of them r where nothing is propagated.

    `rarity` is how rare each stem of the question is in the scope, `present` which of them stand in the candidates. `named` are the
    nodes that the question names outright; then NAMED_PLACE is among the stems, as rare as the rarest. `unknown` are the places
    that it names and nothing in what is asked has, `nearest` is the largest cosine of a candidate to the question. `reranker` is
    the one that looked at the best pages, if any; `tokens`: they were compared token by token.
    """

    relevance: FloatArray
    propagated: FloatArray
    combined: FloatArray
    rarity: Mapping[str, float]
    present: frozenset[str]
    named: frozenset[str]
    unknown: tuple[str, ...] = ()
    nearest: float = 0.0
    reranker: str = ""
    tokens: bool = False


@dataclass(frozen=True, slots=True)
class Aim:
    """Why a path is read, when that is only a part of what was `asked`: a sub-question, and the answers it needs.

    A model may have written them, out of what documents say: a prompt fences them as it does passages.
    """

    asked: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class PathText:
    """What stands on a path: its nodes in order, and the rows of its tables by node; `rarity` weighs the question's stems.

    `worth` is what each node is worth to the question, 0..1, by its id; `named` are nodes that it names outright. Of its anchors
    (names, years, numbers; stems) `present` are those that stand anywhere in what is asked, `titled` those in the name or title of
    each document, by its id. `pages` are the pictures of its pages that are shown whole, to a model that sees. `part` is what its
    reader has of these pages, where another has the other part.
    """

    nodes: tuple[Passage, ...]
    rows: Mapping[str, tuple[TableRow, ...]]
    rarity: Mapping[str, float]
    worth: Mapping[str, float]
    present: frozenset[str]
    titled: Mapping[str, frozenset[str]]
    named: frozenset[str]
    aim: Aim | None = None
    pages: Mapping[PageKey, bytes] = field(default_factory=dict, repr=False)
    part: Literal["", "text", "pictures"] = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a node that say something to the question.

    `text` stands in the node. `worth` 0..1 is what its node is worth; `covered` are the stems of the question in it, `beside` those
    in its headings, its caption, or, where they are names, in the title of its document.
    """

    node: Passage
    text: str
    worth: float
    covered: frozenset[str]
    beside: frozenset[str]


@dataclass(frozen=True, slots=True)
class PathReading:
    """What the reader of a path answers, or quotes; without support `answer` is empty and there are no quotes.

    `present` are the anchors of the question that stand anywhere in the scope; `whole`: all of the question is answered.
    `facts` are those that a model says it read, and `path` what it read them from; `parts` are those of an answer that is proven
    by more than its own quotes. `seen` are the nodes, by id, whose picture,
    which it was shown, may say more than their text.
    """

    answer: str
    quotes: tuple[Quote, ...]
    present: frozenset[str] = frozenset()
    whole: bool = True
    facts: str = ""
    path: PathText | None = None
    parts: tuple[AnswerPart, ...] = ()
    seen: frozenset[str] = frozenset()

    @property
    def supported(self) -> bool:
        return bool(self.answer)


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The answer as a model gives it with its parts, the quotes it stands on in order, and the reason of the status in words."""

    answer: str
    status: AnswerStatus
    quotes: tuple[Quote, ...]
    why: str
    notes: tuple[str, ...] = ()
    parts: tuple[AnswerPart, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far the evidence can be trusted; without a trigger it is taken as it is."""

    consistency: float
    saturation: float | None
    trigger: Trigger | None


@dataclass(frozen=True, slots=True)
class Duty(Generic[T]):
    """What a method has a model do beside reading: by this prompt, in this form, with these pieces and pictures of others.

    `item` names it in notes; `check` says what is wrong with a reply that fits the form, "" where nothing is. `shows` are words for
    each of the pictures, where the prompt has to say what they are.
    """

    prompt: str
    item: str
    form: type[T]
    pieces: tuple[Piece, ...]
    check: Callable[[T], str] = nothing_wrong
    pictures: tuple[bytes, ...] = ()
    shows: tuple[str, ...] = ()


class PathReader(Protocol):
    """A way to read evidence; none of its answers depends on the order in which it is asked.

    `model` is the chat model that reads, "" where rules do. `judged`: the gate of the default judges what it read, and may have it
    read once more. `short`: a duty is to be asked in a small form; of no account where rules read. `sees`: pictures are of use to
    it, so not where its model is asked no more. `notes` say why it is not what was asked for, where it is not. `rater` rates pages
    for it: another model where one is named, else itself.
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def judged(self) -> bool: ...

    @property
    def short(self) -> bool: ...

    @property
    def sees(self) -> bool: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    @property
    def rater(self) -> "PathReader": ...

    def keywords(self, question: str) -> Sequence[str]: ...

    def do(self, question: Question, duties: Sequence[Duty[T]]) -> list[T | None]:
        """Let the model do all of these at once; None where it gives no usable reply or rules read: then a rule does it."""
        ...

    def read(self, question: Question, paths: Sequence[PathText]) -> tuple[PathReading, ...]:
        """Answer from each path alone, in their order; a model is asked of all paths at once."""
        ...

    def consistency(self, question: Question, readings: Sequence[PathReading]) -> float:
        """Return how well the supported answers agree, 0..1; 1 where fewer than two can be compared."""
        ...

    def rate_pairs(
        self, question: Question, pairs: Sequence[tuple[Passage, Passage]], similarities: Sequence[float], *, bridges: bool
    ) -> list[float]:
        """Return for each pair of passages how much going from the first to the second helps with the question, 0..1.

        Of `bridges`, which no arc joins yet, also whether the two have to do with each other at all.
        """
        ...

    def synthesize(
        self, question: Question, readings: Sequence[PathReading], rarity: Mapping[str, float], verdict: Verdict | None
    ) -> Synthesis:
        """Put the readings together into one answer, or say that there is none; `verdict` is the gate's, where there is one."""
        ...
