"""Reading the words of pages and figures that have no text layer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from storage.artifacts import ArtifactStore, hash_bytes, write_durably
from storage.records.documents import Block, Box, NodeKind, PageParser, ParsedDocument, ParsedPage, identify
from tasks.algorithms.layout.boxes import TextLine, area, holds_middle, merge_lines, order_boxes
from tasks.algorithms.layout.lines import write_lines
from tasks.models.ocr import PictureWords, ReadLine, ocr_identity, read_pictures
from tasks.settings.ingest import OcrSettings

PICTURES_AT_ONCE = 12
"""Enough to keep every core busy, few enough to report progress and to lose little when interrupted."""
WHOLE_PAGE = 0.8
"""A figure over so much of a page is the scan itself; the page's image shows it already."""

CACHED = TypeAdapter(PictureWords)


def read_words(
    *,
    parsed: ParsedDocument,
    settings: OcrSettings,
    artifacts: ArtifactStore,
    cache_folder: Path,
    on_pictures: Callable[[int, int], None],
) -> ParsedDocument:
    """Return the document with the words of its page images and figures; where OCR is off, as it is.

    What a picture says is kept in `cache_folder` under the picture's hash. A picture that cannot be read leaves a note on
    its page. `on_pictures(done, total)` is called as pictures are done.
    """
    if not settings.enabled:
        return parsed
    wanted = _wanted_pictures(parsed, settings)
    words: dict[str, PictureWords] = {}
    for first in range(0, len(wanted), PICTURES_AT_ONCE):
        words |= _read_through_cache(wanted[first : first + PICTURES_AT_ONCE], artifacts, cache_folder)
        on_pictures(len(words), len(wanted))
    confident = {
        name: replace(found, lines=tuple(line for line in found.lines if line.confidence >= settings.minimum_confidence))
        for name, found in words.items()
    }
    return replace(parsed, pages=tuple(_fill_page(page, confident) for page in parsed.pages))


def _wanted_pictures(parsed: ParsedDocument, settings: OcrSettings) -> list[str]:
    """Return the artifacts to read, each once, in page order."""
    pages_of: dict[str, set[int]] = {}
    for page in parsed.pages:
        for block in page.blocks:
            if block.picture:
                pages_of.setdefault(block.picture, set()).add(page.number)
    wanted: dict[str, None] = {}
    for page in parsed.pages:
        if page.image:
            wanted[page.image] = None
            continue
        for block in page.blocks:
            if (
                block.picture
                and block.kind is NodeKind.FIGURE
                and not block.picture_text
                and area(block.box) >= settings.minimum_figure_share
                and len(pages_of[block.picture]) < settings.repeated_pages
            ):
                wanted[block.picture] = None
    return list(wanted)


def _read_through_cache(names: Sequence[str], artifacts: ArtifactStore, folder: Path) -> dict[str, PictureWords]:
    """Return the words of each picture; what could not be read is not kept."""
    words = {name: found for name in names if (found := _recall(_cache_path(folder, name))) is not None}
    missing = [name for name in names if name not in words]
    for name, found in zip(missing, read_pictures([artifacts.read(name) for name in missing]), strict=True):
        words[name] = found
        if not found.problem:
            body = CACHED.dump_json(found)
            write_durably(_cache_path(folder, name), hash_bytes(body).encode() + b"\n" + body)
    return words


def _cache_path(folder: Path, picture: str) -> Path:
    return folder / picture[:2] / picture / f"{identify(ocr_identity())}.json"


def _recall(path: Path) -> PictureWords | None:
    """Return an earlier reading, None where there is none or its file is damaged."""
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
        return CACHED.validate_json(body) if hash_bytes(body).encode() == digest else None
    except (FileNotFoundError, ValidationError):
        return None


def _fill_page(page: ParsedPage, words: Mapping[str, PictureWords]) -> ParsedPage:
    if page.image:
        return _fill_image_page(page, words[page.image])
    filled = tuple(_fill_figure(block, words) for block in page.blocks)
    seen = [(block.box, words[block.picture]) for block in page.blocks if block.picture and block.picture in words]
    lines = [page.lines, *(write_lines(_lines_inside(box, found)) for box, found in seen)]
    filled_page = replace(page, blocks=filled, lines="\n".join(filter(None, lines)))
    return _with_notes(filled_page, [found.problem for _box, found in seen])


def _lines_inside(box: Box, found: PictureWords) -> Iterator[TextLine]:
    """Yield the lines of a picture that has this box on its page, with their own."""
    wide, high = box[2] - box[0], box[3] - box[1]
    for line in found.lines:
        left, top, right, bottom = line.box
        yield TextLine(line.text, (box[0] + left * wide, box[1] + top * high, box[0] + right * wide, box[1] + bottom * high))


def _fill_figure(block: Block, words: Mapping[str, PictureWords]) -> Block:
    if block.picture is None or block.picture_text or block.picture not in words:
        return block
    return replace(block, picture_text=_join_lines(words[block.picture].lines))


def _fill_image_page(page: ParsedPage, found: PictureWords) -> ParsedPage:
    """Make blocks of the lines: those inside a figure are its words, the others become titles and paragraphs."""
    if not found.lines:
        return _with_notes(page, [found.problem])
    figures = [block for block in page.blocks if block.kind is NodeKind.FIGURE and area(block.box) < WHOLE_PAGE]
    inside: dict[int, list[TextLine]] = {}
    outside: list[TextLine] = []
    lines = [TextLine(line.text, line.box) for line in found.lines]
    for line in lines:
        home = next((place for place, figure in enumerate(figures) if holds_middle(figure.box, line.box)), None)
        if home is None:
            outside.append(line)
        else:
            inside.setdefault(home, []).append(line)
    blocks = [replace(figure, picture_text=_join_lines(inside.get(place, ()))) for place, figure in enumerate(figures)]
    blocks += merge_lines(outside, width=page.width_points or 1.0, height=page.height_points or 1.0)
    ordered = order_boxes([block.box for block in blocks])
    return replace(page, parser=PageParser.OCR, blocks=tuple(blocks[place] for place in ordered), lines=write_lines(lines))


def _join_lines(lines: Sequence[ReadLine | TextLine]) -> str:
    return " ".join(line.text for line in lines)


def _with_notes(page: ParsedPage, problems: Sequence[str]) -> ParsedPage:
    notes = [page.note, *(f"OCR: {problem}" for problem in dict.fromkeys(problems) if problem)]
    return replace(page, note="; ".join(note for note in notes if note))
