"""Documents as they are shown: what the catalog says of one, its outline, its pages with their texts, and its removal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.errors import UnknownError
from storage.locations import corpus_location
from storage.records.answers import NamedDocument
from storage.records.documents import WHOLE_PAGE, Box, DocumentRecord, DocumentState, Node, NodeKind, Page, PageParser, Passage
from storage.text import counted, printable_path

if TYPE_CHECKING:
    from storage.cleaning.removing import Receipt


class OfRecord(BaseModel):
    """A view with fields of a record."""

    model_config = ConfigDict(from_attributes=True)


class DocumentView(OfRecord):
    """A document in a list."""

    id: str
    name: str
    other_names: tuple[str, ...] = Field(description="of files with the same bytes")
    state: DocumentState
    reason: str
    pages: int
    nodes: int


class SectionView(OfRecord):
    title: str
    level: int
    first_page: int
    last_page: int


class OutlineView(BaseModel):
    document: DocumentView
    sections: list[SectionView] = Field(description="in reading order")


class PageInList(OfRecord):
    page: int = Field(validation_alias=AliasChoices("page", "number"))
    label: str | None
    parser: PageParser
    note: str
    summary: str


class DocumentDetails(DocumentView):
    paths: tuple[str, ...]
    title: str
    media_type: str
    notes: tuple[str, ...]
    kinds: dict[str, int] = Field(description="number of nodes of each kind")
    sections: list[SectionView]
    page_list: list[PageInList]


class TextView(BaseModel):
    node: str
    kind: NodeKind
    box: Box | None = Field(description="x0, y0, x1, y1 in 0..1 from the top left of the page; null where it has no place on it")
    text: str


class PageView(BaseModel):
    document: DocumentView
    page: int
    label: str | None = Field(description="the number printed on it")
    texts: list[TextView] = Field(description="in reading order")


class ReceiptView(BaseModel):
    document: NamedDocument
    snapshot: int
    gone: dict[str, int]
    words: str
    later: str


@contextmanager
def open_document(corpus: str, document: str) -> Iterator[tuple[Snapshot, DocumentRecord]]:
    """Open a corpus for its document of this name or id."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        yield snapshot, snapshot.find(printable_path(document))


def find_page(snapshot: Snapshot, record: DocumentRecord, number: int) -> Page:
    """Return a page, counted from 1; raise UnknownError where there is none."""
    if not record.pages:
        what = f"document {record.name!r} has no pages: {record.state.value.replace('_', ' ')}, {record.reason}"
        raise UnknownError(what, number, "mend its file, and ingest it again")
    if not 1 <= number <= record.pages:
        raise UnknownError(f"document {record.name!r} has no page {number}", number, f"take 1 to {record.pages}")
    return snapshot.pages(record.id)[number - 1]


def view_document(record: DocumentRecord) -> DocumentView:
    return DocumentView.model_validate(record)


def view_outline(snapshot: Snapshot, record: DocumentRecord) -> OutlineView:
    sections = list(map(SectionView.model_validate, snapshot.sections_of([record.id])))
    return OutlineView(document=view_document(record), sections=sections)


def view_details(snapshot: Snapshot, record: DocumentRecord) -> DocumentDetails:
    kinds = Counter(node.kind.value for node in snapshot.nodes(record.id))
    return DocumentDetails(
        **dict(view_document(record)),
        paths=record.paths,
        title=record.title,
        media_type=record.media_type,
        notes=record.notes,
        kinds=dict(sorted(kinds.items())),
        sections=view_outline(snapshot, record).sections,
        page_list=list(map(PageInList.model_validate, snapshot.pages(record.id))),
    )


def view_page(snapshot: Snapshot, record: DocumentRecord, number: int) -> PageView:
    page = find_page(snapshot, record, number)
    texts = [
        TextView(node=node.id, kind=node.kind, box=None if node.box == WHOLE_PAGE else node.box, text=words_in(node))
        for node in snapshot.nodes_on(record.id, number)
    ]
    return PageView(document=view_document(record), page=number, label=page.label, texts=texts)


def words_in(node: Node | Passage) -> str:
    """Return what stands in a node, its caption first; a figure's words are those read in it."""
    return "\n\n".join(dict.fromkeys(filter(None, (node.caption, node.content, node.picture_text))))


def view_receipt(receipt: Receipt) -> ReceiptView:
    """Say what went of what people know: pages, the uploaded file, what answers quoted. A file of their own stays."""
    gone, quoting = receipt.gone, receipt.gone["answer_texts"]
    parts = {
        "its pages": "pages" in gone,
        "the uploaded file": gone["uploads"],
        f"the quotes in {counted(quoting, 'answer')}": quoting,
    }
    went = ", ".join(part for part, is_gone in parts.items() if is_gone) or "its remaining data"
    stays = "; its file stays where it is" if receipt.file_stays else ""
    return ReceiptView(
        document=NamedDocument(receipt.document_id, receipt.name),
        snapshot=receipt.snapshot,
        gone=dict(gone),
        words=f"gone: {went}{stays}",
        later=receipt.later,
    )
