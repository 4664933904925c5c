"""Structure by rules: from a parsed document to its sections, nodes, table rows and the edges that the layout states."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType

from storage.records.documents import (
    Edge,
    EdgeKind,
    Modality,
    Node,
    NodeKind,
    Page,
    PageParser,
    ParsedDocument,
    ParsedPage,
    Section,
    TableRow,
    identify,
)
from tasks.algorithms.layout.boxes import BODY_KINDS, FURNITURE_KINDS, Element, count_words, order_boxes, simplify
from tasks.algorithms.layout.captions import join_captions, read_label
from tasks.algorithms.layout.continuation import find_chains, find_continued_paragraphs, find_continued_tables
from tasks.algorithms.layout.furniture import find_furniture, fit_labels
from tasks.algorithms.layout.headings import MAXIMUM_WORDS, correct_headings, strip_continued
from tasks.algorithms.layout.outline import SectionOutline, build_outline, find_slide_titles, index_bookmarks, rank_titles
from tasks.algorithms.layout.passages import shape_passages
from tasks.algorithms.layout.references import resolve_references
from tasks.algorithms.layout.tables import Table, continue_table, describe_rows, read_aligned_text, read_html, write_markdown
from tasks.settings.ingest import ReadingSettings, StructureSettings

_LEAD_WORDS = 40  # of the passage above a table without header
_CLOSE = 0.03  # of the page's height between the two
MODALITIES = {NodeKind.TABLE: Modality.TABLE, NodeKind.FIGURE: Modality.FIGURE}
_ORDERLESS_PARSERS = frozenset({PageParser.PDFIUM, PageParser.OCR})
_SLIDE_WORDS = 150  # a landscape page with more words is a report's


def read_elements(
    parsed: ParsedDocument, furniture: frozenset[tuple[int, int]], settings: StructureSettings
) -> tuple[list[Element], dict[int, int]]:
    """Return the document's elements in reading order, each to become a node, and the level of each title's serial."""
    placed = _place_elements(parsed.pages, furniture)
    bookmarks = index_bookmarks(parsed.outline)
    page_sizes = {page.number: (page.width_points, page.height_points) for page in parsed.pages}
    elements = correct_headings(placed, {title: frozenset(pages) for title, pages in bookmarks.items()})
    elements = join_captions(elements)
    slide_titles = find_slide_titles(elements, page_sizes=page_sizes) if _is_slides(elements, parsed.pages) else []
    elements = _as_titles(elements, frozenset(slide_titles))
    shaped = shape_passages(elements, merge_words=settings.merge_words, split_words=settings.split_words)
    if not slide_titles:
        return shaped, rank_titles(shaped, bookmarks, page_sizes=page_sizes)
    own = set(slide_titles)
    return shaped, {element.serial: 1 if element.serial in own else 2 for element in shaped if element.block.kind is NodeKind.TITLE}


def _place_elements(pages: Sequence[ParsedPage], furniture: frozenset[tuple[int, int]]) -> list[Element]:
    elements: list[Element] = []
    for index, page in enumerate(pages):
        positions = [
            position
            for position, block in enumerate(page.blocks)
            if (index, position) not in furniture and (block.text.strip() or block.kind in MODALITIES)
        ]
        if page.parser in _ORDERLESS_PARSERS:
            positions = [positions[place] for place in order_boxes([page.blocks[position].box for position in positions])]
        for position in positions:
            block = page.blocks[position]
            # A block called a header that was not furniture is text.
            kept = NodeKind.PARAGRAPH if block.kind in FURNITURE_KINDS else block.kind
            elements.append(Element(len(elements), page.number, replace(block, kind=kept)))
    return elements


def _is_slides(elements: Sequence[Element], pages: Sequence[ParsedPage]) -> bool:
    words = Counter({page.number: 0 for page in pages})
    for element in elements:
        words[element.page] += count_words(element.block.text)
    wide = sum(page.width_points > page.height_points for page in pages)
    return len(pages) > 1 and wide > 0.8 * len(pages) and statistics.median(words.values()) <= _SLIDE_WORDS


def _as_titles(elements: Sequence[Element], serials: frozenset[int]) -> list[Element]:
    return [
        replace(element, block=replace(element.block, kind=NodeKind.TITLE)) if element.serial in serials else element
        for element in elements
    ]


@dataclass(frozen=True, slots=True)
class Structured:
    """A document's structure; nodes in reading order and still without summary, keywords and search text.

    `unfinished` says that a model did not reply about some of them, and might another time.
    """

    title: str
    pages: tuple[Page, ...]
    sections: tuple[Section, ...]
    nodes: tuple[Node, ...]
    rows: tuple[TableRow, ...]
    edges: tuple[Edge, ...]
    unfinished: bool = False


def structure_document(
    *, parsed: ParsedDocument, version: str, settings: ReadingSettings, levels_read: Mapping[int, int] = MappingProxyType({})
) -> Structured:
    """Return the sections, nodes, rows and structural edges of a document, by rules alone.

    The same input gives the same ids. Every word outside of headers, footers and page numbers stands in one node;
    captions and a continued table's header stand in two. `levels_read` has the levels of titles that a model read, by the place of
    their nodes, 0 for what opens no section; they go before those of the rules, and change no id.
    """
    rules, weights = settings.structure, settings.evolution.structural_weights.by_kind()
    furniture = find_furniture(parsed.pages, repeated_share=rules.repeated_share, edge_band=rules.edge_band)
    labels = fit_labels(parsed.pages, furniture)
    elements, levels = _with_levels(*read_elements(parsed, furniture, rules), levels_read)
    outline = build_outline(elements, levels)
    tables = _read_tables(elements)
    table_pairs = find_continued_tables(elements, tables)
    elements, tables = _inherit(elements, tables, table_pairs)
    nodes = make_nodes(parsed.document_id, version, elements, outline, tables)
    by_serial = {element.serial: node for element, node in zip(elements, nodes, strict=True)}
    page_labels = {page.number: label for page, label in zip(parsed.pages, labels, strict=True)}
    pairs: list[tuple[EdgeKind, int, int]] = [
        *((EdgeKind.NEXT, one.serial, other.serial) for one, other in pairwise(elements)),
        *((EdgeKind.PART_OF, *pair) for pair in _find_parts(elements, outline)),
        *((EdgeKind.CAPTION_OF, one.serial, one.caption_of) for one in elements if one.caption_of is not None),
        *((EdgeKind.CONTINUES, *pair) for pair in [*find_continued_paragraphs(elements), *table_pairs]),
        *((EdgeKind.REFERS_TO, *pair) for pair in _find_references(elements, by_serial, outline, page_labels)),
    ]
    return Structured(
        title=_choose_title(parsed, elements),
        pages=tuple(make_page(page, page_labels[page.number], parsed.document_id, version) for page in parsed.pages),
        sections=make_sections(parsed.document_id, version, outline),
        nodes=tuple(nodes),
        rows=tuple(make_rows(elements, by_serial, tables)),
        edges=tuple(make_edge(by_serial[one], by_serial[other], kind, weights[kind]) for kind, one, other in pairs),
    )


def _with_levels(elements: list[Element], levels: dict[int, int], read: Mapping[int, int]) -> tuple[list[Element], dict[int, int]]:
    """Return the elements and the level of each title's serial as a model read them, where it did.

    A figure, a table or a long passage opens nothing: as a title it would lose its cells, its picture and its quotes.
    """
    found = {elements[place].serial: level for place, level in read.items() if _may_open(elements[place])}
    opening = frozenset(serial for serial, level in found.items() if level)
    return _as_titles(elements, opening), {serial: level for serial, level in (levels | found).items() if level}


def _may_open(element: Element) -> bool:
    block = element.block
    return block.kind is NodeKind.TITLE or (block.kind in BODY_KINDS and count_words(block.text) <= MAXIMUM_WORDS)


def _read_tables(elements: Sequence[Element]) -> dict[int, Table]:
    return {
        element.serial: read_html(element.block.html) if element.block.html else read_aligned_text(element.block.text)
        for element in elements
        if element.block.kind is NodeKind.TABLE
    }


def _inherit(
    elements: Sequence[Element], tables: Mapping[int, Table], pairs: Sequence[tuple[int, int]]
) -> tuple[list[Element], dict[int, Table]]:
    """Give continued tables the header, caption and label of their first, where they have none, and every table its title."""
    first_of = dict(find_chains(pairs))
    by_serial = {element.serial: element for element in elements}
    inherited = dict(tables)
    changed: list[Element] = []
    for element in elements:
        if element.serial in first_of:
            first = by_serial[first_of[element.serial]]
            inherited[element.serial] = continue_table(tables[element.serial], tables[first.serial])
            if first.block.caption and not element.block.caption:
                caption = f"{strip_continued(first.block.caption)} (continued)"
                element = replace(element, label=first.label, block=replace(element.block, caption=caption))
        changed.append(_with_title(element, inherited[element.serial].title) if element.serial in inherited else element)
    return changed, inherited


def _with_title(element: Element, title: str) -> Element:
    """Let what stands over a table's columns go on with its caption, or be it."""
    caption = " | ".join(filter(None, dict.fromkeys((element.block.caption, title))))
    return replace(element, label=element.label or read_label(title), block=replace(element.block, caption=caption))


