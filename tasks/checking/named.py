"""The place that a text names for a quote: a document, which may be none of the corpus, and pages."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.records.documents import DocumentRecord, PageKey, Passage
from tasks.algorithms.questions.places import PlaceKind, named_places

FILE = re.compile(r"[\w-][\w.-]*\.(?:pdf|docx?|pptx?|xlsx?|html?|md|txt|csv|png|jpe?g|tiff?)\b", re.IGNORECASE)
LONGEST_RANGE = 1_000


@dataclass(frozen=True, slots=True)
class Named:
    """`words` is how it is shown; `documents` are ids, None where no document is named; `pages` are numbers or printed labels."""

    words: str
    documents: frozenset[str] | None
    pages: frozenset[str]

    def holds(self, node: Passage, labels: Mapping[PageKey, str | None]) -> bool:
        """Say whether a passage stands there; `labels` are printed on the pages."""
        numbers = {str(node.page), (labels.get((node.document_id, node.page)) or "").casefold()}
        return (self.documents is None or node.document_id in self.documents) and not (
            self.pages and self.pages.isdisjoint(numbers)
        )


def find_named(texts: Sequence[str], records: Sequence[DocumentRecord]) -> Named | None:
    """Return the place that the first of the texts names that names any."""
    return next(filter(None, (_named_in(text, records) for text in texts)), None)


def _named_in(text: str, records: Sequence[DocumentRecord]) -> Named | None:
    names = [(record.id, name) for record in records for name in (record.name, *record.other_names) if name in text]
    known = {document: name for document, name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", text)}
    files = list(known.values()) or FILE.findall(text)
    places = [place for place in named_places(text) if place.kind is PlaceKind.PAGE]
    spans = [(int(place.value), int(place.last or place.value)) for place in places if place.value.isdecimal()]
    pages = {str(page) for first, last in spans for page in range(first, min(last, first + LONGEST_RANGE) + 1)}
    pages |= {place.value.casefold() for place in places}
    words = ", ".join(dict.fromkeys([*files, *map(str, places)]))
    return Named(words, frozenset(known) if files else None, frozenset(pages)) if words else None
