"""Lineage: one JSON Lines file a run, written a whole line at a time, so that a kill costs the line in flight and no other."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from storage.errors import ExpectedError
from storage.locations import CorpusLocation
from storage.lock import LOOK_POLL_SECONDS, LOOK_SECONDS, is_still_there, lock_file, try_lock
from storage.records.steps import StepRecord
from storage.runs.answer_json import writable
from storage.system import explain_full_disk

ASKING = "ask-"
"""The ids of runs that ask begin so, and their files: answers are found without reading how every document was ingested."""

SURROGATE = "\\ud"
"""So begin the escapes of lone surrogates, which names of files may have and JSON may not, and of many other signs."""


class EntryKind(StrEnum):
    RUN = "run"
    PLAN = "plan"
    STEP = "step"
    CALL = "call"
    ANSWER = "answer"
    END = "end"


@dataclass(frozen=True, slots=True)
class RunLog:
    """The file of a run, appended to from any thread. `sequence` gives the order: a clock may be set back.

    Where there are `held` lines, they wait for `release`.
    """

    path: Path
    sequence: Iterator[int] = field(default_factory=itertools.count)
    held: list[bytes] | None = None

    def holding(self) -> RunLog:
        """Return this log so that its lines are written together, by `release`: twenty of a question take 5 ms one by one."""
        return RunLog(self.path, self.sequence, held=[])

    def release(self) -> None:
        """Write the lines that are held; raise as `append` does."""
        if self.held:
            self._write(b"".join(self.held))
            self.held.clear()

    def begin(
        self,
        *,
        run_id: str,
        parameters: Mapping[str, Any],
        settings: Mapping[str, Any],
        code_version: str,
    ) -> None:
        """Write the parameters, the settings and the version of the code."""
        asked = {"parameters": dict(parameters), "settings": dict(settings)}
        self.append(EntryKind.RUN, {"run_id": run_id, **asked, "code_version": code_version})

    def plan(self, *, documents: int) -> None:
        self.append(EntryKind.PLAN, {"documents": documents})

    def step(self, record: StepRecord) -> None:
        entry = {part.name: getattr(record, part.name) for part in fields(record)}
        self.append(EntryKind.STEP, entry | {"outputs": dict(record.outputs)})

    def call(self, entry: Mapping[str, Any]) -> None:
        """Write how a model was asked: for what, which model and prompt, with how many tokens, and how it went."""
        self.append(EntryKind.CALL, entry)

    def answer(self, entry: Mapping[str, Any]) -> None:
        """Keep an answer, as `storage.runs.answers.answer_json` gives it.

        This is done before the snapshot is let go of: a removal waits for its readers and then looks at the answers.
        """
        self.append(EntryKind.ANSWER, entry)

    def end(self, *, run_id: str, outcome: str, snapshot: int) -> None:
        self.append(EntryKind.END, {"run_id": run_id, "outcome": outcome, "snapshot": snapshot})

    def append(self, kind: EntryKind, entry: Mapping[str, Any]) -> None:
        """Write one line; raise DiskFullError where it does not fit, ExpectedError where the corpus was removed meanwhile."""
        number = next(self.sequence)
        line = entry_line({"sequence": number, "kind": kind.value, **entry})
        if number == 0:
            with explain_full_disk(self.path.parent, len(line)):
                self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.held is None:
            self._write(line)
        else:
            self.held.append(line)

    def _write(self, lines: bytes) -> None:
        with explain_full_disk(self.path.parent, len(lines)):
            try:
                append_lines(self.path, lines)
            except FileNotFoundError as error:
                raise ExpectedError(
                    f"{str(self.path.parent)!r} is gone: its corpus was removed meanwhile",
                    str(self.path.parent),
                    "ingest the documents again",
                ) from error


def continue_log(path: Path) -> RunLog:
    """Return the log of a run that may have a file already: Prefect tries a run again under the same id."""
    entries = map(read_entry, path.read_bytes().splitlines() if path.exists() else ())
    return RunLog(path, itertools.count(1 + max((entry["sequence"] for entry in entries if entry), default=-1)))


def asking_files(location: CorpusLocation) -> list[Path]:
    return sorted(location.runs.glob(f"{ASKING}*.jsonl"), key=lambda path: path.name)


def sign_of(kind: EntryKind) -> str:
    """Return what every line with an entry of this kind holds, and no text does: there quotes are escaped."""
    return json.dumps({"kind": kind})[1:-1]


def entry_line(entry: Mapping[str, Any]) -> bytes:
    """Return the entry as a line of ASCII: whatever a text holds, no sign of it ends the line or cannot be read by any program.

    The order is kept: an answer that is shown again has the bytes that it had.
    """
    line = json.dumps(entry)
    if SURROGATE in line:
        line = json.dumps(writable(json.loads(line)))
    return line.encode() + b"\n"


def append_lines(path: Path, lines: bytes) -> None:
    """Write the lines behind whatever is there; one that a full disk cut before is ended first, so that it costs no other."""
    with writing_alone(path) as descriptor:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        write_whole(descriptor, lines)


@contextmanager
def writing_alone(path: Path, *, wait: bool = True) -> Iterator[int]:
    """Keep every other writer out of the file, made where it is missing, while the block runs; a death lets them in.

    Where `wait` is false and another process holds it for longer than a look takes, the block runs without it.
    The file is the one that the path names: a writer that waited while it was replaced waits again, for the new one.
    """
    while True:
        with lock_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND) as descriptor:
            if wait:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            else:
                try_lock(descriptor, wait_seconds=LOOK_SECONDS, poll_seconds=LOOK_POLL_SECONDS)
            if is_still_there(descriptor, path):
                yield descriptor
                return


def write_whole(descriptor: int, lines: bytes) -> None:
    """Write all bytes; what a full disk cut short is retried, so that the system says why."""
    while lines:
        lines = lines[os.write(descriptor, lines) :]


def read_entry(line: bytes) -> dict[str, Any] | None:
    """Return the entry in a line; None where it is cut, or of a kind that this FlowReader does not know."""
    try:
        entry: dict[str, Any] = json.loads(line)
        return entry | {"sequence": int(entry["sequence"]), "kind": EntryKind(entry["kind"])}
    except (ValueError, TypeError, KeyError):
        return None


def is_cut(line: bytes) -> bool:
    """Say whether a kill or a full disk left no whole entry of a line."""
    try:
        return not isinstance(json.loads(line), dict)
    except ValueError:
        return True
