"""The weights of the probabilities: a file that `flowreader evaluate fit` writes, with the data that says where they apply."""

import functools
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, field_validator

from storage.artifacts import write_durably
from storage.errors import RequestError
from storage.records.documents import EmbedderIdentity
from tasks.algorithms.evidence import FEATURES as PIECES
from tasks.algorithms.flow.sizes import FEATURES
from tasks.algorithms.probability import Logistic
from tasks.algorithms.refusal import FEATURES as REFUSAL
from tasks.settings.readers import PAGES_PER_ANSWER

SHIPPED, SHIPPED_WITHOUT_TOKENS = (Path(__file__).with_name(name) for name in ("weights.json", "weights_without_tokens.json"))
MOST_BYTES = 1_000_000
FIT = "`flowreader evaluate fit DATASET` writes one"


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fitted(Record):
    """A probability by features, whose order the number of weights belongs to."""

    bias: FiniteFloat
    weights: tuple[FiniteFloat, ...]

    @property
    def logistic(self) -> Logistic:
        return Logistic(self.bias, self.weights)


class Provenance(Record):
    """What weights were fitted on, `benchmark` is the hash of its questions; they hold for these models and this reader.

    `tokens` says whether pages were compared token by token.
    """

    dataset: str
    benchmark: str
    documents: int = Field(ge=1)
    questions: int = Field(ge=1)
    code: str
    embedder: str
    reranker: str = ""
    tokens: bool = False
    reader: Literal["flow"] = "flow"


class RefusalWeights(Fitted):
    """The probability that nothing answers, by its features in the order of REFUSAL; from `threshold` on a question is refused."""

    weights: tuple[FiniteFloat, ...] = Field(min_length=len(REFUSAL), max_length=len(REFUSAL))
    threshold: Annotated[FiniteFloat, Field(ge=0.0, le=1.0)]


class PieceWeights(Fitted):
    """The probability that a sentence, a line or a row holds the answer, by its features in the order of PIECES."""

    weights: tuple[FiniteFloat, ...] = Field(min_length=len(PIECES), max_length=len(PIECES))


class ScopeWeights(Fitted):
    """The probability of a page by its features, in the order of FEATURES, and what a page costs, by the average number of pages.

    `refusal` is None where there were too few questions without an answer to fit it.
    """

    weights: tuple[FiniteFloat, ...] = Field(min_length=len(FEATURES), max_length=len(FEATURES))
    prices: dict[int, Annotated[FiniteFloat, Field(ge=0.0, le=1.0)]]
    refusal: RefusalWeights | None = None

    @field_validator("prices")
    @classmethod
    def _has_a_price_for_each_size(cls, prices: dict[int, float]) -> dict[int, float]:
        if tuple(sorted(prices)) != PAGES_PER_ANSWER:
            raise ValueError(f"give a price for each of {', '.join(map(str, PAGES_PER_ANSWER))} pages and for no other number")
        return prices


class Weights(Record):
    """Weights for questions of one document, and of many at once; `pieces` is None where no question's answer can be looked up.

    `looks` are those of the second looks, by the names of their settings.
    """

    version: Literal[1]
    fitted: Provenance
    document: ScopeWeights
    corpus: ScopeWeights
    pieces: PieceWeights | None = None
    looks: dict[str, Annotated[FiniteFloat, Field(ge=0.0)]] = {}

    def holds_for(self, embedder: EmbedderIdentity, reranker: str, *, tokens: bool) -> bool:
        """Say whether probabilities mean anything: those shipped only say how many pages where other models rank them."""
        return self.holds_for_models(embedder, reranker) and self.fitted.tokens == tokens

    def holds_for_models(self, embedder: EmbedderIdentity, reranker: str) -> bool:
        return (self.fitted.embedder, self.fitted.reranker) == (model_of(embedder), reranker)


@functools.cache
def shipped_weights(*, tokens: bool = True) -> Weights:
    return read_weights(SHIPPED if tokens else SHIPPED_WITHOUT_TOKENS)


def weights_with(chosen: Weights, *, tokens: bool) -> Weights:
    """Return the chosen weights: of those shipped the ones with tokens compared, or without."""
    return shipped_weights(tokens=tokens) if chosen == shipped_weights() else chosen


def piece_weights(path: str) -> Logistic:
    """Return the weights of pieces of a user's file, those shipped where it has or is none: they hold for every embedder."""
    found = (read_weights(Path(path)).pieces if path else None) or shipped_weights().pieces
    if found is None:
        raise ValueError("the shipped weights have none for pieces; run `flowreader evaluate fit`")
    return found.logistic


def read_weights(path: Path) -> Weights:
    """Return the weights of a file; raise RequestError where it cannot be read, is cut, of another version or not of numbers."""
    try:
        if path.exists() and not (path.is_file() and path.stat().st_size <= MOST_BYTES):
            raise RequestError(
                f"the weights file {str(path)!r} is not a plain file of at most {MOST_BYTES:,} bytes", str(path), FIT
            )
        return Weights.model_validate_json(path.read_bytes())
    except OSError as error:
        raise RequestError(f"the weights file {str(path)!r} cannot be read: {error.strerror}", str(path), FIT) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        found = f"{place} {str(first['input'])[:40]!r}: " if place else ""
        raise RequestError(f"the weights file {str(path)!r} is damaged: {found}{first['msg'].lower()}", str(path), FIT) from error


def write_weights(path: Path, weights: Weights) -> None:
    write_durably(path, weights.model_dump_json(indent=2).encode() + b"\n")


def model_of(embedder: EmbedderIdentity) -> str:
    """Return what an embedder is called in weights: its precision moves no probability, a second one does."""
    own = f"{embedder.name}/{embedder.dimension}{' of summaries' if embedder.texts == 'paper' else ''}"
    return f"{own} and {model_of(embedder.second)}" if embedder.second else own


def weights_of(path: str, embedder: EmbedderIdentity, reranker: str) -> Weights:
    """Return the weights of a file, those shipped where none is named.

    Raise RequestError where a user's file cannot be read, or is of other models: its probabilities would be none.
    """
    if not path:
        return shipped_weights()
    weights, ours = read_weights(Path(path)), model_of(embedder)
    if not weights.holds_for_models(embedder, reranker):
        fitted = weights.fitted
        if fitted.embedder != ours:
            found = f"the embedder {fitted.embedder!r}, this corpus has {ours!r}"
        else:
            found = f"the reranker {fitted.reranker!r}, there is {reranker!r} now"
        raise RequestError(f"the weights file {path!r} was fitted with {found}", path, FIT)
    return weights
