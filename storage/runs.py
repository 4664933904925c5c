"""Lineage: one JSON Lines file a run, written a whole line at a time, so that a kill costs the line in flight and no other."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from storage.disk import full_disk_explained
from storage.records import StepRecord


class EntryKind(StrEnum):
    """What a line tells of."""

    RUN = "run"
    STEP = "step"
    END = "end"


@dataclass(frozen=True, slots=True)
class RunLog:
    """The file of a run, appended to from any thread. `sequence` gives the order: a clock may be set back."""

    path: Path
    sequence: Iterator[int] = field(default_factory=itertools.count)

    def begin(self, *, run_id: str, parameters: Mapping[str, Any], settings: Mapping[str, Any], code_version: str) -> None:
        """Say what was asked, with which settings, of which code."""
        self.append(
            EntryKind.RUN,
            {"run_id": run_id, "parameters": dict(parameters), "settings": dict(settings), "code_version": code_version},
        )

    def step(self, record: StepRecord) -> None:
        """Say how a step went."""
        said = {part.name: getattr(record, part.name) for part in fields(record)}
        self.append(EntryKind.STEP, said | {"outputs": dict(record.outputs)})

    def end(self, *, run_id: str, outcome: str, snapshot: int) -> None:
        """Say how the run ended and what was published last."""
        self.append(EntryKind.END, {"run_id": run_id, "outcome": outcome, "snapshot": snapshot})

    def append(self, kind: EntryKind, said: Mapping[str, Any]) -> None:
        """Write one line; raise DiskFullError where it does not fit."""
        entry = {"sequence": next(self.sequence), "kind": kind.value, **said}
        line = json.dumps(entry, sort_keys=True).encode() + b"\n"
        with full_disk_explained(self.path.parent, len(line)):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            try:
                write_whole(descriptor, line)
            finally:
                os.close(descriptor)


def write_whole(descriptor: int, line: bytes) -> None:
    """Write all bytes; what a full disk cut short is retried, so that the system says why."""
    while line:
        line = line[os.write(descriptor, line) :]


@dataclass(frozen=True, slots=True)
class RunFile:
    """What a run left: its entries in order, and how many lines were torn."""

    entries: tuple[dict[str, Any], ...]
    torn: int

    def steps(self) -> list[StepRecord]:
        """Return the steps' records, in order."""
        names = [part.name for part in fields(StepRecord)]
        return [StepRecord(**{name: entry[name] for name in names}) for entry in self.entries if entry["kind"] == EntryKind.STEP]


def read_run(path: Path) -> RunFile:
    """Return what the file holds; a line that a kill or a full disk cut is left out and counted."""
    entries: list[dict[str, Any]] = []
    torn = 0
    for line in path.read_bytes().splitlines():
        try:
            entry = json.loads(line)
            entries.append(entry | {"sequence": int(entry["sequence"]), "kind": EntryKind(entry["kind"])})
        except (ValueError, TypeError, KeyError):
            torn += 1
    return RunFile(entries=tuple(sorted(entries, key=lambda entry: entry["sequence"])), torn=torn)
