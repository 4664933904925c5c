"""The record that a step of a run leaves."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepRecord:
    run_id: str
    step: str
    version: str
    key: str
    subject: str
    started: str
    seconds: float
    attempts: int
    cache_hit: bool
    outputs: Mapping[str, str]
    error: str = ""
