"""What the parent asks of a parser child, and what the child writes back: JSON in its folder, pictures next to it."""

import os
import stat
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

from storage.records.documents import Box, DocumentState, OutlineEntry, ParsedPage
from tasks.settings.ingest import LimitSettings, OcrSettings, ParseSettings

T = TypeVar("T")

PDF = "application/pdf"
NO_PLACE: Box = (0.0, 0.0, 1.0, 1.0)
"""The box of what has no place of its own: in slides, sheets, DOCX, HTML, text."""
ANSWER = "answer.json"
REFUSAL = "refusal.json"
CONFINEMENT = "confinement.json"
GIVE_PASSWORD = "; give its password with --password-file and ingest it again"
"""The end of the reason of a document that its password would open."""
DONE, REFUSED, OUT_OF_MEMORY, FAILED = 0, 3, 4, 5
"""The codes a child ends with."""


class Work(StrEnum):
    """What a child is asked to do. All but `render` and `survey` answer with a Reading."""

    SURVEY = "survey"
    MINERU = "mineru"
    TEXT_LAYER = "text_layer"
    WHOLE = "whole"
    RENDER = "render"


class Job(BaseModel):
    """One job. The child may write in `folder` and nowhere else; `name` is the document's own file name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    work: Work
    source: Path
    folder: Path
    name: str
    media_type: str = ""
    first_page: int = 1
    last_page: int = 1
    dpi: int = 0
    password: str | None = None
    cpu_seconds: float
    wall_seconds: float
    parse: ParseSettings
    ocr: OcrSettings
    limits: LimitSettings

    @property
    def confined(self) -> bool:
        """Every parser but MinerU's model tiers works without network, other programs and other folders."""
        return self.work is not Work.MINERU or self.parse.tier == "flash"


class ParseError(Exception):
    """The document cannot be read by any parser: the state it ends in, and the reason in words. Every other one is unharmed."""

    def __init__(self, state: DocumentState, reason: str) -> None:
        # Both, so that it can be sent to another process.
        super().__init__(state, reason)
        self.state = state
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """ParseError on its way to the parent; `final` is false where another parser may succeed."""

    state: DocumentState
    reason: str
    final: bool


@dataclass(frozen=True, slots=True)
class FileSurvey:
    """What a file is. `page_labels` has an entry for each page of a PDF, else none; `decrypted` names the copy to read."""

    media_type: str
    title: str
    page_labels: tuple[str, ...]
    outline: tuple[OutlineEntry, ...]
    decrypted: str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """The pages read; `picture` and `image` in them are names of files in the job's folder, not yet artifacts."""

    title: str
    pages: tuple[ParsedPage, ...]


def read_left_bytes(folder: Path, name: str, *, most_bytes: int) -> bytes | None:
    """Return at most `most_bytes` of a regular file that a child left; None for a link, a pipe, or nothing.

    A child that was taken over could have left anything under any name.
    """
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read(most_bytes)
    finally:
        os.close(descriptor)


def read_left_json(folder: Path, name: str, kind: TypeAdapter[T], *, most_bytes: int) -> T | None:
    """Return what a child left as JSON; None where it left nothing, or something else."""
    written = read_left_bytes(folder, name, most_bytes=most_bytes)
    try:
        return kind.validate_json(written) if written else None
    except ValueError:
        return None


SURVEYS = TypeAdapter(FileSurvey)
READINGS = TypeAdapter(Reading)
REFUSALS = TypeAdapter(RefusedFile)
CONFINEMENTS = TypeAdapter(tuple[str, ...])
