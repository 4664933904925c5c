"""The arms of an evaluation: readers with their settings, and the default with one thing taken away or exchanged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from storage.errors import RequestError
from storage.records.documents import identify
from tasks.asking.deciding import deciding_settings
from tasks.evaluation.scoring import BASELINE
from tasks.models.reranker import name_of_reranker
from tasks.settings.ask import AllSettings, AskSettings, Preset, method_of, settings_over_preset, without_hurry
from tasks.settings.base import change_settings
from tasks.settings.ingest import IngestSettings
from tasks.settings.reader_methods import READER_ABLATIONS
from tasks.settings.readers import Reader

RESAMPLES = 10_000
WEIGHTS_FILE = "weights.json"
"""Where a fit writes its weights unless it is named another file."""
What = Literal["retrieval", "answers", "ablations", "probe", "fit", "transfer"]


class EvaluationRequest(BaseModel):
    """What to measure. Prefect's UI shows it as a form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: What = Field(
        "retrieval",
        description="retrieval, answers, ablations; probe makes its own questions from a corpus; fit writes the weights of pages' "
        "probabilities; transfer scores those of another dataset",
    )
    dataset: str | None = Field(
        None, description="a folder with documents/ and questions.jsonl, or a public benchmark's files; a probe takes none"
    )
    fitted_on: str | None = Field(None, description="transfer: the dataset that the weights are fitted on")
    corpus: str | None = Field(None, description="the corpus to read the documents into; by default named after the dataset")
    readers: tuple[Reader, ...] = Field(("flow", "top-k"), min_length=1, description="the readers; ablations are of the first")
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
    preset: Preset = "default"
    settings: Annotated[AllSettings, settings_over_preset(without_hurry)] = Field(
        default_factory=lambda asked: without_hurry(method_of(asked["preset"]))
    )

    @model_validator(mode="after")
    def _only_a_fit_chooses_probes(self) -> Self:
        if self.probe and (self.what != "fit" or self.dataset is not None):
            raise ValueError(f"only a fit without a dataset takes probes, not {self.what} of {self.dataset or 'a corpus'}")
        return self

    @property
    def of_probes(self) -> bool:
        """Whether its questions are made of the corpus."""
        return self.what == "probe" or self.probe


FULL = "full"


@dataclass(frozen=True, slots=True)
class Arm:
    name: str
    reader: str
    ingest: IngestSettings
    ask: AskSettings
    whole_corpus: bool = False

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
    whole = request.scope == "corpus"
    if request.what in {"fit", "transfer"} and request.preset != "default":
        raise RequestError(f"the method of preset {request.preset!r} has no weights to fit", request.preset, "leave out --preset")
    if request.what == "transfer" and "flow" not in request.readers:
        raise RequestError(
            f"a transfer scores 'flow', which {', '.join(request.readers)!r} lacks",
            ", ".join(request.readers),
            "leave out --reader",
        )
    if request.what == "ablations":
        return ablation_arms(request.settings, request.readers[0], request.only, whole=whole)
    if request.what == "fit":
        flow, top_k = reader_arms(("flow", BASELINE), change_settings(request.settings, {"ask.weights": ""}))
        return (
            replace(flow, name=OF_DOCUMENT),
            replace(top_k, name=f"{BASELINE}, own documents"),
            replace(flow, name=OF_CORPUS, whole_corpus=True),
            replace(top_k, name=f"{BASELINE}, all documents", whole_corpus=True),
        )
    arms = reader_arms(request.readers, request.settings, whole=whole)
    if request.repeats == 1:
        return arms
    if request.what != "answers" or request.settings.ask.reading.by != "model":
        raise RequestError(
            f"{request.repeats} repeats measure how a model's answers differ, and no model answers here",
            str(request.repeats),
            "leave --repeats out, or evaluate answers by a model",
        )
    return tuple(_repeat(arm, number) for arm in arms for number in range(request.repeats))


def _repeat(arm: Arm, number: int) -> Arm:
    """Return an arm for a further time that its questions are asked; the first, 0, is the arm itself."""
    asks = change_settings(arm.ask, {"models.repeat": number})
    return replace(arm, name=f"{arm.name}, repeat {number + 1}", ask=asks) if number else arm


def reader_arms(readers: Sequence[str], settings: AllSettings, *, whole: bool = False) -> tuple[Arm, ...]:
    return tuple(Arm(reader, reader, settings.for_ingest(), settings.ask, whole) for reader in dict.fromkeys(readers))


