"""An ingest of the query service: its request, its progress, and its result."""

from typing import Any

from pydantic import BaseModel, Field

from tasks.progress import Progress
from tasks.views.errors import ErrorView

COUNTED = {"parse": "page", "read-words": "picture"}
"""What is counted for people in steps of an ingest; in all others a document is being indexed."""


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
    words: str = Field(description="what happens, for people: waiting, page 12 of 60, picture 3 of 9, indexing")
    page: int | None = Field(description="the page that is being read; null where none is")
    pages: int | None = Field(description="how many there are to read; null where none is read")
    result: dict[str, Any] | None
    error: ErrorView | None


class IngestsView(BaseModel):
    ingests: list[IngestView]


def view_progress(progress: Progress | None) -> dict[str, str | int | None]:
    """Return the fields about what happens, of the newest report of a document, None before the first."""
    if progress is None:
        return {"words": "waiting", "page": None, "pages": None}
    now, of = min(progress.done + 1, progress.total), progress.total
    what = COUNTED.get(progress.step)
    words = f"{what} {now} of {of}" if what and of else "indexing"
    return {"words": words, "page": now if what == "page" else None, "pages": of if what == "page" else None}
