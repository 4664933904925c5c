"""What a check of a text found."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from storage.records.answers import Citation


class Verdict(StrEnum):
    """A quote is `elsewhere` where it stands in full, but not where the text says; `stitched` where its parts stand apart.

    A number is found or missing.
    """

    FOUND = "found"
    ELSEWHERE = "elsewhere"
    STITCHED = "stitched"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Check:
    """A claim of a text, and the places where it stands; of a stitched or missing quote those where its parts stand.

    `beside` is the place that the text names for a quote, empty where it names none, and the sentence of a number.
    """

    kind: Literal["quote", "number"]
    text: str
    verdict: Verdict
    beside: str
    places: tuple[Citation, ...] = ()
