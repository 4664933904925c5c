"""What structure becomes: the records of nodes, sections, table rows, pages and edges, with ids that the version alone decides."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from storage.records.documents import Edge, EdgeKind, Modality, Node, NodeKind, Page, ParsedPage, Section, TableRow, identify
from tasks.algorithms.layout.boxes import BODY_KINDS, Element, count_words
from tasks.algorithms.layout.outline import SectionOutline
from tasks.algorithms.layout.tables import Table, describe_rows, write_markdown

_LEAD_WORDS = 40  # of the passage above a table without header
_CLOSE = 0.03  # of the page's height between the two
MODALITIES = {NodeKind.TABLE: Modality.TABLE, NodeKind.FIGURE: Modality.FIGURE}


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
