"""The records of an evaluation: what a benchmark asks, what came of asking it, and what that was worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_type_hints

if TYPE_CHECKING:
    import polars as pl

PageOf = tuple[str, int]
"""A document by its name in the benchmark, and a page of it, 1-based."""


@dataclass(frozen=True, slots=True)
class BenchmarkQuestion:
    """A question with all that its authors know of its answer.

    `documents` are those that it is asked of, by their names in the benchmark. Any of `answers` is right; there is none where the
    documents do not answer (`answerable` is false) or where none is written down. `evidence` are the pages that hold the answer;
    empty where they are not known. `task` is the kind of question, as the benchmark calls it.
    """

    id: str
    text: str
    documents: tuple[str, ...]
    document_type: str = ""
    answerable: bool = True
    answers: tuple[str, ...] = ()
    answer_format: str = ""
    evidence: tuple[PageOf, ...] = ()
    evidence_sources: tuple[str, ...] = ()
    task: str = ""

    @property
    def judgeable(self) -> bool:
        return bool(self.answers) or not self.answerable


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Questions and the files that they are asked of: `documents` are paths by name; `hash` is of all that is in the questions."""

    name: str
    documents: Mapping[str, str]
    questions: tuple[BenchmarkQuestion, ...]
    hash: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question: pages best first, the pages of the evidence that was read, and the answer with its cost.

    `key` names all that decides it: the question, its documents as they were read in, reader, settings, models and code. `doubts`
    are the features of its refusal, none where a model read; `scores` are those of the first pages of the ranking. `unanswered`:
    the model gave no answer that counts, a small one also where it says that the text does not tell; the status is that of what
    rules say. `answer_shown`: a known answer stands in the quotes of the citations, `answer_first`: in the first of them; None
    where it could stand in no text. `words_shown` counts the words of all quotes. `pieces` are what could have been shown, for a
    fit: of each whether the answer stands in it, whether that proves anything, its words, its block, its features. `looks` are the
    second looks, by their settings: the weight of each, then what it makes of each of the first pages of the ranking. `counts` are
    what the reader counts of its way, such as rounds and pages rated, and whether the gate opened.
    """

    key: str
    question_id: str
    reader: str
    ranked: tuple[PageOf, ...]
    evidence: tuple[PageOf, ...]
    seconds: float
    answer: str
    status: str
    cited: tuple[PageOf, ...] = ()
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    cached: int = 0
    doubts: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    unanswered: bool = False
    words_shown: int = 0
    answer_shown: bool | None = None
    answer_first: bool | None = None
    pieces: tuple[tuple[float, ...], ...] = ()
    looks: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over questions with its 95 % interval, under an arm, on the part of the questions that `group` names.

    `documents` are those that its questions stand in: of one alone the interval is a point and means nothing.
    """

    arm: str
    group: str
    metric: str
    value: float
    low: float
    high: float
    questions: int
    documents: int


FIGURES = get_type_hints(Figure)
"""The columns of a frame of figures."""
SCORED = {"arm": str, "question_id": str, "document": str, "metric": str, "value": float}
"""The columns of a frame of scores: one number for each metric of a question under an arm; a document stands or falls together."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """One evaluation as it is kept: what was asked of what by which code, and all that it measured; no text of any document.

    `figures` and `scored` have the columns `FIGURES` and `SCORED`. `models` are those that embedded, read and judged, by what they
    did; empty where none did it. `notes` are what the figures do not show: documents that could not be read, questions left out.
    """

    run_id: str
    what: str
    started: str
    benchmark: str
    benchmark_hash: str
    corpus: str
    snapshot: int
    scope: str
    code: str
    settings: Mapping[str, object]
    figures: "pl.DataFrame"
    scored: "pl.DataFrame"
    models: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
