"""What the report shows of an answer's evidence, gathered from an open snapshot before a word of HTML is written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from storage.artifacts import ArtifactStore
from storage.corpus.snapshot import Snapshot
from storage.graph.filters import HEXADECIMAL_ID, Column, every, one_of
from storage.graph.tables import TableName, pages_of
from storage.records.answers import Answer, Citation, EvidencePath, NamedDocument, PagePlace, RankedPage
from storage.records.documents import DocumentRecord, Node, Page, PageKey
from tasks.readers.page_pictures import NoPictureError, SourceCopies, read_kept_picture
from tasks.report.pictures import SETTINGS, Picture, page_picture, shrink_picture
from tasks.report.sheets import Exhibit, Mark, Sheet, place_badges
from tasks.views.answers import place_words


@dataclass(frozen=True, slots=True)
class ReportEvidence:
    """Everything of the corpus that the report shows; what is not in `documents` was removed or replaced."""

    sheets: tuple[Sheet, ...]
    nodes: Mapping[str, Node]
    documents: Mapping[str, DocumentRecord]
    labels: Mapping[PageKey, str]
    left_out: tuple[str, ...]

    def place(self, at: Citation | RankedPage | PagePlace | Sheet) -> str:
        return place_words(self.documents.get(at.document.id), at.page, self.labels.get((at.document.id, at.page)))

    @property
    def targets(self) -> Mapping[int, str]:
        """Return for each citation the address of the box, or of the element, that shows it."""
        return {number: f"#box-{numbers[0]}" for sheet in self.sheets for numbers in sheet.cited for number in numbers}


PAGES_LISTED = 40
"""Of the candidate pages."""
PATHS_SHOWN = 16
"""More become a thicket; those that pass what is cited come first."""
PAGES_DRAWN = 12
"""Of the others the cited elements are shown alone."""
PICTURE_CHARACTERS = 10_200_000
"""The whole file must pass as an attachment of 12 MB; the rest is for words, tables and drawings."""

Numbered = tuple[int, Citation]
"""A citation with its number, from 1."""
Key = TypeVar("Key")


@dataclass(slots=True)
class Pictures:
    """How many pages may be drawn yet, and how many characters of pictures the file has room for; what could not be had."""

    artifacts: ArtifactStore
    copies: SourceCopies
    pages: int
    characters: int
    left_out: list[str] = field(default_factory=list)

    def of_page(self, document: DocumentRecord, page: Page) -> Picture:
        """Return the picture of a page; raise NoPictureError where it cannot be had."""
        if not self.pages:
            raise NoPictureError(f"only {PAGES_DRAWN} pages are drawn in a report")
        picture = self._take(page_picture(self.artifacts, document, page, self.copies))
        self.pages -= 1
        return picture

    def of_element(self, node: Node, document: NamedDocument) -> Picture | None:
        """Return the picture that was kept of an element, but of a table its cells say more; one that cannot be had is reported."""
        try:
            if node.picture and not node.html:
                return self._take(shrink_picture(read_kept_picture(self.artifacts, node.picture)))
        except NoPictureError as error:
            self.left_out.append(f"a figure on page {node.page} of {document.name}: {error}")
        return None

    def _take(self, picture: Picture) -> Picture:
        """Count a picture in; raise NoPictureError where it does not fit any more."""
        if len(picture.address) > self.characters:
            raise NoPictureError("its picture would make this file too large")
        self.characters -= len(picture.address)
        return picture


def gather_evidence(answer: Answer, snapshot: Snapshot, artifacts: ArtifactStore, *, drawing: bool = True) -> ReportEvidence:
    """Return what the report shows, without its sheets unless `drawing`.

    Documents and nodes that the snapshot does not hold any more are left out of it.
    Raises GraphDamagedError where the graph cannot be read. A picture that cannot be had is named in `left_out`.
    """
    documents = {record.id: record for record in snapshot.documents()}
    wanted = [citation.node_id for citation in answer.citations]
    wanted += [node for path in shown_paths(answer) for node in path.nodes]
    nodes = {node.id: node for node in snapshot.find_nodes(sorted(set(wanted)))}
    pages = read_pages(snapshot, _places(answer, nodes.values()))
    with SourceCopies(SETTINGS.limits.file_megabytes) as copies:
        pictures = Pictures(artifacts, copies, PAGES_DRAWN, PICTURE_CHARACTERS)
        sheets = tuple(
            _sheet(cited, documents[key[0]], pages.get(key), nodes, pictures)
            for key, cited in cited_pages(answer.citations).items()
            if drawing and key[0] in documents
        )
    return ReportEvidence(
        sheets=sheets,
        nodes=nodes,
        documents=documents,
        labels={key: page.label for key, page in pages.items() if page.label},
        left_out=tuple(dict.fromkeys(pictures.left_out)),
    )


def shown_paths(answer: Answer) -> list[EvidencePath]:
    cited = {citation.node_id for citation in answer.citations}
    walked = [path for path in answer.paths if path.nodes]
    return sorted(walked, key=lambda path: cited.isdisjoint(path.nodes))[:PATHS_SHOWN]


def read_pages(snapshot: Snapshot, keys: Iterable[PageKey]) -> dict[PageKey, Page]:
    numbers: dict[str, set[int]] = {}
    for document, page in keys:
        if HEXADECIMAL_ID.fullmatch(document):
            numbers.setdefault(document, set()).add(page)
    found: dict[PageKey, Page] = {}
    for document, wanted in sorted(numbers.items()):
        where = every(one_of(Column.DOCUMENT, [document]), one_of(Column.NUMBER, wanted))
        found |= {(document, page.number): page for page in pages_of(snapshot.graph_store.read(TableName.PAGES, where))}
    return found


def _places(answer: Answer, nodes: Iterable[Node]) -> set[PageKey]:
    shown: list[Citation | RankedPage | PagePlace] = [*answer.citations, *answer.pages[:PAGES_LISTED], *answer.evidence_pages]
    return {(place.document.id, place.page) for place in shown} | {(node.document_id, node.page) for node in nodes}


def cited_pages(citations: Sequence[Citation]) -> dict[PageKey, list[Numbered]]:
    """Return the numbered citations of each page, pages in the order in which they are first cited."""
    return _group(enumerate(citations, 1), lambda citation: (citation.document.id, citation.page))


def _group(cited: Iterable[Numbered], key: Callable[[Citation], Key]) -> dict[Key, list[Numbered]]:
    groups: dict[Key, list[Numbered]] = {}
    for number, citation in cited:
        groups.setdefault(key(citation), []).append((number, citation))
    return groups


def _sheet(
    cited: Sequence[Numbered], document: DocumentRecord, page: Page | None, nodes: Mapping[str, Node], pictures: Pictures
) -> Sheet:
    """Return a page with the boxes of its citations; those without a box, or all without a picture, are shown themselves."""
    first = cited[0][1]
    picture, remark = None, ""
    try:
        if page is not None and any(citation.box for _, citation in cited):
            picture = pictures.of_page(document, page)
    except NoPictureError as error:
        remark = str(error)
        if remark:
            pictures.left_out.append(f"the picture of page {first.page} of {first.document.name}: {remark}")
    bare = _group((each for each in cited if not (picture and each[1].box)), lambda citation: citation.node_id)
    return Sheet(
        document=first.document,
        page=first.page,
        picture=picture,
        marks=marks_of(cited) if picture else (),
        exhibits=tuple(_exhibit(nodes.get(node), same, pictures) for node, same in bare.items()),
        remark=remark,
    )


def marks_of(cited: Iterable[Numbered]) -> tuple[Mark, ...]:
    """Return a mark for each box of the citations of a page."""
    boxes = {box: same for box, same in _group(cited, lambda citation: citation.box).items() if box}
    return tuple(
        Mark(box, tuple(number for number, _ in same), same[0][1].quote, corner)
        for (box, same), corner in zip(boxes.items(), place_badges(list(boxes)), strict=True)
    )


def _exhibit(node: Node | None, cited: Sequence[Numbered], pictures: Pictures) -> Exhibit:
    crop = pictures.of_element(node, cited[0][1].document) if node else None
    return Exhibit(node, tuple(number for number, _ in cited), tuple(citation.quote for _, citation in cited), crop)
