"""Which benchmark lies in a folder: told by the columns of its question files, and by their names where columns do not tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from storage.evaluation_records import BenchmarkQuestion
from tasks.benchmarks import longdocurl, mmlongbench, own_layout, uda, visdom
from tasks.benchmarks.question_files import SUFFIXES, columns_of
from tasks.benchmarks.rows import BenchmarkError, Row

DOCUMENT_FOLDERS = frozenset({"documents", "docs"})
LEVELS = 3
"""UDA's questions lie in dataset/qa; deeper than that lies nobody's."""
LISTED = 8


class Format(Protocol):
    """What the module of each format offers."""

    LAYOUT: str

    def kind_of(self, file: Path, columns: frozenset[str]) -> str: ...
    def question(self, row: Row, kind: str) -> BenchmarkQuestion: ...
    def folders(self, file: Path, given: Path, kind: str) -> tuple[Path, ...]: ...


# LongDocURL before MMLongBench-Doc, whose columns its copies have too.
FORMATS: tuple[Format, ...] = (own_layout, longdocurl, mmlongbench, uda, visdom)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A question file, what it is, and the folder that was given, or that of the file that was."""

    file: Path
    given: Path
    format: Format
    kind: str


def recognise(path: Path) -> Recognised:
    """Return the one question file of a folder, the highest one; raise BenchmarkError where there is none or several."""
    path = path.absolute()
    if not path.exists():
        raise BenchmarkError(f"{str(path)!r} does not exist; name the folder of a benchmark")
    given = path if path.is_dir() else path.parent
    doubts: list[str] = []
    for files in _levels(path) if path.is_dir() else [[path]]:
        found = [match for file in files if (match := _match(file, given, doubts))]
        found = [match for match in found if match.file.name == own_layout.QUESTIONS] or found
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(repr(str(match.file.relative_to(given))) for match in found)
            raise BenchmarkError(f"{str(path)!r} holds {len(found)} benchmarks: {names}; name one of these files")
    raise _unknown(path, doubts)


def _match(file: Path, given: Path, doubts: list[str]) -> Recognised | None:
    if file.suffix.lower() not in SUFFIXES:
        return None
    try:
        columns = columns_of(file)
    except BenchmarkError as error:
        doubts.append(str(error))
        columns = frozenset()
    matches = (Recognised(file, given, form, kind) for form in FORMATS if (kind := form.kind_of(file, columns)))
    return next(matches, None)


def _levels(top: Path) -> Iterator[list[Path]]:
    """Yield the files of a folder, then those of its folders, then of theirs; documents are not looked at."""
    folders = [top]
    for _ in range(LEVELS):
        entries = sorted(entry for folder in folders for entry in _entries(folder))
        yield [entry for entry in entries if entry.is_file()]
        folders = [entry for entry in entries if entry.is_dir() and entry.name not in DOCUMENT_FOLDERS]


def _entries(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    except OSError as error:
        raise BenchmarkError(f"{str(folder)!r} cannot be read: {error.strerror}; check its rights") from error


def _unknown(path: Path, doubts: list[str]) -> BenchmarkError:
    names = sorted(entry.name for entry in _entries(path)) if path.is_dir() else [path.name]
    there = ", ".join(map(repr, names[:LISTED])) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
    known = ", or ".join(form.LAYOUT for form in FORMATS)
    doubtful = "".join(f", {doubt}" for doubt in doubts[:LISTED])
    return BenchmarkError(f"{str(path)!r} is no benchmark that is known: there is {there or 'nothing'}{doubtful}; name {known}")
