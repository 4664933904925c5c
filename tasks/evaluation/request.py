"""What is to be evaluated: which benchmark, by which readers, and where."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tasks.settings.ask import AllSettings, Preset, method_of, settings_over_preset

RESAMPLES = 10_000
What = Literal["retrieval", "answers", "ablations", "probe"]
Reader = Literal["flow", "top-k"]


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
    readers: tuple[Reader, ...] = Field(("flow", "top-k"), min_length=1, description="who reads; ablations are of the first")
    scope: Literal["document", "corpus"] = Field(
        "document", description="document: each question is asked of its own documents; corpus: of all documents at once"
    )
    limit: int | None = Field(None, ge=1, description="only so many questions, spread evenly over the dataset")
    only: tuple[str, ...] = Field((), description="only these ablations, by a part of their name")
    out: str | None = Field(None, description="a file that gets a line of JSON for each question and reader")
    judge: str | None = Field(None, description="the chat model that judges answers beside the rules; none by default")
    questions_at_once: int = Field(
        2, ge=1, le=64, description="questions asked side by side; with a chat model take more, such as 8"
    )
    resamples: int = Field(RESAMPLES, ge=100, le=1_000_000, description="draws of documents that the intervals are made of")
    preset: Preset = "default"
    settings: Annotated[AllSettings, settings_over_preset(lambda method: method)] = Field(
        default_factory=lambda asked: method_of(asked["preset"])
    )
