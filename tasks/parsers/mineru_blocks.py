"""MinerU's middle JSON, block by block, into the project's records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from storage.records import Block, Box, NodeKind

Json = Mapping[str, Any]
NO_PLACE: Box = (0.0, 0.0, 1.0, 1.0)
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
    """Return the record of one block of a page."""
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
    """Return the parts of a compound block of one sort."""
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
    """Return the block's box cut to the page; what has no place (slides, sheets, DOCX, HTML) gets the whole page."""
    numbers = raw.get("bbox")
    if not numbers or len(numbers) != 4:
        return NO_PLACE
    left, top, right, bottom = (min(max(float(number), 0.0), 1.0) for number in numbers)
    return (min(left, right), min(top, bottom), max(left, right), max(top, bottom))
