"""What the report shows of an answer's evidence, gathered before a word of HTML is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storage.answer_records import NamedDocument
from storage.records import Box, DocumentRecord, Node
from tasks.report.pictures import Picture

UNPAGED = {"text/html": "", "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ""}
PLACE_WORDS = UNPAGED | {
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "slide",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "sheet",
}
"""What a page is called; where the word is empty a document has only one and it is not named."""

PageKey = tuple[str, int]
"""A document's id and a page of it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A box on a page and the numbers of the citations it stands for."""

    box: Box
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A cited element that is shown itself; `node` is None where the corpus does not hold it any more."""

    node: Node | None
    numbers: tuple[int, ...]
    quotes: tuple[str, ...]
    crop: Picture | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page with citations: its picture with marks, or the elements themselves; `remark` says why there is no picture."""

    document: NamedDocument
    page: int
    picture: Picture | None
    marks: tuple[Mark, ...]
    exhibits: tuple[Exhibit, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything of the corpus that the report shows.

    What is not in `documents` was replaced, or is one of `removed` (ids) and is not quoted.
    """

    sheets: tuple[Sheet, ...]
    nodes: Mapping[str, Node]
    documents: Mapping[str, DocumentRecord]
    labels: Mapping[PageKey, str]
    removed: frozenset[str]
    left_out: tuple[str, ...]

    def holds(self, document: NamedDocument) -> bool:
        """Say whether the document is still in the corpus."""
        return document.id in self.documents

    def place(self, document_id: str, page: int) -> str:
        """Name a page as people do: "page 5 (printed iii)", "slide 3"; nothing where a document has no pages."""
        record = self.documents.get(document_id)
        word = PLACE_WORDS.get(record.media_type, "page") if record else "page"
        label = self.labels.get((document_id, page), "")
        printed = f" (printed {label})" if label and label != str(page) else ""
        return f"{word} {page}{printed}" if word else ""

    def name(self, document_id: str) -> str:
        """Return the document's name, its id's beginning where it is gone."""
        record = self.documents.get(document_id)
        return record.name if record else document_id[:12]