def _find_parts(elements: Sequence[Element], outline: SectionOutline) -> Iterator[tuple[int, int]]:
    """Yield each element with its section's title, each section's title with its parent's."""
    for element, place in zip(elements, outline.section_of, strict=True):
        if place is None:
            continue
        heading = outline.headings[place]
        if element.serial != heading.serials[0]:
            yield element.serial, heading.serials[0]
        elif heading.parent is not None:
            yield element.serial, outline.headings[heading.parent].serials[0]


def _find_references(
    elements: Sequence[Element], nodes: Mapping[int, Node], outline: SectionOutline, labels: Mapping[int, str | None]
) -> list[tuple[int, int]]:
    titles: defaultdict[str, list[int]] = defaultdict(list)
    for heading in outline.headings:
        titles[simplify(heading.title)].append(heading.serials[0])
    readable = [replace(element, block=replace(element.block, text=nodes[element.serial].content)) for element in elements]
    return resolve_references(readable, titles, labels)


def _choose_title(parsed: ParsedDocument, elements: Sequence[Element]) -> str:
    """Return the file's own title, else the parser's document title on the first two pages, else the first title there."""
    titles = [element.block for element in elements if element.block.kind is NodeKind.TITLE and element.page <= 2]
    best = min(titles, key=lambda block: block.level or 9, default=None)
    return parsed.title.strip() or (" ".join(best.text.split()) if best is not None else "")


