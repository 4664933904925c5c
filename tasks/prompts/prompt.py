"""Prompts: their words stand in tasks/prompts, their slots are filled strictly, and what documents say in them is fenced."""

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from storage.artifacts import hash_bytes
from storage.records.documents import identify

FOLDER = Path(__file__).parent
MARK_DIGITS = 8
UNDER_THE_SYSTEM = "\n---\n"
"""What stands over this line of a file is for the system's message, and has no slots."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The words of a file in tasks/prompts; `hash` is theirs and belongs into every key that they decide.

    `system` are those of the message that chat models are told by what they are to do, "" where the text says it all.
    """

    name: str
    text: str
    hash: str
    system: str = ""

    def fill(self, **slots: str) -> str:
        """Return the text with every slot filled; raise ValueError where one is missing or unknown.

        What is filled in is not looked at for slots again.
        """
        template = Template(self.text)
        wanted = set(template.get_identifiers())
        if not template.is_valid() or wanted != slots.keys():
            raise ValueError(f"prompt {self.name!r} has the slots {sorted(wanted)}, filled were {sorted(slots)}; mend the caller")
        return _encodable(template.substitute(slots)).strip()


@functools.cache
def load_prompt(name: str) -> Prompt:
    """Return the prompt of this name, read once."""
    whole = (FOLDER / f"{name}.md").read_text("utf-8")
    system, _line, text = whole.rpartition(UNDER_THE_SYSTEM)
    return Prompt(name=name, text=text, hash=hash_bytes(whole.encode()), system=system.strip())


@functools.cache
def prompt_files() -> Mapping[str, str]:
    """Return the names of the prompts' files by the hash that calls are recorded with."""
    return {load_prompt(path.stem).hash: path.name for path in sorted(FOLDER.glob("*.md"))}


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a document, and the one line of ours that heads them."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Fenced:
    """Pieces as a prompt shows them: every line that begins with `mark` is ours, and no piece holds the mark."""

    mark: str
    text: str


def fence(pieces: Iterable[Piece], *, plain: bool = False) -> Fenced:
    """Set each piece behind a line with the mark and its heading, and a line with the mark behind them all.

    The mark is drawn from the words themselves and stands in none of them: no document can close the fence or forge a heading.
    A plain one is a run of equal signs, one token: small models take a mark of digits for what the text is about.
    Raises ValueError where a heading is more than one line.
    """
    shown = [Piece(piece.heading, _encodable(piece.text)) for piece in pieces]
    for piece in shown:
        if len(piece.heading.splitlines()) != 1:
            raise ValueError(f"the heading {piece.heading!r} is not one line; mend the caller")
    mark = _mark([piece.text for piece in shown], plain=plain)
    lines = [f"{mark} {piece.heading}\n{piece.text}" for piece in shown]
    return Fenced(mark, "\n".join([*lines, f"{mark} end"]))


def filled(prompt: Prompt, question: str, pieces: Sequence[Piece], *, plain: bool = False) -> str:
    """Return the whole text of a prompt about a question; the pieces, if there are any, stand fenced in its material."""
    fenced = fence(pieces, plain=plain)
    return prompt.fill(question=question, **({"mark": fenced.mark, "material": fenced.text} if pieces else {}))


def cut(text: str, characters: int) -> str:
    """Return the text, one that is longer cut at a space where there is one, with the number of characters left out."""
    if len(text) <= characters:
        return text
    head = text[:characters]
    kept = head[: head.rfind(" ")] if " " in head[characters // 2 :] else head
    return f"{kept} [... {len(text) - len(kept)} characters left out]"


def _mark(texts: list[str], *, plain: bool) -> str:
    drawn = ("=" * (number + 3) if plain else identify("fence", number, *texts)[:MARK_DIGITS] for number in itertools.count())
    return next(mark for mark in drawn if not any(mark in text for text in texts))


def _encodable(text: str) -> str:
    """Return the text without half signs, which neither a hash nor a server takes."""
    return text.encode("utf-8", "replace").decode()
