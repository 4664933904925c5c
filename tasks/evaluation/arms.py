"""The arms of an evaluation: readers with their settings, and the default with one thing taken away or exchanged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from storage.errors import ExpectedError
from storage.records.documents import identify
from tasks.settings.ask import AllSettings, AskSettings, Preset, method_of, settings_over_preset
from tasks.settings.base import changed
from tasks.settings.ingest import IngestSettings
from tasks.settings.readers import Reader

RESAMPLES = 10_000
What = Literal["retrieval", "answers", "ablations", "probe"]


class EvaluationRequest(BaseModel):
    """What to measure. Prefect's UI shows it as a form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: What = Field("retrieval", description="retrieval, answers, ablations; probe makes its own questions from a corpus")
    dataset: str | None = Field(
        None, description="a folder with documents/ and questions.jsonl, or a public benchmark's files; a probe takes none"
    )
    corpus: str | None = Field(
        None, description="the corpus that the documents are read into; one of the dataset's name by default"
    )
    readers: tuple[Reader, ...] = Field(("flow", "top-k"), min_length=1, description="the readers; ablations are of the first")
    scope: Literal["document", "corpus"] = Field(
        "document", description="document: each question is asked of its own documents; corpus: of all documents at once"
    )
    limit: int | None = Field(None, ge=1, description="only so many questions, spread evenly over the dataset")
    only: tuple[str, ...] = Field((), description="only these ablations, by a part of their name")
    out: str | None = Field(None, description="a file that gets a line for each question and reader: .jsonl, .csv or .parquet")
    judge: str | None = Field(None, description="the chat model that judges answers besides the rules; none by default")
    questions_at_once: int = Field(
        2, ge=1, le=64, description="questions asked side by side; with a chat model take more, such as 8"
    )
    resamples: int = Field(RESAMPLES, ge=100, le=1_000_000, description="draws of documents that the intervals are made of")
    preset: Preset = "default"
    settings: Annotated[AllSettings, settings_over_preset(lambda method: method)] = Field(
        default_factory=lambda asked: method_of(asked["preset"])
    )


FULL = "full"


@dataclass(frozen=True, slots=True)
class Arm:
    name: str
    reader: str
    ingest: IngestSettings
    ask: AskSettings

    @property
    def read_alike(self) -> str:
        """What decides how documents are read in, as a hash: arms that agree in it share a corpus."""
        return identify(self.ingest.reading.deciding())


class EvaluationError(ExpectedError, ValueError):
    """An evaluation that cannot be made of what was asked for; the message names what is missing and the remedy."""


def arms_of(request: EvaluationRequest) -> tuple[Arm, ...]:
    if request.what == "ablations":
        return ablation_arms(request.settings, request.readers[0], request.only)
    return reader_arms(request.readers, request.settings)


def reader_arms(readers: Sequence[str], settings: AllSettings) -> tuple[Arm, ...]:
    return tuple(_arm(reader, reader, settings) for reader in dict.fromkeys(readers))


def ablation_arms(settings: AllSettings, reader: str, only: Sequence[str] = ()) -> tuple[Arm, ...]:
    """Return the whole method first, then each ablation of it; raise EvaluationError where `only` names none."""
    changes = ablations(settings)
    for part in only:
        if not any(part in name for name in changes):
            raise EvaluationError(f"no ablation is called {part!r}; there are: {', '.join(changes)}")
    chosen = {name: change for name, change in changes.items() if not only or any(part in name for part in only)}
    return (
        _arm(FULL, reader, settings),
        *(_arm(name, reader, changed(settings, change)) for name, change in chosen.items()),
    )


def _arm(name: str, reader: str, settings: AllSettings) -> Arm:
    return Arm(name, reader, settings.for_ingest(), settings.ask)


def ablations(settings: AllSettings) -> Mapping[str, Mapping[str, Any]]:
    """Return what each ablation changes, by the dotted name of the setting; what is so already is left out."""
    unnamed = {f"ask.named.{name}": 0.0 for name in type(settings.ask.named).model_fields if name in _OUTRIGHT}
    alone = {"ask.score.relevance": 1.0, "ask.score.propagation": 0.0, "ask.score.diffusion": 0.0}
    found: dict[str, dict[str, Any]] = {
        "relevance only": alone,
        "relevance only, no BM25": alone | {"ask.relevance.lexical_share": 0.0},
        "without propagation": _without(settings, "propagation"),
        "without diffusion": _without(settings, "diffusion"),
        "without BM25": {"ask.relevance.lexical_share": 0.0},
        "BM25 only": {"ask.relevance.lexical_share": 1.0},
        "greedy paths": {"ask.selection.rule": "greedy"},
        "mixing 0": {"ask.selection.mixing": 0.0},
        "start by flow": {"ask.selection.start": "flow"},
        "start by flow and quality": {"ask.selection.start": "both"},
        "diagonal q": {"ask.selection.diagonal_power": 1.0},
        "extinction after mixing": {"ask.selection.extinct_before_mixing": False},
        "BM25 sees summary and keywords": {"ask.relevance.text": "paper"},
        "vectors of summary and keywords": {"reading.embedding.text": "paper"},
        "question against evolved vectors": {"ask.relevance.vectors": "evolved"},
        "one entry for all questions": {"ask.routing.entry_surveying": settings.ask.routing.entry},
        "chains of one page": {"ask.routing.onward": 0.0, "ask.routing.title_page": 0.0},
        "without the title page": {"ask.routing.title_page": 0.0},
        "paper's routing, demand 6": {"ask.routing.formulation": "paper"},
        "paper's routing, demand by question": {"ask.routing.formulation": "paper", "ask.routing.demand_by": "question"},
        "without places named": unnamed,
        "without the gate": {"ask.gate.enabled": False},
        "without the page's share": {"ask.relevance.page_share": 0.0},
        "without OCR": {"reading.ocr.enabled": False},
    }
    found |= {f"evolution rounds {rounds}": {"reading.evolution.rounds": rounds} for rounds in range(6)}
    return {name: change for name, change in found.items() if changed(settings, change) != settings}


_OUTRIGHT = {"place", "ratio", "item", "title", "modality"}
"""What is added for what a question names; the other settings of that group are shares of these."""


def _without(settings: AllSettings, signal: str) -> dict[str, float]:
    """Return the score's weights without one signal, the others in their proportion."""
    weights = {name: float(getattr(settings.ask.score, name)) for name in ("relevance", "propagation", "diffusion")}
    left = sum(weights.values()) - weights[signal] or 1.0
    return {f"ask.score.{name}": 0.0 if name == signal else weight / left for name, weight in weights.items()}
