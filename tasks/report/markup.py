"""The templates of the report. Whatever they are given is text, escaped as it enters the page, whatever it says."""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

HIDDEN_SIGNS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Signs that a terminal or a browser obeys, or that no file can hold: controls, changes of direction, halves of pairs."""


def shown(value: object) -> object:
    """Return a text with its hidden signs written out, a number with four decimals at most; finished markup as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return HIDDEN_SIGNS.sub(_written_out, value.replace("\r\n", "\n"))
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    extensions=["jinja2.ext.do"],
    finalize=shown,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
