"""pdfium, in the child: what a PDF is, its plain text layer, and pictures of its pages and figures."""

import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from PIL import Image

from storage.records.documents import Block, Box, DocumentState, NodeKind, OutlineEntry, PageParser, ParsedPage
from tasks.algorithms.layout.boxes import FURNITURE_KINDS, area, unite
from tasks.algorithms.layout.lines import join_words, write_lines
from tasks.algorithms.layout.table_blocks import may_have_tables, put_tables
from tasks.parsing.jobs import GIVE_PASSWORD, PDF, FileSurvey, Job, ParseError
from tasks.parsing.pictures import encode
from tasks.parsing.words import words_of

OUTLINE_ENTRIES = 5000
BROKEN_PAGES_IN_A_ROW = 64
REMOVE_SECURITY = 3
GRID = 100_000


def open_pdf(path: Path, password: str | None = None) -> pdfium.PdfDocument:
    """Open the file; raise ParseError where it needs a password or is no PDF that can be mended."""
    try:
        return pdfium.PdfDocument(path, password=password)
    except pdfium.PdfiumError as error:
        if pdfium_c.FPDF_GetLastError() == pdfium_c.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            given = "the password given does not open it" if password else "it is encrypted"
            raise ParseError(DocumentState.NEEDS_PASSWORD, given + GIVE_PASSWORD) from error
        raise ParseError(
            DocumentState.FAILED, "the PDF is damaged beyond repair (cut short or altered): pdfium cannot open it"
        ) from error


def survey_pdf(job: Job) -> FileSurvey:
    """Count the pages that are really there, with their labels and the bookmarks; write a copy without encryption if needed."""
    document = open_pdf(job.source, job.password)
    labels = tuple(_labels(document))
    if not labels:
        raise ParseError(DocumentState.FAILED, "the PDF has no page that can be opened")
    decrypted = None
    if pdfium_c.FPDF_GetSecurityHandlerRevision(document) != -1:
        decrypted = "decrypted.pdf"
        document.save(job.folder / decrypted, flags=REMOVE_SECURITY)
    title = document.get_metadata_value("Title").strip()
    return FileSurvey(
        media_type=PDF, title=title, page_labels=labels, outline=tuple(_outline(document, len(labels))), decrypted=decrypted
    )


def _labels(document: pdfium.PdfDocument) -> Iterator[str]:
    """Yield the printed label of each page that exists; a PDF may claim a million pages and have one."""
    pending: list[str] = []
    for index in range(len(document)):
        pending.append(document.get_page_label(index))
        size = pdfium_c.FS_SIZEF()
        if pdfium_c.FPDF_GetPageSizeByIndexF(document, index, size) and size.width > 0 and size.height > 0:
            yield from pending
            pending.clear()
        elif len(pending) >= BROKEN_PAGES_IN_A_ROW:
            return


def _outline(document: pdfium.PdfDocument, pages: int) -> Iterator[OutlineEntry]:
    for count, bookmark in enumerate(document.get_toc()):
        if count >= OUTLINE_ENTRIES:
            return
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        title = " ".join(bookmark.get_title().split())
        if title and index is not None and 0 <= index < pages:
            yield OutlineEntry(title=title, level=bookmark.level + 1, page=index + 1)


def read_text_layer(job: Job) -> tuple[ParsedPage, ...]:
    """Read the range's plain text as paragraphs with their boxes, by the gaps between lines."""
    document = open_pdf(job.source)
    pages = []
    for number in range(job.first_page, job.last_page + 1):
        page = document[number - 1]
        width, height = page.get_size()
        blocks = tuple(_paragraph(lines) for lines in _paragraphs(list(_lines(page))))
        pages.append(ParsedPage(number=number, width_points=width, height_points=height, parser=PageParser.PDFIUM, blocks=blocks))
    return tuple(pages)


def _lines(page: pdfium.PdfPage) -> Iterator[tuple[Box, str]]:
    """Yield the runs of the text layer in its own order, those on one line joined."""
    text_page = page.get_textpage()
    current: tuple[Box, str] | None = None
    for index in range(text_page.count_rects()):
        rectangle = text_page.get_rect(index)
        words = text_page.get_text_bounded(*rectangle).strip()
        if not words:
            continue
        box = _to_share(page, rectangle)
        if current and _same_line(current[0], box):
            current = (unite((current[0], box)), f"{current[1]} {words}")
            continue
        if current:
            yield current
        current = (box, words)
    if current:
        yield current


def _to_share(page: pdfium.PdfPage, rectangle: tuple[float, float, float, float]) -> Box:
    """Turn page coordinates into shares of the page as it is shown: rotated, cropped, from its top left."""
    corners = []
    for x, y in (rectangle[:2], rectangle[2:]):
        column, row = pdfium_c.c_int(), pdfium_c.c_int()
        pdfium_c.FPDF_PageToDevice(page, 0, 0, GRID, GRID, 0, x, y, column, row)
        corners.append((min(max(column.value / GRID, 0.0), 1.0), min(max(row.value / GRID, 0.0), 1.0)))
    return unite((*corner, *corner) for corner in corners)


