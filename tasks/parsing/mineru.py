"""MinerU, in the child: a range of a PDF's pages, or any other document whole."""

import base64
import binascii
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import mineru.backend.analysis.pdf.window as pdf_window
import pypdfium2 as pdfium
from mineru import parse
from mineru.backend.analyze import doc_analyze

from storage.records.documents import Block, Box, NodeKind, PageParser, ParsedPage
from tasks.parsing.jobs import NO_PLACE, Job, ParseError, Reading
from tasks.parsing.pictures import decode, encode

Json = Mapping[str, Any]
KINDS = {
    "doc_title": NodeKind.TITLE,
    "paragraph_title": NodeKind.TITLE,
    "list": NodeKind.LIST,
    "index": NodeKind.LIST,
    "equation": NodeKind.FORMULA,
    "code": NodeKind.CODE,
    "algorithm": NodeKind.CODE,
    "table": NodeKind.TABLE,
    "image": NodeKind.FIGURE,
    "chart": NodeKind.FIGURE,
    "header": NodeKind.HEADER,
    "footer": NodeKind.FOOTER,
    "page_number": NodeKind.PAGE_NUMBER,
    "page_footnote": NodeKind.FOOTNOTE,
    "aside_text": NodeKind.PARAGRAPH,
}
"""Everything else (text, ref_text, what a later MinerU invents) is a paragraph: words are never lost."""
ROW_END = re.compile(r"</tr\s*>", re.I)
CELL_END = re.compile(r"</t[dh]\s*>(?=.*?<t[dh][\s>])", re.I | re.S)
TAG = re.compile(r"<[^>]*>")


def to_block(raw: Json) -> Block:
    kind = KINDS.get(raw["type"], NodeKind.PARAGRAPH)
    box = _box(raw)
    if kind in {NodeKind.TABLE, NodeKind.FIGURE, NodeKind.CODE} and isinstance(raw.get("content"), list):
        return _compound(raw, kind, box)
    level = raw.get("level") if kind is NodeKind.TITLE else None
    return Block(kind=kind, text=inline_text(raw.get("content")), box=box, level=level, continues=bool(raw.get("continues_prev")))


def body_of(raw: Json) -> Json:
    """Return the body of a figure, table or code block, or an empty mapping where it has none."""
    content = raw.get("content")
    parts = content if isinstance(content, list) else []
    return next((part for part in parts if str(part.get("type", "")).endswith("_body")), {})


def _compound(raw: Json, kind: NodeKind, box: Box) -> Block:
    """Return the record of a block that has a body, captions and footnotes."""
    captions, footnotes = _parts(raw, "_caption"), _parts(raw, "_footnote")
    body = inline_text(body_of(raw).get("content")) or ("" if body_of(raw) else inline_text(raw.get("content")))
    markup = body if kind is NodeKind.TABLE and "<t" in body else None
    return Block(
        kind=kind,
        text="" if kind is NodeKind.FIGURE else (table_text(markup) if markup else body),
        box=box,
        html=markup,
        caption="\n".join(inline_text(part.get("content")) for part in captions),
        caption_box=_box(captions[0]) if captions and captions[0].get("bbox") else None,
        footnote="\n".join(inline_text(part.get("content")) for part in footnotes),
        picture_text=body if kind is NodeKind.FIGURE else "",
        continues=bool(raw.get("continues_prev")),
    )


def _parts(raw: Json, ending: str) -> list[Json]:
    return [part for part in raw["content"] if str(part.get("type", "")).endswith(ending)]


def inline_text(content: Any) -> str:  # noqa: ANN401  (JSON of a foreign schema: a string, runs, or items)
    """Return the words of a content: runs are joined as they stand, the items of a list are lines."""
    if content is None or isinstance(content, str):
        return content or ""
    items = [item for item in content if isinstance(item, Mapping)]
    return ("\n" if any(map(_is_item, items)) else "").join(inline_text(item.get("content")) for item in items)


def _is_item(item: Json) -> bool:
    """Say whether this is a block within a block, such as the item of a list, and no run of words."""
    return "bbox" in item or (item.get("type") == "text" and isinstance(item.get("content"), list))


