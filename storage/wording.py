"""Text made fit: for a file that takes UTF-8, for a line that has an end."""

from __future__ import annotations

import re

NAME_LENGTH = 60
SIGNED_IN = re.compile(r"//\S*@")
"""The user and the password of an address; both may hold a slash or an `@`, and what is cut off too much is no harm."""


def storable(text: str) -> str:
    """Return the text with lone surrogates (bytes of a file name that are not UTF-8) written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def without_sign_in(text: str) -> str:
    """Return the text with no user and no password in the addresses that it names."""
    return SIGNED_IN.sub("//", text)


def shortened(text: str, longest: int = NAME_LENGTH) -> str:
    """Return a text of at most so many characters, as the name of a step has by default; a cut is marked."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
