"""The check of a text against an open corpus: full text finds candidates, and what stands in them word by word counts."""

from collections.abc import Sequence
from dataclasses import replace

from storage.corpus.snapshot import Snapshot
from storage.errors import RequestError
from storage.records.answers import NamedDocument
from storage.records.documents import WHOLE_PAGE
from tasks.algorithms.layout.lines import read_lines
from tasks.algorithms.text.claims import Quotation, split_claims
from tasks.asking.records import Quote
from tasks.checking.named import find_named
from tasks.checking.numbers import numbers_in, place_of
from tasks.checking.passages import Passages
from tasks.checking.quotes import parts_of, places_of
from tasks.checking.records import Check, Verdict
from tasks.reading.answer import citation, running_heads

LONGEST_TEXT = 5_000_000
MOST_CLAIMS = 500
"""Quotes, and numbers, that are checked of a text: each takes some ten milliseconds."""
PLACES_SHOWN = 5

Found = tuple[Check, Sequence[Quote]]


def verify(text: str, snapshot: Snapshot) -> tuple[list[Check], int]:
    """Return the checks of quotes and then of numbers, in the order of the text, and how many were too many to check.

    Raise RequestError where the text holds none, or is too long.
    """
    if len(text) > LONGEST_TEXT:
        what = f"the text has {len(text):,} characters"
        raise RequestError(what, f"{len(text):,}", f"check it in parts of at most {LONGEST_TEXT:,}")
    quotations, sentences = split_claims(text)
    numbers = [(number, sentence) for sentence in sentences for number in numbers_in(sentence)]
    if not (quotations or numbers):
        what = f"the text {text.strip()[:40]!r} holds nothing to check" if text.strip() else "the text is empty"
        remedy = "give one that has words of the documents between quotation marks, three at least, or numbers"
        raise RequestError(what, text.strip()[:40], remedy)
    passages = Passages(snapshot)
    found: list[Found] = [check_quote(quotation, passages) for quotation in quotations[:MOST_CLAIMS]]
    for number, sentence in numbers[:MOST_CLAIMS]:
        quote = place_of(number, sentence, passages)
        verdict = Verdict.FOUND if quote else Verdict.MISSING
        found.append((Check("number", sentence[number.start : number.end].strip(), verdict, sentence), [quote] if quote else []))
    return cite(found, snapshot), sum(max(0, len(claims) - MOST_CLAIMS) for claims in (quotations, numbers))


def check_quote(quotation: Quotation, passages: Passages) -> Found:
    """Find a quote in full, best where the text says, else its parts."""
    snapshot = passages.snapshot
    shown, named = " ".join(quotation.text.split()), find_named(quotation.beside, snapshot.documents())
    beside = named.words if named else ""
    if places := places_of(quotation.text, passages):
        documents = list({quote.node.document_id for place in places for quote in place})
        labels = (
            {(document, page): label for document, page, label in snapshot.page_marks(documents)} if named and named.pages else {}
        )
        rightly = [place for place in places if named is None or any(named.holds(quote.node, labels) for quote in place)]
        verdict = Verdict.FOUND if rightly else Verdict.ELSEWHERE
        return Check("quote", shown, verdict, beside), (rightly or places)[0]
    parts, is_all = parts_of(quotation.text, passages)
    return Check("quote", shown, Verdict.STITCHED if is_all and len(parts) > 1 else Verdict.MISSING, beside), parts


def cite(found: Sequence[Found], snapshot: Snapshot) -> list[Check]:
    """Return the checks with their places as citations have them; the lines of all pages are read at once."""
    nodes = [quote.node for _check, quotes in found for quote in quotes]
    names = {record.id: NamedDocument(record.id, record.name) for record in snapshot.documents()}
    running = running_heads(snapshot, {node.document_id for node in nodes})
    kept = snapshot.view.page_lines({(node.document_id, node.page) for node in nodes if node.box != WHOLE_PAGE})
    lines = {page: read_lines(written) for page, written in kept.items()}
    return [
        replace(check, places=tuple(citation(quote, names, {}, running, lines) for quote in quotes[:PLACES_SHOWN]))
        for check, quotes in found
    ]
