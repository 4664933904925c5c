"""The one place where text becomes Markdown: what documents, models and users wrote is shown, and never obeyed."""

import re
from collections.abc import Iterable

SIGNS = re.compile(r"([!-/:-@\[-`{-~])")
"""Every sign that Markdown, HTML or a bare address is made of; a backslash before it makes it a letter."""


def as_text(text: str) -> str:
    """Return the text on one line as Markdown shows it literally: no link, no picture, no HTML, no markup of it works."""
    return SIGNS.sub(r"\\\1", " ".join("".join(sign if sign.isprintable() else " " for sign in text).split()))


def paragraphs(text: str) -> str:
    parts = ("\\\n".join(map(as_text, part.strip().splitlines())) for part in text.split("\n\n") if part.strip())
    return "\n\n".join(parts)


def table_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(as_text, cells))} |"
