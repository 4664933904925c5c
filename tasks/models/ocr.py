"""Words from pictures: RapidOCR in a process of its own, which ends with this one.

What is read of a picture depends on the picture alone, never on what is read beside it.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from storage.records import Box
from tasks.progress import StoppedError, stop_requested

READER_VERSION = "1"
"""Raised when our own way of using the engine makes other words of the same picture."""

START_SECONDS = 120.0
SECONDS_PER_PICTURE = 120.0
REPLY_BYTES = 1 << 16
ROOT = Path(__file__).resolve().parents[2]


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


class Engine:
    """The child process and its pipes; one request at a time."""

    def __init__(self) -> None:
        """Start it and wait until its models are loaded; raise OcrError where that fails."""
        # handing memory back after each layer and asking for it again took a third of the time
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        environment |= {"MALLOC_TRIM_THRESHOLD_": str(256 << 20), "MALLOC_MMAP_THRESHOLD_": str(256 << 20)}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tasks.models.ocr_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )
        if self._receive(START_SECONDS) is None:
            self.close()
            raise OcrError(f"the OCR engine does not start; `cd {ROOT} && {sys.executable} -m tasks.models.ocr_worker` says why")

    def read(self, pictures: Sequence[bytes]) -> list[PictureWords] | None:
        """Return the words of each picture, or None where the process ended or hangs."""
        assert self._process.stdin is not None
        header = json.dumps([len(picture) for picture in pictures]).encode() + b"\n"
        try:
            for part in (header, *pictures):
                _write_all(self._process.stdin.fileno(), part)
        except OSError:
            return None
        reply = self._receive(SECONDS_PER_PICTURE * len(pictures))
        return None if reply is None else REPLIES.validate_json(reply)

    def _receive(self, seconds: float) -> bytes | None:
        """Return the next line, or None where it does not come in time or the process is gone."""
        assert self._process.stdout is not None
        received, deadline = bytearray(), time.monotonic() + seconds
        while not received.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                return None
            piece = self._process.stdout.read(REPLY_BYTES)
            if not piece:
                return None
            received += piece
        return bytes(received)

    def interrupt(self) -> None:
        """Kill the process and leave the rest to whoever reads from it."""
        self._process.kill()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


_engine: Engine | None = None
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
        if stop_requested():
            raise StoppedError
        return [(_read([picture]) or [_unreadable()])[0] for picture in pictures]


def _read(pictures: Sequence[bytes]) -> list[PictureWords] | None:
    global _engine
    if _engine is None:
        _engine = Engine()
    finished = False
    try:
        words = _engine.read(pictures)
        finished = words is not None
        return words
    finally:
        # also when the user interrupts: a reply that nobody took would answer the next request
        if not finished:
            _engine.close()
            _engine = None


def _unreadable() -> PictureWords:
    return PictureWords(lines=(), problem="the OCR engine ended or hung on this picture")


def interrupt_engine() -> None:
    """End what the engine is doing, from any thread or a signal handler; who waits for its words goes on at once."""
    if _engine is not None:
        _engine.interrupt()


@atexit.register
def close_engine() -> None:
    """End the engine's process where one runs; the next picture starts another."""
    global _engine
    if _engine is not None:
        _engine.close()
        _engine = None
