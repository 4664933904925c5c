"""Text made fit: for a file that takes UTF-8, for a line that has an end."""

from __future__ import annotations

NAME_LENGTH = 60


def storable(text: str) -> str:
    """Return the text with lone surrogates (bytes of a file name that are not UTF-8) written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shortened(text: str, longest: int = NAME_LENGTH) -> str:
    """Return a text of at most so many characters, as the name of a step has by default; a cut is marked."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
