"""How much an ingest has to do, before it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.parsing import count_pages
from tasks.planning import DocumentWork
from tasks.settings import IngestSettings

SECONDS_A_PAGE = 0.3
"""What a born-digital page costs on two cores; `make bench-ingest` measures it."""

STARTING_SECONDS = 10.0
"""What every run costs before its first page: the server, the models."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What lies ahead; documents without pages of their own count as one page."""

    documents: int
    pages: int
    megabytes: float
    seconds: float


def estimate(work: Sequence[DocumentWork], settings: IngestSettings) -> Estimate:
    """Count the pages of the documents in work; files that cannot be counted are one page each."""
    pages = sum(count_pages(Path(document.path), limits=settings.limits, work=settings.work) or 1 for document in work)
    return Estimate(
        documents=len(work),
        pages=pages,
        megabytes=sum(document.size_bytes for document in work) / 1e6,
        seconds=STARTING_SECONDS + pages * SECONDS_A_PAGE if work else 0.0,
    )
