"""Words from pictures: RapidOCR in a process of its own, which ends with this one.

The words read depend on the picture alone, never on other pictures read with it.
"""

from collections.abc import Sequence
from importlib import metadata

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from storage.errors import ExpectedError
from storage.records.documents import Box
from tasks.models.process import ModelProcess

READER_VERSION = "1"
"""Raised when our own way of using the engine makes other words of the same picture."""

SECONDS_PER_PICTURE = 120.0


class OcrError(ExpectedError):
    """The OCR engine does not run on this machine; the message says how to see why."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line of text in a picture; `box` is in 0..1 of the picture, `confidence` in 0..1."""

    text: str
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True)
class PictureWords:
    """The lines of a picture from the top; `problem` says why there are none where the picture could not be read."""

    lines: tuple[ReadLine, ...]
    problem: str = ""


REPLIES = TypeAdapter(list[PictureWords])
UNREADABLE = PictureWords(lines=(), problem="the OCR engine ended or hung on this picture")


def ocr_identity() -> str:
    """Return what decides which words are read; cheap, loads no engine."""
    return f"rapidocr {metadata.version('rapidocr')}, reader {READER_VERSION}"


# Handing memory back after each layer and asking for it again took a third of the time.
_engine = ModelProcess(
    "tasks.models.ocr_worker",
    failure=OcrError,
    environment={
        "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
        "MALLOC_MMAP_THRESHOLD_": str(256 << 20),
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
    },
)


def read_pictures(pictures: Sequence[bytes]) -> list[PictureWords]:
    """Return the words of each encoded picture (PNG, JPEG, ...), in order.

    A picture that cannot be read, or that the engine does not survive, has a `problem` and no lines; the others are read.
    Raises OcrError where the engine itself does not start, StoppedError where the user asked for the end.
    """
    if not pictures:
        return []
    words = _read(pictures)
    if words is not None:
        return words
    # Alone, and once more: what ends the engine three times is the picture, not a moment without memory.
    return [(_read([picture]) or _read([picture]) or [UNREADABLE])[0] for picture in pictures]


def _read(pictures: Sequence[bytes]) -> list[PictureWords] | None:
    reply = _engine.ask(list(pictures), seconds=SECONDS_PER_PICTURE * len(pictures))
    return None if reply is None else REPLIES.validate_json(reply)
