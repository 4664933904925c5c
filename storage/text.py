"""What is done to text on its way to a store, a terminal or a page: escaped, shortened, dated, counted, made Markdown."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

NAME_LENGTH = 60
SIGNED_IN = re.compile(r"//\S*@")
"""The user and the password of an address; both may hold a slash or an `@`, and what is cut off too much is no harm."""
MARKDOWN_SIGNS = re.compile(
    r"""(?xi)
      [`~]
    | \[(?!\d\d?\](?![(\[:])) | (?<!\[\d)(?<!\[\d\d)\] | \](?=[(\[:]) | ^\[  # a link: [1] within a line is none
    | (?<!\s)\* | \*(?!\s) | (?<![^\W_])_ | _(?![^\W_])  # emphasis: a star between spaces, or a line within a word, is none
    | \\(?=[!-/:-@\[-`{-~]|$)
    | <(?=[a-z/!?]|$) | &(?=\#?\w+;)
    | :(?=//|[a-z+-][\w+-]*:) | (?<=www)\. | (?<=[\w.+-])@(?=[\w-]+\.)  # an address, a name of a picture
    | ^[>\#] | (?<!\#)\#(?=\#*$) | ^[-+](?=\s|$) | ^[-=:|](?=[-=:|\s]*$)  # what begins an item or a quotation, or makes a heading
    """
)
"""The signs that Markdown, HTML or a bare address is made of, where they are; a backslash before one makes it a letter."""
NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
"""The beginning of an item of a list."""


def storable(text: str) -> str:
    """Return the text with lone surrogates (bytes of a file name that are not UTF-8) written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def escape_unprintable(text: str, keep: Collection[str] = "") -> str:
    """Return the text with every sign written out that a terminal would obey or not show, but those to `keep`."""
    return "".join(sign if sign.isprintable() or sign in keep else sign.encode("unicode_escape").decode() for sign in text)


def printable_path(path: str) -> str:
    """Return a path fit for the catalog and a terminal: undecodable bytes, controls and direction marks escaped."""
    return escape_unprintable(os.fsencode(path).decode("utf-8", "backslashreplace"))


def one_line(text: str, keep: Collection[str] = "") -> str:
    """Return the text on one line, without what is not printable, but the signs to `keep`."""
    return " ".join("".join(sign if sign.isprintable() or sign in keep else " " for sign in text).split())


def shorten(text: str, longest: int = NAME_LENGTH) -> str:
    """Cut a text to at most `longest` characters, by default those of a step's name; a cut is marked."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def without_sign_in(text: str) -> str:
    """Return the text with no user and no password in the addresses that it names."""
    return SIGNED_IN.sub("//", text)


def counted(number: int, thing: str) -> str:
    """Return "1 page" or "2,000 pages"."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def list_names(names: Sequence[str], most: int) -> str:
    """Return at most `most` of the names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def page_list(numbers: Sequence[int]) -> str:
    """Return "page 3" or "pages 1-3, 7", the runs of consecutive numbers joined."""
    return f"page{'s' * (len(numbers) > 1)} {number_list(numbers)}"


def number_list(numbers: Iterable[int]) -> str:
    """Return "1-3, 7", the runs of consecutive numbers joined."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)


def minute(moment: str) -> str:
    """Return an ISO 8601 time to the minute."""
    return moment[:16].replace("T", " ")


def as_markdown(text: str) -> str:
    """Return the text on one line as Markdown shows it literally: no link, no picture, no HTML, no markup of it works."""
    return NUMBERED.sub(r"\1\\\2", MARKDOWN_SIGNS.sub(r"\\\g<0>", one_line(text)))


def blocks_of(text: str) -> list[tuple[bool, list[str]]]:
    """Return the lines of each paragraph, or of each list, whose items begin with a hyphen, and whether it is a list."""
    groups = groupby(text.strip().split("\n"), lambda line: line.startswith("- ") if line.strip() else None)
    return [(is_list, [line.removeprefix("- ") for line in lines]) for is_list, lines in groups if is_list is not None]


def paragraphs(text: str) -> str:
    blocks = ((is_list, map(as_markdown, lines)) for is_list, lines in blocks_of(text))
    return "\n\n".join("- " + "\n- ".join(lines) if is_list else "\\\n".join(lines) for is_list, lines in blocks)
