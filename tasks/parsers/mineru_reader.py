"""MinerU, in the child: a range of a PDF's pages, or any other document whole."""

from __future__ import annotations

import base64
import binascii
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import mineru.backend.analysis.pdf.window as pdf_window
import pypdfium2 as pdfium
from mineru import parse
from mineru.backend.analyze import doc_analyze

from storage.records import Block, NodeKind, PageParser, ParsedPage
from tasks.parsers.jobs import Job, ParseError
from tasks.parsers.media import MINERU_SUFFIX
from tasks.parsers.mineru_blocks import Json, body_of, to_block
from tasks.parsers.pictures import decode, encode

SILENT = {NodeKind.FIGURE, NodeKind.FORMULA}
"""Kinds that mean something before a word of theirs is known."""


def render_nothing(*_: object, **__: object) -> None:
    """Stand in for MinerU's rendering of crops."""


# MinerU renders the crop of each figure in processes of its own, which would escape the limits of this one,
# and hands the pictures over as base64. FlowReader cuts its crops itself; the figure blocks stay without this.
pdf_window.attach_visual_block_images_from_pdf = render_nothing


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


def read_whole(job: Job) -> tuple[str, tuple[ParsedPage, ...]]:
    """Read an Office, HTML, e-book or CSV document: its title, and a page for each slide or sheet, else one."""
    data = job.source.read_bytes()
    # no source folder is given, so that MinerU finds no pictures beside the document
    middle, _ = doc_analyze(data, effort="flash", parse_mode="txt", file_suffix=MINERU_SUFFIX[job.media_type])
    result: dict[str, Any] = middle.model_dump(mode="json", exclude_none=True)
    pages = []
    for raw in result["pages"]:
        number = raw["page_idx"] + 1
        blocks = (
            _with_picture(block, job=job, name=f"figure-{number}-{place}") for place, block in enumerate(raw.get("blocks", ()))
        )
        pages.append(_page(raw, size=(0.0, 0.0), blocks=tuple(block for block in blocks if block)))
    return str(result.get("metadata", {}).get("document", {}).get("title") or ""), tuple(pages)


def _page(raw: Json, *, size: tuple[float, float], blocks: tuple[Block, ...]) -> ParsedPage:
    """Return the record of a page, without what says nothing at all."""
    spoken = tuple(block for block in blocks if block.kind in SILENT or block.text.strip() or block.caption)
    return ParsedPage(
        number=raw["page_idx"] + 1, width_points=size[0], height_points=size[1], parser=PageParser.MINERU, blocks=spoken
    )


def _with_picture(raw: Json, *, job: Job, name: str) -> Block | None:
    """Return the block; a figure's own picture is written beside the answer. A figure of neither picture nor words is none."""
    block = to_block(raw)
    if block.kind is not NodeKind.FIGURE:
        return block
    data = _embedded(str(body_of(raw).get("image_base64") or ""), job=job)
    if data is None:
        return block if block.caption or block.picture_text else None
    (job.folder / name).write_bytes(data)
    return replace(block, picture=name)


def _embedded(address: str, *, job: Job) -> bytes | None:
    """Return the bytes of a data address as PNG or JPEG, or None where it holds no picture that can be shown."""
    try:
        data = base64.b64decode(address.partition(";base64,")[2], validate=True)
        # drawn anew even where it is PNG or JPEG already: whoever opens it later is not confined as we are
        return encode(decode(io.BytesIO(data), megapixels=job.limits.image_megapixels)) if data else None
    except (binascii.Error, ParseError):
        return None


def read_sample(path: Path) -> None:
    """Write a PDF of one empty page and read it."""
    document = pdfium.PdfDocument.new()
    document.new_page(595, 842)
    document.save(path)
    parse(str(path), tier="flash", ocr_mode="txt")
