"""The calls of a question: counted before they are made, recorded when they end, and what went wrong with them in words."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from enum import Enum

from tasks.asking.request import clean
from tasks.events import CallEnded, DraftGrown, StageReached, emit
from tasks.models.chat.call import ModelCall
from tasks.settings.ask import AskSettings
from tasks.step import workplace


class Stage(Enum):
    """Where a question stands: each stage has calls of its own, and none is handed on."""

    FIRST = 0
    REFINED = 1
    LAST = 2


def stage_bounds(settings: AskSettings, *, first: int, refined: int = 0) -> Mapping[Stage, int]:
    """Return how many calls a question may make in each stage: one more for keywords, one for the answer; none where rules read."""
    if settings.reading.by != "model":
        return dict.fromkeys(Stage, 0)
    return {Stage.FIRST: settings.keywords + first, Stage.REFINED: refined, Stage.LAST: 1}


def call_bounds(settings: AskSettings, *, gated: bool) -> Mapping[Stage, int]:
    """Return the bounds of a question whose paths are read; a gate compares them and may have some read once more."""
    compared = settings.reading.model.compared_pairs if gated else 0
    again = settings.reading.model.rating_calls + settings.selection.read + compared
    return stage_bounds(settings, first=settings.selection.read + compared, refined=again if gated and settings.gate.enabled else 0)


STAGE_WORDS = {
    "plan_decompose": "planning",
    "agent_turn": "taking turns",
    "map_locate": "locating",
    "rate_page": "rating pages",
    "plan_worker": "reading",
    "keywords": "looking for words",
    "worker": "reading",
    "consistency": "checking",
    "synthesis": "putting together",
}
ANOTHER_STAGE = "looking again"


DUTIES_SHARE = 0.6
"""Of a question's time that finding what to read may take with a model."""


@dataclass(slots=True)
class CallBook:
    """What one question asks of the model. `notes` say what went wrong, `left_out` counts citations that prove nothing.

    No call is waited for after the `deadline` (time.monotonic()). `require_model`: that, and the end of the run, is an error.
    `failed`: the model is of no more use to the question. `unread`: passages were not read, or what was read out of them is not
    proven; `unproven` are those answers, the likeliest first. `unanswered` says why none of them counts, where rules quote instead.
    `unchecked` are the words that a model says to see in pictures, each with the node that the picture is of.
    `shown` are the characters of passages that readers were shown, of the `held` that stood on the paths. `reranker` is the one
    that looked at the best pages, if any.
    """

    answer_id: str
    bounds: Mapping[Stage, int]
    deadline: float | None = None
    require_model: bool = False
    failed: bool = False
    unread: bool = False
    unproven: list[str] = field(default_factory=list)
    unanswered: str = ""
    stage: Stage = Stage.FIRST
    asked: dict[Stage, set[str]] = field(default_factory=lambda: {stage: set() for stage in Stage})
    made: list[ModelCall] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: int = 0
    unchecked: set[tuple[str, str]] = field(default_factory=set)
    shown: int = 0
    held: int = 0
    reranker: str = ""
    began: float = field(default_factory=time.monotonic)
    _together: int = 0
    _back: int = 0

    @property
    def over(self) -> bool:
        """Whether the model need not be asked any more: it is of no more use, or the time is up."""
        return self.failed or (self.deadline is not None and time.monotonic() >= self.deadline)

    @property
    def duties_end(self) -> float | None:
        """Until when a model is waited for that does anything but read: the rest of the time is for reading and the answer."""
        return None if self.deadline is None else self.began + DUTIES_SHARE * (self.deadline - self.began)

    def count(self, prompts: Iterable[str]) -> None:
        """Count calls before they are made, once each however often their step is tried; raise RuntimeError where too many."""
        asked = self.asked[self.stage]
        asked.update(prompts)
        if len(asked) > self.bounds[self.stage]:
            raise RuntimeError(
                f"{len(asked)} calls in the {self.stage.name.lower()} stage of a question, {self.bounds[self.stage]} "
                "are allowed; please report this"
            )

    def show(self, characters: int, *, of: int) -> None:
        """Count what a reader was shown of passages that are so long."""
        self.shown += characters
        self.held += of

    def begin(self, purpose: str, together: int) -> None:
        """Record that these calls are asked together."""
        self._together, self._back = together, 0
        self._tell(purpose)

    def end(self, call: ModelCall) -> None:
        self.made.append(call)
        self._back += 1
        if self._together > 1:
            self._tell(call.purpose)

    def _tell(self, purpose: str) -> None:
        words = STAGE_WORDS.get(purpose.removesuffix("_small"), ANOTHER_STAGE)
        if self._together > 1:
            emit(StageReached(self.answer_id, f"{words} {self._back} of {self._together}", self._back, self._together))
        else:
            emit(StageReached(self.answer_id, words))


call_book: ContextVar[CallBook] = ContextVar("call_book")


@contextmanager
def counting_calls(
    answer_id: str, bounds: Mapping[Stage, int], *, deadline: float | None = None, require_model: bool = False
) -> Iterator[CallBook]:
    """Give the book of a question; whatever is asked inside the block, in any thread that it starts, is written there."""
    token = call_book.set(CallBook(answer_id, bounds, deadline, require_model))
    try:
        yield call_book.get()
    finally:
        call_book.reset(token)


def record_call(call: ModelCall) -> None:
    """Write a call that ended to the book of its question, and to the lineage: it ends in the context that it was asked from."""
    book = call_book.get()
    book.end(call)
    place = workplace.get()
    place.log.call(asdict(call) | {"answer_id": book.answer_id})
    emit(CallEnded(place.run_id, call))


def tell_draft(text: str) -> None:
    """Tell what a model has written of the question's answer; called in the context that the call was asked from."""
    emit(DraftGrown(call_book.get().answer_id, clean(text)))