def table_text(markup: str) -> str:
    """Return the table's words, a row a line, cells parted by ` | `."""
    rows = []
    for row in ROW_END.split(markup):
        cells = [" ".join(unescape(TAG.sub(" ", cell)).split()) for cell in CELL_END.split(row)]
        if any(cells):
            rows.append(" | ".join(cells).rstrip())
    return "\n".join(rows)


def _box(raw: Json) -> Box:
    """Return the block's box cut to the page."""
    numbers = raw.get("bbox")
    if not numbers or len(numbers) != 4:
        return NO_PLACE
    left, top, right, bottom = (min(max(float(number), 0.0), 1.0) for number in numbers)
    return (min(left, right), min(top, bottom), max(left, right), max(top, bottom))


SILENT = {NodeKind.FIGURE, NodeKind.FORMULA}
"""Kinds that mean something before a word of theirs is known."""


# MinerU renders the crop of each figure in processes of its own, which would escape the limits of this one,
# and hands the pictures over as base64. FlowReader cuts its crops itself; the figure blocks stay without this.
pdf_window.attach_visual_block_images_from_pdf = lambda *_, **__: None


def read_pages(job: Job) -> tuple[ParsedPage, ...]:
    """Read a range of a PDF's pages; a page that MinerU leaves out is missing in the reply."""
    span = f"{job.first_page}-{job.last_page}"
    result = parse(str(job.source), tier=job.parse.tier, ocr_mode="txt", page_range=span).to_dict()
    layout = result.get("extensions", {}).get("docvortex_layout", {}).get("pages", ())
    sizes = {page["page_idx"]: (page["width_pt"], page["height_pt"]) for page in layout}
    return tuple(
        _page(raw, size=sizes.get(raw["page_idx"], (0.0, 0.0)), blocks=tuple(map(to_block, raw.get("blocks", ()))))
        for raw in result["pages"]
    )


def read_whole(job: Job, *, format_name: str) -> Reading:
    """Read an Office, HTML, e-book or CSV document: its title, and a page for each slide or sheet, else one."""
    data = job.source.read_bytes()
    # no source folder is given, so that MinerU finds no pictures next to the document
    middle, _ = doc_analyze(data, effort="flash", parse_mode="txt", file_suffix=format_name)
    result: dict[str, Any] = middle.model_dump(mode="json", exclude_none=True)
    pages = []
    for raw in result["pages"]:
        number = raw["page_idx"] + 1
        blocks = (
            _with_picture(block, job=job, name=f"figure-{number}-{place}") for place, block in enumerate(raw.get("blocks", ()))
        )
        pages.append(_page(raw, size=(0.0, 0.0), blocks=tuple(block for block in blocks if block)))
    title = str(result.get("metadata", {}).get("document", {}).get("title") or "")
    return Reading(title=title, pages=tuple(pages))


def _page(raw: Json, *, size: tuple[float, float], blocks: tuple[Block, ...]) -> ParsedPage:
    """Return the record of a page, without what says nothing at all."""
    spoken = tuple(block for block in blocks if block.kind in SILENT or block.text.strip() or block.caption)
    return ParsedPage(
        number=raw["page_idx"] + 1, width_points=size[0], height_points=size[1], parser=PageParser.MINERU, blocks=spoken
    )


def _with_picture(raw: Json, *, job: Job, name: str) -> Block | None:
    """Return the block; a figure's own picture is written next to the answer. A figure of neither picture nor words is none."""
    block = to_block(raw)
    if block.kind is not NodeKind.FIGURE:
        return block
    data = _decode_picture(str(body_of(raw).get("image_base64") or ""), job=job)
    if data is None:
        return block if block.caption or block.picture_text else None
    (job.folder / name).write_bytes(data)
    return replace(block, picture=name)


def _decode_picture(address: str, *, job: Job) -> bytes | None:
    """Return the bytes of a data address as PNG or JPEG, or None where it holds no picture that can be shown."""
    try:
        data = base64.b64decode(address.partition(";base64,")[2], validate=True)
        # drawn anew even where it is PNG or JPEG already: what opens it later is not confined as this process is
        return encode(decode(io.BytesIO(data), megapixels=job.limits.image_megapixels)) if data else None
    except (binascii.Error, ParseError):
        return None


def read_sample(path: Path) -> None:
    """Write a PDF of one empty page and read it."""
    document = pdfium.PdfDocument.new()
    document.new_page(595, 842)
    document.save(path)
    parse(str(path), tier="flash", ocr_mode="txt")
