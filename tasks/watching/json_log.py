"""Events as lines: JSON for programs, a few words for Prefect's UI; and the log of lines."""

import io
import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import TypeAlias

from storage.errors import ExpectedError
from storage.records.steps import StepRecord
from storage.text import escape_unprintable, shorten
from tasks.events import (
    CallEnded,
    DocumentBegan,
    DocumentEnded,
    Event,
    Logged,
    QuestionRefused,
    StepEnded,
    subscribe,
)
from tasks.models.chat.call import ModelCall
from tasks.progress import STOPPED

Line: TypeAlias = Mapping[str, str | int | float]

LONGEST_TEXT = 300
"""Characters of a name or a reason: a line stays below the size that the system appends in one piece."""

WELL = {
    "",
    "ended",
    "stopped",
    "ready",
    "answered",
    "partial",
    "unverified",
    "evidence",
    "not_found",
    "remembered",
    "done",
    "ok",
    "cached",
}
"""States and outcomes that need no attention."""
WITHIN_A_NAME = re.compile(r"(?<=[a-z])(?=[A-Z])")


def line_of(event: Logged, names: Mapping[str, str]) -> Line:
    """Return an event's fields, the empty ones left out; `names` are those of the documents at work, by id.

    The event is named as its class: RunBegan is `run-began`.
    """
    if isinstance(event, StepEnded):
        fields = _of_step(event.record, names)
    elif isinstance(event, CallEnded):
        fields = _of_call(event.call, names)
    else:
        fields = asdict(event)
    run = {} if isinstance(event, QuestionRefused) else {"run": event.run}
    line = {"event": WITHIN_A_NAME.sub("-", type(event).__name__).lower(), **run, **fields}
    return {name: _show(value) for name, value in line.items() if value != ""}


def level_of(line: Line) -> int:
    """Return the level: a failure or a refusal is a warning, the end of a run by an error an error."""
    if line["event"] == "question-refused":
        return logging.WARNING
    outcome = str(line.get("outcome") or line.get("state") or line.get("status") or "")
    if outcome in WELL:
        return logging.INFO
    return logging.ERROR if line["event"] == "run-ended" else logging.WARNING


def words_of(line: Line) -> str:
    """Return the line in a few words: what happened, to which document, and how it went."""
    subject = line.get("name") or line.get("flow") or line.get("reader") or line.get("step") or ""
    left_out = {"event", "run", "document", "answer", "name", "flow", "reader"}
    others = ", ".join(f"{name} {value}" for name, value in line.items() if name not in left_out)
    return f"{str(line['event']).replace('-', ' ')}: {subject}" + (f" ({others})" if others else "")


def step_outcome(record: StepRecord) -> str:
    if record.error:
        return "stopped" if error_kind(record) == STOPPED else "failed"
    return "remembered" if record.cache_hit else "done"


def error_kind(record: StepRecord) -> str:
    """Return the kind of error alone: its words may quote a question or a document, and stand in the lineage."""
    return record.error.partition(":")[0]


def _of_step(record: StepRecord, names: Mapping[str, str]) -> dict[str, str | int | float]:
    return {
        "step": record.step,
        **_subject(record.subject, names),
        "outcome": (outcome := step_outcome(record)),
        "seconds": record.seconds,
        "attempts": record.attempts,
        "error": error_kind(record) if outcome == "failed" else "",
    }


def _of_call(call: ModelCall, names: Mapping[str, str]) -> dict[str, str | int | float]:
    return {
        "purpose": call.purpose,
        **_subject(call.subject, names),
        "model": call.model,
        "outcome": call.outcome.value,
        "seconds": call.seconds,
        "attempts": call.attempts,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
    }


def _subject(subject: str, names: Mapping[str, str]) -> dict[str, str]:
    return {"document": subject, "name": names[subject]} if subject in names else {"subject": subject}


def _show(value: str | int | float) -> str | int | float:
    """Return a text with control characters, surrogates and changes of direction written out, so that none is obeyed."""
    if isinstance(value, float):
        return round(value, 4)
    if not isinstance(value, str):
        return value
    return escape_unprintable(shorten(value, LONGEST_TEXT))


LOG = "FLOWREADER_LOG"
STANDARD_ERROR = "-"
LOGGER = "flowreader"


class LogFileError(ExpectedError, OSError):
    """The file that FLOWREADER_LOG names cannot be written."""


class JsonLines(logging.Formatter):
    """A record whose message is a line's fields, as ASCII: no character of a name ends the line, or is obeyed by a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        fields = record.args if isinstance(record.args, dict) else {}
        return json.dumps({"time": time, "level": record.levelname.lower(), **fields})


class _LogFile(WatchedFileHandler):
    """Where the file cannot be written any more, one line on standard error says so; the work goes on."""

    _failed = False

    def _open(self) -> io.TextIOWrapper:
        # Nothing waits in a buffer: a line goes in one write, and one that does not fit is gone.
        return io.TextIOWrapper(Path(self.baseFilename).open("ab", buffering=0), encoding="ascii", write_through=True)

    def handleError(self, _record: logging.LogRecord) -> None:
        if not self._failed:
            self._failed = True
            sys.stderr.write(f"{LOG}: {self.baseFilename!r} cannot be written any more ({sys.exc_info()[1]}); the run goes on\n")


def check_log() -> None:
    if target := os.environ.get(LOG):
        _open_handler(target).close()


@contextmanager
def logging_to(target: str) -> Iterator[None]:
    """Write all events inside the block to the file, or to standard error; raise LogFileError where it cannot be."""
    handler = _open_handler(target)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.INFO)
    # Prefect's handlers at the root would write it a second time.
    logger.propagate = False
    logger.addHandler(handler)
    names: dict[str, str] = {}

    def write(event: Event) -> None:
        if not isinstance(event, Logged):
            return
        if isinstance(event, DocumentBegan):
            names[event.document] = event.name
        line: Line = line_of(event, names)
        if isinstance(event, DocumentEnded):
            names.pop(event.document, None)
        logger.log(level_of(line), "%s", line)

    try:
        with subscribe(write):
            yield
    finally:
        logger.removeHandler(handler)
        handler.close()


def _open_handler(target: str) -> logging.Handler:
    if target == STANDARD_ERROR:
        return logging.StreamHandler(sys.stderr)
    path = Path(target).expanduser().absolute()
    try:
        return _LogFile(path)
    except OSError as error:
        what = f"{LOG} names {str(path)!r}, which cannot be written ({error.strerror})"
        raise LogFileError(what, path, "name a file in a folder that exists, or -") from error
