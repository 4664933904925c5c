"""Words from pictures: RapidOCR in a process of its own, which ends with this one.

What is read of a picture depends on the picture alone, never on what is read beside it.
"""

import threading
from collections.abc import Sequence
from importlib import metadata

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from storage.records.documents import Box
from tasks.models.process import READY, ModelProcess
from tasks.progress import StoppedError, stop_requested

READER_VERSION = "1"
"""Raised when our own way of using the engine makes other words of the same picture."""

START_SECONDS = 120.0
SECONDS_PER_PICTURE = 120.0


class OcrError(RuntimeError):
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


def ocr_identity() -> str:
    """Return what decides which words are read; cheap, loads no engine."""
    return f"rapidocr {metadata.version('rapidocr')}, reader {READER_VERSION}"


def start_engine() -> ModelProcess:
    """Start the engine's process and wait until its models are loaded; raise OcrError where that fails."""
    # handing memory back after each layer and asking for it again took a third of the time
    environment = {"MALLOC_TRIM_THRESHOLD_": str(256 << 20), "MALLOC_MMAP_THRESHOLD_": str(256 << 20)}
    process = ModelProcess("tasks.models.ocr_worker", environment=environment | {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"})
    if process.greeting(START_SECONDS) != READY:
        process.close()
        raise OcrError(f"the OCR engine does not start; {process.how_to_see_why} says why")
    return process


_engine: ModelProcess | None = None
_reading = threading.Lock()


def read_pictures(pictures: Sequence[bytes]) -> list[PictureWords]:
    """Return the words of each encoded picture (PNG, JPEG, ...), in order.

    A picture that cannot be read, or that the engine does not survive, has a `problem` and no lines; the others are read.
    Raises OcrError where the engine itself does not start, StoppedError where the user asked for the end.
    """
    if not pictures:
        return []
    with _reading:
        words = _read(pictures)
        if words is not None:
            return words
        # Alone, and once more: what ends the engine three times is the picture, not a moment without memory.
        return [(_read([picture]) or _read([picture]) or [_unreadable()])[0] for picture in pictures]


def _read(pictures: Sequence[bytes]) -> list[PictureWords] | None:
    global _engine
    if stop_requested():
        raise StoppedError
    if _engine is None:
        _engine = start_engine()
    reply = None
    try:
        sizes = [len(picture) for picture in pictures]
        reply = _engine.ask(sizes, pictures, seconds=SECONDS_PER_PICTURE * len(pictures))
        if reply is None and stop_requested():
            raise StoppedError
        return None if reply is None else REPLIES.validate_json(reply)
    finally:
        # also when the user interrupts: a reply that nobody took would answer the next request
        if reply is None:
            _engine.close()
            _engine = None


def _unreadable() -> PictureWords:
    return PictureWords(lines=(), problem="the OCR engine ended or hung on this picture")
