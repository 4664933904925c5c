"""What a check of a text found, claim by claim."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from storage.records.answers import Citation


class ClaimKind(StrEnum):
    QUOTE = "quote"
    NUMBER = "number"


class Verdict(StrEnum):
    """Where a claim stands.

    A quote is `elsewhere` where it stands in full, but not where the text says; `stitched` where all of its words stand, in runs of
    several places. A number is found or missing.
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

    kind: ClaimKind
    text: str
    verdict: Verdict
    beside: str
    places: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks in the order of the text, quotes first. `left_out` claims were too many to check."""

    corpus: str
    snapshot: int
    checks: Sequence[Check]
    left_out: int

    @property
    def is_all_found(self) -> bool:
        return not self.left_out and all(check.verdict is Verdict.FOUND for check in self.checks)
