"""The arms of an evaluation: readers with their settings, and the default with one thing taken away or exchanged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from storage.errors import RequestError
from storage.records.documents import identify
from tasks.asking.deciding import deciding_settings
from tasks.evaluation.scoring import BASELINE
from tasks.evaluation.tables.ablations import ablations_of
from tasks.evaluation.tables.published import PublishedTable, find_table
from tasks.settings.ask import AllSettings, AskSettings, method_of, set_values, settings_over_preset, without_hurry
from tasks.settings.base import change_settings
from tasks.settings.ingest import IngestSettings
from tasks.settings.readers import PRESETS_HELP, READER_OF_PRESET, MeasuredReader, Preset

RESAMPLES = 10_000
WEIGHTS_FILE = "weights.json"
"""Where a fit writes its weights unless it is named another file."""
What = Literal["retrieval", "answers", "ablations", "table", "probe", "fit", "transfer"]


class EvaluationRequest(BaseModel):
    """What to measure. Prefect's UI shows it as a form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: What = Field(
        "retrieval",
        description="retrieval, answers, ablations; table: a table of a paper; probe makes its own questions from a corpus; fit "
        "writes the weights of pages' probabilities; transfer scores those of another dataset",
    )
    table: str | None = Field(None, description="the table of a paper, such as molorag-2")
    answers: bool = Field(False, description="ablations: measure the answers in place of the pages")
    preset: Preset = Field(
        default_factory=lambda asked: find_table(asked["table"]).preset if asked.get("table") else "default",
        description=f"{PRESETS_HELP}; of a table its own",
    )
    dataset: str | None = Field(
        None, description="a folder with documents/ and questions.jsonl, or a public benchmark's files; a probe takes none"
    )
    fitted_on: str | None = Field(None, description="transfer: the dataset that the weights are fitted on")
    corpus: str | None = Field(None, description="the corpus to read the documents into; by default named after the dataset")
    readers: tuple[MeasuredReader, ...] = Field(
        default_factory=lambda asked: (READER_OF_PRESET[asked["preset"]], BASELINE),
        min_length=1,
        description="the readers, by default the preset's and top-k; ablations: of the first",
    )
    scope: Literal["document", "corpus"] = Field(
        "document", description="document: each question is asked of its own documents; corpus: of all documents at once"
    )
    probe: bool = Field(False, description="fit: to probes of the corpus, which need no labels, in place of a dataset's questions")
    limit: int | None = Field(None, ge=1, description="at most this many questions, spread evenly over the dataset")
    only: tuple[str, ...] = Field((), description="only these ablations, by a part of their name")
    out: str | None = Field(
        None,
        description="a file that gets a line for each question and reader: .jsonl, .csv or .parquet; of a fit the weights",
    )
    judge: str | None = Field(
        None, description="the chat model that judges answers besides the rules; by default that of FLOWREADER_JUDGE_MODEL, if any"
    )
    repeats: int = Field(1, ge=1, le=100, description="answers: how often a model is asked each question")
    questions_at_once: int = Field(
        2, ge=1, le=64, description="questions asked side by side; with a chat model take more, such as 8"
    )
    resamples: int = Field(RESAMPLES, ge=100, le=1_000_000, description="resamples of the documents for the intervals")
    set: dict[str, Any] = Field({}, description="numbers of the method for this evaluation alone, such as ask.walk.pages: 5")
    settings: Annotated[AllSettings, settings_over_preset(without_hurry)] = Field(
        default_factory=lambda asked: set_values(without_hurry(method_of(asked["preset"])), asked["set"])
    )

    @model_validator(mode="after")
    def _asks_what_there_is(self) -> Self:
        if (self.table is None) == (self.what == "table"):
            raise ValueError(f"a table has a name, such as molorag-2, and nothing else has: {self.what}, {self.table}")
        if (table := self.published) and table.preset != self.preset:
            raise ValueError(f"{self.table} is a table of the preset {table.preset}, not of {self.preset}")
        if self.answers and self.what != "ablations":
            raise ValueError(f"only ablations measure answers in place of pages, not {self.what}")
        if self.of_probes and any(name.startswith("reading.") for name in self.set):
            raise ValueError("probes read nothing in, so that nothing of reading can be set for them")
        if self.probe and (self.what != "fit" or self.dataset is not None):
            raise ValueError(f"only a fit without a dataset takes probes, not {self.what} of {self.dataset or 'a corpus'}")
        return self

    @property
    def published(self) -> PublishedTable | None:
        return find_table(self.table or "") if self.what == "table" else None

    @property
    def of_answers(self) -> bool:
        """Whether answers are read and judged; else pages are measured."""
        table = self.published
        return table.what == "answers" if table else self.what == "answers" or (self.what == "ablations" and self.answers)

    @property
    def of_probes(self) -> bool:
        """Whether its questions are made of the corpus."""
        return self.what == "probe" or self.probe