def make_nodes(
    document_id: str, version: str, elements: Sequence[Element], outline: SectionOutline, tables: Mapping[int, Table]
) -> list[Node]:
    """Return a node for each element, in their order; `outline` gives its section, `tables` its cells by serial."""
    sections = make_sections(document_id, version, outline)
    paths = _section_paths(outline)
    on_page: Counter[int] = Counter()
    nodes: list[Node] = []
    for ordinal, (element, place) in enumerate(zip(elements, outline.section_of, strict=True)):
        block = element.block
        nodes.append(
            Node(
                id=identify(version, "node", element.page, on_page[element.page]),
                document_id=document_id,
                version=version,
                ordinal=ordinal,
                kind=block.kind,
                modality=MODALITIES.get(block.kind, Modality.TEXT),
                content=_content(element, tables),
                page=element.page,
                box=block.box,
                section_id=None if place is None else sections[place].id,
                section_path=() if place is None else paths[place],
                caption=block.caption,
                label=element.label,
                html=block.html,
                picture=block.picture,
                picture_text=block.picture_text,
            )
        )
        on_page[element.page] += 1
    return nodes


def _content(element: Element, tables: Mapping[int, Table]) -> str:
    block = element.block
    if block.kind is NodeKind.TABLE:
        return write_markdown(tables[element.serial]) or block.text.strip()
    words = [block.text.strip(), block.picture_text.strip()]
    return "\n".join(dict.fromkeys(part for part in words if part))


def _section_paths(outline: SectionOutline) -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for heading in outline.headings:
        paths.append((*(paths[heading.parent] if heading.parent is not None else ()), heading.title))
    return paths


def make_sections(document_id: str, version: str, outline: SectionOutline) -> tuple[Section, ...]:
    ids = [identify(version, "section", ordinal) for ordinal in range(len(outline.headings))]
    return tuple(
        Section(
            id=ids[ordinal],
            document_id=document_id,
            version=version,
            ordinal=ordinal,
            title=heading.title,
            level=heading.level,
            parent_id=None if heading.parent is None else ids[heading.parent],
            first_page=heading.first_page,
            last_page=heading.last_page,
        )
        for ordinal, heading in enumerate(outline.headings)
    )


def make_rows(elements: Sequence[Element], nodes: Mapping[int, Node], tables: Mapping[int, Table]) -> Iterator[TableRow]:
    """Yield the rows of all tables; those of one without caption and header open with the line above it."""
    for before, element in zip((None, *elements), elements, strict=False):
        if element.serial not in tables:
            continue
        node, table = nodes[element.serial], tables[element.serial]
        lead = node.caption or (_read_line_above(before, element) if not table.header_rows else "")
        for number, (cells, text) in enumerate(zip(table.rows, describe_rows(table, caption=lead), strict=True)):
            yield TableRow(
                id=identify(node.id, "row", number),
                node_id=node.id,
                document_id=node.document_id,
                version=node.version,
                row=number,
                page=node.page,
                cells=cells,
                text=text,
                is_header=number < table.header_rows,
            )


def _read_line_above(before: Element | None, table: Element) -> str:
    """Return the short passage just above a table: where the parser lost the header, its words stand there."""
    if before is None or before.page != table.page or before.block.kind not in BODY_KINDS | {NodeKind.TITLE}:
        return ""
    is_close = -_CLOSE <= table.block.box[1] - before.block.box[3] <= _CLOSE
    return " ".join(before.block.text.split()) if is_close and count_words(before.block.text) <= _LEAD_WORDS else ""


def make_page(page: ParsedPage, label: str | None, document_id: str, version: str) -> Page:
    return Page(
        id=identify(version, "page", page.number),
        document_id=document_id,
        version=version,
        number=page.number,
        label=label,
        width_points=page.width_points,
        height_points=page.height_points,
        parser=page.parser,
        note=page.note,
        summary="",
        image=page.image,
        lines=page.lines,
    )


def make_edge(source: Node, target: Node, kind: EdgeKind, weight: float) -> Edge:
    return Edge(
        source=source.id,
        target=target.id,
        source_document=source.document_id,
        target_document=target.document_id,
        kind=kind,
        weight=weight,
    )
