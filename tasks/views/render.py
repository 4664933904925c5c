"""The languages that views are drawn in: templates in a folder each, over the sentences that all of them share.

Whatever a template is given is data, and only what a template itself says is markup: each language escapes in one place.
A line of a text template is `STYLE| WORDS`; the style is one of rich, or nothing.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from storage.text import (
    as_markdown,
    blocks_of,
    counted,
    escape_unprintable,
    list_names,
    minute,
    number_list,
    page_list,
    paragraphs,
    shorten,
)
from tasks.algorithms.questions.kinds import split_at_asked

FOLDER = Path(__file__).parent
STYLE = "\n".join((FOLDER / "html" / name).read_text("utf-8") for name in ("style.css", "picture.css"))
SMALL = 0.001
"""Numbers below have six decimals, all others three."""
LINE_BREAK = "\x1f"
"""Stands for a line break inside what is shown: only a template begins a line of its own."""
BOLD = "\x0e"
"""Stands before and after bold words, likewise."""
LINK, TAG = re.compile(r"(?<=\])(?=[(:])"), re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
HIDDEN_SIGNS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Characters that a browser obeys, or that no file can hold: controls, changes of direction, halves of pairs."""
CITATION = re.compile(r"\[([0-9]{1,4})\]")
FILTERS: dict[str, Callable[..., object]] = {
    **{each.__name__: each for each in (blocks_of, counted, list_names, minute, number_list, page_list, shorten)},
    "cell": lambda text: Markup(as_markdown(text).replace("|", "\\|")),
    "number": lambda value, form: Markup(format(value, form)),
    "paragraphs": lambda text: Markup(paragraphs(text)),
    "split_at_asked": split_at_asked,
    "split_at_numbers": CITATION.split,
}


def language(folder: str, escape: Callable[[str], str], *first: Path) -> Environment:
    """Return the templates of a folder, and those that come first, where what is no markup yet is escaped so."""

    def finalize(value: object) -> object:
        if isinstance(value, float):
            return f"{value:.{6 if abs(value) < SMALL else 3}f}".rstrip("0").rstrip(".")
        return value if isinstance(value, Markup | int) else Markup(escape(str(value)))

    made = Environment(
        loader=FileSystemLoader([*first, FOLDER / folder, FOLDER]),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= FILTERS
    return made


def terminal_text(text: str) -> str:
    return escape_unprintable(text, keep="\n").replace("\n", LINE_BREAK)


def chat_text(text: str) -> str:
    """Return words so that Markdown makes no picture, link or element of them, and no terminal obeys a sign.

    Clients show a reply as Markdown: a picture in a quote would be fetched from wherever it says.
    """
    return LINK.sub(r"\\", TAG.sub("&lt;", terminal_text(text).replace(LINE_BREAK, "\n")))


def html_text(text: str) -> str:
    written_out = HIDDEN_SIGNS.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))
    return escape(written_out)


TEXT = language("text", terminal_text)
TEXT.globals["bold"] = BOLD
MARKDOWN = language("markdown", as_markdown)
CHAT = language("chat", chat_text)
"""What clients of OpenAI show: lighter than a page, for some of them show it as it is."""
HTML = language("html", html_text)
HTML.globals["served"] = False
"""Of a file of its own; the pages of the service are `served`, and lead to each other."""


def draw(templates: Environment, name: str, **context: Any) -> str:  # noqa: ANN401 - Jinja's
    return templates.get_template(name).render(context)