def ablation_arms(settings: AllSettings, reader: str, only: Sequence[str] = (), *, whole: bool = False) -> tuple[Arm, ...]:
    """Return the whole method first, then each ablation of it; raise RequestError where `only` names none."""
    changes = ablations_of(settings, reader)
    for part in only:
        if not any(part in name for name in changes):
            raise RequestError(f"no ablation is called {part!r}", part, f"there are: {', '.join(changes)}")
    chosen = {name: change for name, change in changes.items() if not only or any(part in name for part in only)}
    varied = {FULL: settings} | {name: change_settings(settings, change) for name, change in chosen.items()}
    return tuple(Arm(name, reader, of_arm.for_ingest(), of_arm.ask, whole) for name, of_arm in varied.items())


def ablations_of(settings: AllSettings, reader: str) -> Mapping[str, Mapping[str, Any]]:
    """Return what each ablation of a reader changes; changes already in effect are left out."""
    own = READER_ABLATIONS.get(reader, {})
    return {name: change for name, change in own.items() if change_settings(settings, change) != settings} or ablations(settings)


def ablations(settings: AllSettings) -> Mapping[str, Mapping[str, Any]]:
    """Return what each ablation changes, by the dotted name of the setting; changes already in effect are left out."""
    unnamed = {f"ask.named.{name}": 0.0 for name in type(settings.ask.named).model_fields if name in _OUTRIGHT}
    alone = {"ask.score.relevance": 1.0, "ask.score.propagation": 0.0, "ask.score.diffusion": 0.0}
    found: dict[str, dict[str, Any]] = {
        "relevance only": alone,
        "relevance only, no BM25": alone | {"ask.relevance.lexical_share": 0.0},
        "without propagation": _without(settings, "propagation"),
        "without diffusion": _without(settings, "diffusion"),
        "without BM25": {"ask.relevance.lexical_share": 0.0},
        "BM25 only": {"ask.relevance.lexical_share": 1.0},
        "paper's routing": {"ask.routing.network": "paper"},
        "the paper's arcs only": {"ask.candidates.arcs": "paper"},
        "BM25 sees summary and keywords": {"ask.relevance.text": "paper"},
        "vectors of summary and keywords": {"reading.embedding.text": "paper"},
        "question against evolved vectors": {"ask.relevance.vectors": "evolved"},
        "without places named": unnamed,
        "without leaning to documents": {"ask.named.document": 0.0},
        "without the glossary of statements": {"ask.named.ratio": 0.0, "ask.named.item": 0.0},
        "without the page's share": {"ask.relevance.page_share": 0.0},
        "without pairs of words": {"ask.relevance.pair_share": 0.0},
        "without keeping what no arc reaches": {"ask.score.keep_unreached": False},
        "without scaling diffusion": {"ask.score.scale_diffusion": False},
        "diffusion by the edges' weights": {"ask.score.diffusion_weights": "edges"},
        "without OCR": {"reading.ocr.enabled": False},
    }
    if settings.ask.routing.network == "paper":
        found |= {
            "without the gate": {"ask.gate.enabled": False},
            "greedy paths": {"ask.selection.rule": "greedy"},
            "mixing 0": {"ask.selection.mixing": 0.0},
            "start by flow": {"ask.selection.start": "flow"},
            "start by flow and quality": {"ask.selection.start": "both"},
            "without diverse sources": {"ask.routing.diversity": 1.0},
        }
    if settings.reading.embedding.tokens:
        found["without comparing tokens"] = {"ask.second.tokens_weight": 0.0}
    if settings.reading.embedding.second:
        found["without the second embedder"] = {"ask.second.weight": 0.0}
    if name_of_reranker(settings.ask):
        found["without the reranker"] = {"ask.second.rerank_weight": 0.0}
    if settings.ask.reading.by == "model":
        found |= {
            "the model's keywords": {"ask.keywords": True},
            "pairs rated as in the paper": {"ask.gate.scorer_temperature": 0.2},
        }
    found |= {f"evolution rounds {rounds}": {"reading.evolution.rounds": rounds} for rounds in range(6)}
    return {name: change for name, change in found.items() if change_settings(settings, change) != settings}


_OUTRIGHT = {"place", "ratio", "item", "title", "modality"}
"""What is added for what a question names; the other settings of that group are shares of these."""


def _without(settings: AllSettings, signal: str) -> dict[str, float]:
    """Return the score's weights without one signal, the others in their proportion."""
    weights = {name: float(getattr(settings.ask.score, name)) for name in ("relevance", "propagation", "diffusion")}
    left = sum(weights.values()) - weights[signal] or 1.0
    return {f"ask.score.{name}": 0.0 if name == signal else weight / left for name, weight in weights.items()}