def _same_line(first: Box, second: Box) -> bool:
    """Say whether the boxes overlap by more than half of the lower one's height and stand next to each other."""
    overlap = min(first[3], second[3]) - max(first[1], second[1])
    return overlap > 0.5 * min(first[3] - first[1], second[3] - second[1]) and second[0] >= first[0]


def _paragraphs(lines: list[tuple[Box, str]]) -> Iterator[list[tuple[Box, str]]]:
    """Yield the lines of each paragraph: a gap of more than 0.8 usual lines, or a jump upwards, parts two."""
    usual = statistics.median(box[3] - box[1] for box, _ in lines) if lines else 0.0
    group: list[tuple[Box, str]] = []
    for line in lines:
        if group and not -usual < line[0][1] - group[-1][0][3] < 0.8 * usual:
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _paragraph(lines: list[tuple[Box, str]]) -> Block:
    return Block(kind=NodeKind.PARAGRAPH, text=" ".join(words for _, words in lines), box=unite(box for box, _ in lines))


def add_pictures(pages: tuple[ParsedPage, ...], job: Job) -> tuple[ParsedPage, ...]:
    """Find tables that came as text, cut out each figure and table, read formulas and lines, draw pages with next to no text.

    MinerU's model tiers find their tables themselves.
    """
    document = open_pdf(job.source)
    return tuple(_add_pictures(_add_words(page, document, job), document, job) for page in pages)


def _add_words(parsed: ParsedPage, document: pdfium.PdfDocument, job: Job) -> ParsedPage:
    """Put in the tables that came as text, and the lines as they are printed."""
    page = document[parsed.number - 1]
    width, height = page.get_size()
    aspect, blocks = width / max(height, 1.0), parsed.blocks
    if job.parse.tier == "flash" and may_have_tables(blocks):
        blocks = put_tables(blocks, words_of(page, upright=True), aspect=aspect)
    return replace(parsed, blocks=blocks, lines=write_lines(join_words(words_of(page), aspect=aspect)))


def _add_pictures(parsed: ParsedPage, document: pdfium.PdfDocument, job: Job) -> ParsedPage:
    shown = [
        place
        for place, block in enumerate(parsed.blocks)
        if block.kind in {NodeKind.FIGURE, NodeKind.TABLE} and area(block.box) >= job.parse.minimum_crop_share
    ]
    silent = sum(_characters(block) for block in parsed.blocks) < job.ocr.minimum_page_characters
    mute = [place for place, block in enumerate(parsed.blocks) if block.kind is NodeKind.FORMULA and not block.text.strip()]
    if not shown and not silent and not mute:
        return parsed
    page = document[parsed.number - 1]
    blocks = list(parsed.blocks)
    for place in mute:
        blocks[place] = replace(blocks[place], text=_words_inside(page, blocks[place].box))
    if shown:
        drawn = draw(page, dpi=job.parse.crop_dpi, megapixels=job.limits.image_megapixels)
        for place in shown:
            name = f"figure-{parsed.number}-{place}"
            (job.folder / name).write_bytes(encode(_crop(drawn, blocks[place].box)))
            blocks[place] = replace(blocks[place], picture=name)
    image = None
    if silent:
        image = f"image-{parsed.number}"
        (job.folder / image).write_bytes(encode(draw(page, dpi=job.ocr.page_dpi, megapixels=job.limits.image_megapixels)))
    return replace(parsed, blocks=tuple(blocks), image=image)


def _characters(block: Block) -> int:
    """Count what the block says; a stamp at the edge of a scan does not make the page readable."""
    if block.kind in FURNITURE_KINDS:
        return 0
    return sum(len("".join(words.split())) for words in (block.text, block.caption, block.picture_text))


def _words_inside(page: pdfium.PdfPage, box: Box) -> str:
    corners = []
    for x, y in (box[:2], box[2:]):
        across, up = pdfium_c.c_double(), pdfium_c.c_double()
        pdfium_c.FPDF_DeviceToPage(page, 0, 0, GRID, GRID, 0, round(x * GRID), round(y * GRID), across, up)
        corners.append((across.value, up.value))
    words = page.get_textpage().get_text_bounded(*unite((*corner, *corner) for corner in corners))
    return " ".join(words.split())


def draw(page: pdfium.PdfPage, *, dpi: int, megapixels: int) -> Image.Image:
    """Return the page drawn at the resolution, or at the highest that keeps it under the megapixels."""
    width, height = page.get_size()
    scale = min(dpi / 72, (megapixels * 1e6 / max(width * height, 1.0)) ** 0.5)
    drawn: Image.Image = page.render(scale=scale, may_draw_forms=False).to_pil()
    return drawn


def _crop(drawn: Image.Image, box: Box) -> Image.Image:
    """Return the part of the page inside the box, at least one pixel."""
    left, top = int(box[0] * drawn.width), int(box[1] * drawn.height)
    right, bottom = int(box[2] * drawn.width + 0.999), int(box[3] * drawn.height + 0.999)
    left, top = min(left, drawn.width - 1), min(top, drawn.height - 1)
    return drawn.crop((left, top, min(max(right, left + 1), drawn.width), min(max(bottom, top + 1), drawn.height)))
