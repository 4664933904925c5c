"""An ingest of the query service: its request, its progress, and its result."""

from typing import Any

from pydantic import BaseModel, Field

from tasks.views.errors import ErrorView


class IngestView(BaseModel):
    id: str
    corpus: str
    paths: tuple[str, ...]
    began: str
    state: str = Field(description="waiting, at work, done, failed or stopped")
    run_id: str | None = Field(description="of its run in Prefect and in the lineage")
    done: int
    failed: int
    documents: int | None = Field(description="how many there are; null until they are counted")
    result: dict[str, Any] | None
    error: ErrorView | None


class IngestsView(BaseModel):
    ingests: list[IngestView]
