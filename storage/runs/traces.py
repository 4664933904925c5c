"""What the files of the runs tell of one thing: lines are chosen by their bytes, so that ten thousand files take a second."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from storage.locations import CorpusLocation
from storage.records.documents import StepRecord
from storage.runs.at_work import is_at_work
from storage.runs.log import ASKING, EntryKind, read_entry

END = b'"kind": "end"'
ALWAYS_READ = (b'"kind": "run"', END)
HEAD_BYTES = 64
"""Within so many bytes of its beginning a line says its kind."""


@dataclass(frozen=True, slots=True)
class RunTrace:
    """What a run's file tells: how it began and ended, and the entries that were looked for, in order.

    `torn` counts lines that a kill or a full disk cut; `unreadable` says why the system does not give the file; `at_work` says
    that a living process writes it.
    """

    run_id: str
    entries: tuple[dict[str, Any], ...] = ()
    torn: int = 0
    unreadable: str = ""
    at_work: bool = False

    def of(self, kind: EntryKind) -> list[dict[str, Any]]:
        return [entry for entry in self.entries if entry["kind"] == kind]

    def steps(self) -> list[StepRecord]:
        names = [part.name for part in fields(StepRecord)]
        return [StepRecord(**{name: entry[name] for name in names}) for entry in self.of(EntryKind.STEP)]


@dataclass(frozen=True, slots=True)
class RunLines:
    """The lines of a run's file as they stand there; those that are cut are left out and counted."""

    run_id: str
    whole: tuple[bytes, ...] = ()
    torn: int = 0
    unreadable: str = ""
    at_work: bool = False


def run_files(location: CorpusLocation) -> list[Path]:
    return sorted(location.runs.glob("*.jsonl"), key=lambda path: path.name)


def other_files(location: CorpusLocation) -> list[Path]:
    """Return the files of the runs that did not ask: ingests and evaluations, by name."""
    return [path for path in run_files(location) if not path.name.startswith(ASKING)]


def trace(path: Path, signs: Sequence[bytes] = (b"",)) -> RunTrace:
    """Return how the run began and ended, and the entries whose line holds one of the signs: all where none is given.

    Of a file that holds no sign nothing is told but its damage.
    """
    return _trace_of(lines_of(path, signs), signs)


def traces(paths: Iterable[Path], signs: Sequence[bytes]) -> list[RunTrace]:
    """Return the traces of the runs that tell of one of the signs, and of those whose file is damaged."""
    found = (_trace_of(lines, signs) for lines in lines_with(paths, signs))
    silent = {EntryKind.RUN, EntryKind.END}
    return [each for each in found if each.torn or each.unreadable or any(entry["kind"] not in silent for entry in each.entries)]


def lines_with(paths: Iterable[Path], signs: Sequence[bytes]) -> Iterator[RunLines]:
    """Yield the lines of each file that holds one of the signs, and what is damaged of the others."""
    for path in paths:
        lines = lines_of(path, signs)
        if lines.whole or lines.torn or lines.unreadable:
            yield lines


def lines_of(path: Path, signs: Sequence[bytes]) -> RunLines:
    """Return the lines of a file that holds one of the signs; of a file without them, only how many are cut."""
    try:
        data, goes_on = path.read_bytes(), False
        wanted = any(sign in data for sign in signs)
        if wanted and not _ends(data):
            # Looked at in this order, a run that ends just now is never taken for a killed one.
            goes_on = is_at_work(path)
            data = path.read_bytes()
    except OSError as error:
        return RunLines(path.stem, unreadable=error.strerror or str(error))
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    whole = tuple(line for line in lines if line[:1] == b"{" and line[-1:] == b"}")
    return RunLines(path.stem, whole if wanted else (), len(lines) - len(whole), at_work=goes_on)


def _ends(data: bytes) -> bool:
    """Say whether the last line tells of an end: a run that was tried again has an earlier one too."""
    last = data.rfind(b"\n", 0, len(data) - 1) + 1
    return END in data[last : last + HEAD_BYTES]


def _trace_of(lines: RunLines, signs: Sequence[bytes]) -> RunTrace:
    entries, torn = [], lines.torn
    for line in lines.whole:
        head = line[:HEAD_BYTES]
        if any(kind in head for kind in ALWAYS_READ) or any(sign in line for sign in signs):
            entry = read_entry(line)
            if entry is None:
                torn += 1
            else:
                entries.append(entry)
    in_order = tuple(sorted(entries, key=lambda entry: entry["sequence"]))
    return RunTrace(lines.run_id, in_order, torn, lines.unreadable, lines.at_work)
