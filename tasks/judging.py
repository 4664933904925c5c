"""Judging the first reading: do the answers agree, does the flow fit, is anything supported? The gate of section 3.5.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.algorithms.refinement import Trigger, gate
from tasks.path_reader import PathReading
from tasks.question import AskDesk, Question, question_key
from tasks.routing import Routed
from tasks.step import step


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far the evidence can be trusted; without a trigger it is taken as it is."""

    consistency: float
    saturation: float
    trigger: Trigger | None


def told_of_verdict(verdict: Verdict) -> Mapping[str, str]:
    """Return the verdict, for the lineage."""
    return {
        "consistency": f"{verdict.consistency:.4f}",
        "saturation": f"{verdict.saturation:.4f}",
        "trigger": verdict.trigger or "",
    }


@step("judge", version="1", retries=0, cache_key=question_key, told=told_of_verdict)
def judge(question: Question, routed: Routed, readings: Sequence[PathReading], desk: AskDesk) -> Verdict:
    """Weigh the readings and the flow."""
    settings = desk.settings.gate
    supported = [reading for reading in readings if reading.supported]
    consistency = desk.reader.consistency(question, supported)
    trigger = gate(
        supported=len(supported),
        saturation=routed.saturation,
        consistency=consistency,
        saturation_below=settings.saturation,
        consistency_below=settings.consistency,
    )
    return Verdict(consistency=consistency, saturation=routed.saturation, trigger=trigger if settings.enabled else None)