FULL = "full"


@dataclass(frozen=True, slots=True)
class Arm:
    name: str
    reader: MeasuredReader
    ingest: IngestSettings
    ask: AskSettings
    whole_corpus: bool = False

    @property
    def name_once(self) -> str:
        """What all repeats of the arm are called together."""
        return self.name.partition(REPEAT)[0]

    @property
    def variant(self) -> str:
        """What the arm tries, as a hash: its settings, whatever model reads and whatever it asks."""
        return identify(self.read_alike, deciding_settings(self.ask))

    @property
    def read_alike(self) -> str:
        """What decides how documents are read in, as a hash: arms that agree in it share a corpus."""
        return identify(self.ingest.reading.deciding())


OF_DOCUMENT, OF_CORPUS = "flow, own documents", "flow, all documents"
"""The arms of a fit, which has weights for either."""


def arms_of(request: EvaluationRequest) -> tuple[Arm, ...]:
    """Return the arms, the reference first; raise RequestError for what the request's method cannot be measured by."""
    if request.what in {"fit", "transfer"} and request.preset != "default":
        raise RequestError(f"the method of preset {request.preset!r} has no weights to fit", request.preset, "leave out --preset")
    if request.what == "transfer" and "flow" not in request.readers:
        raise RequestError(
            f"a transfer scores 'flow', which {', '.join(request.readers)!r} lacks",
            ", ".join(request.readers),
            "leave out --reader",
        )
    if request.what == "fit":
        flow, top_k = reader_arms(("flow", BASELINE), change_settings(request.settings, {"ask.weights": ""}))
        return (
            replace(flow, name=OF_DOCUMENT),
            replace(top_k, name=f"{BASELINE}, own documents"),
            replace(flow, name=OF_CORPUS, whole_corpus=True),
            replace(top_k, name=f"{BASELINE}, all documents", whole_corpus=True),
        )
    arms = _arms_alone(request)
    if request.repeats == 1:
        return arms
    if not request.of_answers or request.settings.ask.reading.by != "model":
        raise RequestError(
            f"{request.repeats} repeats measure how a model's answers differ, and no model answers here",
            str(request.repeats),
            "leave --repeats out, or evaluate answers by a model",
        )
    return tuple(_repeat(arm, number) for arm in arms for number in range(request.repeats))


def _arms_alone(request: EvaluationRequest) -> tuple[Arm, ...]:
    """Return the arms without their repeats."""
    whole, table = request.scope == "corpus", request.published
    if request.what == "ablations":
        return ablation_arms(request.settings, request.readers[0], request.only, whole=whole)
    if table:
        rows = {name: (reader, change_settings(request.settings, own)) for name, (reader, own) in table.own_rows.items()}
        return tuple(Arm(name, reader, row.for_ingest(), row.ask, whole) for name, (reader, row) in rows.items())
    return reader_arms(request.readers, request.settings, whole=whole)


REPEAT = ", repeat "


def _repeat(arm: Arm, number: int) -> Arm:
    """Return an arm for a further time that its questions are asked; the first, 0, is the arm itself."""
    asks = change_settings(arm.ask, {"models.repeat": number})
    return replace(arm, name=f"{arm.name}{REPEAT}{number + 1}", ask=asks) if number else arm


def reader_arms(readers: Sequence[MeasuredReader], settings: AllSettings, *, whole: bool = False) -> tuple[Arm, ...]:
    return tuple(Arm(reader, reader, settings.for_ingest(), settings.ask, whole) for reader in dict.fromkeys(readers))


def ablation_arms(
    settings: AllSettings, reader: MeasuredReader, only: Sequence[str] = (), *, whole: bool = False
) -> tuple[Arm, ...]:
    """Return the whole method first, then each ablation of it; raise RequestError where `only` names none."""
    changes = ablations_of(settings, reader)
    for part in only:
        if not any(part in name for name in changes):
            raise RequestError(f"no ablation is called {part!r}", part, f"there are: {', '.join(changes)}")
    chosen = {name: change for name, change in changes.items() if not only or any(part in name for part in only)}
    varied = {FULL: settings} | {name: change_settings(settings, change) for name, change in chosen.items()}
    return tuple(Arm(name, reader, of_arm.for_ingest(), of_arm.ask, whole) for name, of_arm in varied.items())
