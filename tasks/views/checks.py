"""A check of a text as it is shown: each quote and number, and the places where it stands."""

from urllib.parse import quote

from pydantic import BaseModel, Field

from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from tasks.checking.records import Verdict
from tasks.checking.verify import verify
from tasks.views.answers import CitationView, view_citation


class CheckView(BaseModel):
    kind: str
    text: str
    verdict: Verdict
    beside: str = Field(description="the place that the text names for a quote; the sentence of a number")
    places: tuple[CitationView, ...] = Field(description="where it stands; of a stitched or missing quote where its parts stand")


class VerificationView(BaseModel):
    """`left_out` claims were too many to check."""

    corpus: str
    snapshot: int
    all_found: bool
    left_out: int
    checks: list[CheckView] = Field(description="quotes, then numbers, each in the order of the text")


def view_verification(text: str, corpus: str) -> VerificationView:
    """Look for the quotes and the numbers of a text in a corpus; raise what `verify` raises."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        checks, left_out = verify(text, snapshot)
        records = {record.id: record for record in snapshot.documents()}
        number = snapshot.number
    query = f"corpus={quote(corpus)}"
    return VerificationView(
        corpus=corpus,
        snapshot=number,
        all_found=not left_out and all(check.verdict is Verdict.FOUND for check in checks),
        left_out=left_out,
        checks=[
            CheckView(
                kind=check.kind,
                text=check.text,
                verdict=check.verdict,
                beside=check.beside,
                places=tuple(view_citation(number, place, records, query) for number, place in enumerate(check.places, 1)),
            )
            for check in checks
        ],
    )
