"""The place that a text names for a quote: a document of the corpus, or one that is not there, and pages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from storage.records.documents import DocumentRecord, PageKey
from tasks.algorithms.questions.places import PlaceKind, named_places
from tasks.asking.records import Quote

FILE = re.compile(r"[\w-][\w.-]*\.(?:pdf|docx?|pptx?|xlsx?|html?|md|txt|csv|png|jpe?g|tiff?)\b", re.IGNORECASE)
LONGEST_RANGE = 1_000
"""Pages; "pages 1-900" is a whole book already."""


@dataclass(frozen=True, slots=True)
class Named:
    """`words` is how it is shown; `documents` are ids, None where no document is named; `pages` are numbers or printed labels."""

    words: str
    documents: frozenset[str] | None
    pages: frozenset[str]

    def holds(self, quotes: Iterable[Quote], labels: Mapping[PageKey, str | None]) -> bool:
        """Say whether one of the quotes stands there."""
        return any(
            (self.documents is None or node.document_id in self.documents)
            and (not self.pages or not self.pages.isdisjoint({str(node.page), labels.get((node.document_id, node.page))}))
            for node in (quote.node for quote in quotes)
        )


def find_named(texts: Sequence[str], records: Sequence[DocumentRecord]) -> Named | None:
    """Return the place that the first of the texts names that names any."""
    return next(filter(None, (_named_in(text, records) for text in texts)), None)


def _named_in(text: str, records: Sequence[DocumentRecord]) -> Named | None:
    folded = text.casefold()
    known = {
        record.id: name
        for record in records
        for name in (record.name, *record.other_names)
        if name.casefold() in folded and re.search(rf"(?<![\w-]){re.escape(name.casefold())}(?!\w)", folded)
    }
    strange = [] if known else FILE.findall(text)
    pages = [place for place in named_places(text) if place.kind is PlaceKind.PAGE]
    if not (known or strange or pages):
        return None
    words = ", ".join(dict.fromkeys([*known.values(), *strange, *map(str, pages)]))
    numbers = [page for place in pages for page in _pages_of(place.value, place.last)]
    return Named(words, frozenset(known) if known or strange else None, frozenset(numbers))


def _pages_of(first: str, last: str) -> list[str]:
    if not (first.isdecimal() and last.isdecimal()):
        return [first]
    return [str(page) for page in range(int(first), min(int(last), int(first) + LONGEST_RANGE) + 1)]
