"""A check of a text as it is shown: each quote and number, and the places where it stands."""

from urllib.parse import quote

from pydantic import BaseModel
from pydantic.dataclasses import dataclass

from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from tasks.checking.records import Check, Verdict
from tasks.checking.verify import verify
from tasks.views.answers import CitationView, values_of, view_citation


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckView(Check):
    places: tuple[CitationView, ...] = ()


class VerificationView(BaseModel):
    """What came of the quotes of a text, and then of its numbers, in its order. `left_out` are those too many to check."""

    corpus: str
    snapshot: int
    all_found: bool
    left_out: int
    checks: list[CheckView]


def view_verification(text: str, corpus: str) -> VerificationView:
    """Look for the quotes and the numbers of a text in a corpus; raise what `verify` raises."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        checks, left_out = verify(text, snapshot)
        records, shown = {record.id: record for record in snapshot.documents()}, snapshot.number
    views = []
    for check in checks:
        places = enumerate(check.places, 1)
        cited = tuple(view_citation(number, place, records, f"corpus={quote(corpus)}") for number, place in places)
        views.append(CheckView(**values_of(check, Check) | {"places": cited}))
    is_all = not left_out and all(check.verdict is Verdict.FOUND for check in checks)
    return VerificationView(corpus=corpus, snapshot=shown, all_found=is_all, left_out=left_out, checks=views)
