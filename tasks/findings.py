"""What a way of reading found: everything of an answer that is not about the run."""

from __future__ import annotations

from dataclasses import dataclass

from storage.answer_records import EvidencePath, GateReport, PagePlace, RankedPage
from tasks.path_reader import PathReading, Synthesis


@dataclass(frozen=True, slots=True)
class Findings:
    """The answer, and where it comes from."""

    synthesis: Synthesis
    readings: tuple[PathReading, ...]
    paths: tuple[EvidencePath, ...]
    pages: tuple[RankedPage, ...]
    evidence_pages: tuple[PagePlace, ...]
    gate: GateReport | None
