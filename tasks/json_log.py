"""The structured log: `FLOWREADER_LOG=FILE`, or `-` for standard error; a line of JSON for all that happens in a run.

Many processes may write one file: each line is appended in one piece. A file that was moved away is made anew.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path

from tasks.happening_lines import Line, level_of, line_of
from tasks.happenings import DocumentBegan, DocumentEnded, Happening, Logged, heard_by

LOG = "FLOWREADER_LOG"
STANDARD_ERROR = "-"
LOGGER = "flowreader"


class LogFileError(OSError):
    """The file that FLOWREADER_LOG names cannot be written."""


class JsonLines(logging.Formatter):
    """A record whose message is a line's fields, as ASCII: no sign of a name ends the line, or is obeyed by a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, the time in UTC first."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        fields = record.args if isinstance(record.args, dict) else {}
        return json.dumps({"time": time, "level": record.levelname.lower(), **fields})


class _OnceToldFile(WatchedFileHandler):
    """A file that cannot be written any more is told of once, on standard error; the work goes on."""

    _told = False

    def _open(self) -> io.TextIOWrapper:
        # Nothing waits in a buffer: a line goes in one write, and one that does not fit is gone.
        return io.TextIOWrapper(Path(self.baseFilename).open("ab", buffering=0), encoding="ascii", write_through=True)

    def handleError(self, _record: logging.LogRecord) -> None:
        """Say it the first time."""
        if not self._told:
            self._told = True
            sys.stderr.write(f"{LOG}: {self.baseFilename!r} cannot be written any more ({sys.exc_info()[1]}); the run goes on\n")


def check_log() -> None:
    """Raise LogFileError where the file that the environment names, if any, cannot be written."""
    if target := os.environ.get(LOG):
        _opened(target).close()


@contextmanager
def logging_to(target: str) -> Iterator[None]:
    """Write all that happens inside the block to the file, or to standard error; raise LogFileError where it cannot be."""
    handler = _opened(target)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.INFO)
    # Prefect's handlers stand at the root: they would say it a second time.
    logger.propagate = False
    logger.addHandler(handler)
    try:
        with heard_by(_Teller(logger).hear):
            yield
    finally:
        logger.removeHandler(handler)
        handler.close()


class _Teller:
    """Turns what happens into lines, with the names of the documents at work."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger, self._names = logger, dict[str, str]()

    def hear(self, happening: Happening) -> None:
        """Write its line."""
        if not isinstance(happening, Logged):
            return
        if isinstance(happening, DocumentBegan):
            self._names[happening.document] = happening.name
        line: Line = line_of(happening, self._names)
        if isinstance(happening, DocumentEnded):
            self._names.pop(happening.document, None)
        self._logger.log(level_of(line), "%s", line)


def _opened(target: str) -> logging.Handler:
    if target == STANDARD_ERROR:
        return logging.StreamHandler(sys.stderr)
    path = Path(target).expanduser().absolute()
    try:
        return _OnceToldFile(path)
    except OSError as error:
        raise LogFileError(
            error.errno,
            f"{LOG} names {str(path)!r}, which cannot be written ({error.strerror}); name a file in a folder that exists, or -",
        ) from error
