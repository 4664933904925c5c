"""Opening a benchmark: recognised by its question file, with the files of its documents and a hash of all that it asks."""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path

from storage.codec import CodecError, to_json
from storage.records.documents import identify
from storage.records.evaluations import Benchmark, BenchmarkQuestion
from storage.text import storable
from tasks.evaluation.benchmarks.formats import FORMATS, OWN_KIND, OWN_QUESTIONS, BenchmarkFormat
from tasks.evaluation.benchmarks.rows import SUFFIXES, BenchmarkError, Row, columns_of, read_rows

DOCUMENT_FOLDERS = frozenset({"documents", "docs"})
LEVELS = 3
"""UDA's questions lie in dataset/qa; no benchmark's lie deeper."""
ENTRIES_LISTED, DOCUMENTS_LISTED = 8, 3
ADDED_SUFFIXES = ("", ".pdf", ".html")
UNWRITABLE = re.compile(r'[/\\:*?"<>|]')
"""Signs that titles have and file names cannot; archives are unpacked with an underscore in their place."""


@dataclass(frozen=True, slots=True)
class Recognised:
    file: Path
    given: Path
    format: BenchmarkFormat
    kind: str


def open_benchmark(path: Path) -> Benchmark:
    """Return the benchmark in a folder, or the one that a question file asks; raise BenchmarkError for whatever is not there."""
    found = recognise(path)
    rows = read_rows(found.file)
    written = [found.format.question(row, found.kind) for row in rows]
    questions = _with_distinct_ids(rows, written, published=found.kind != OWN_KIND)
    names = (name for question in questions for name in question.documents)
    folders = found.format.folders(found.file, found.given, found.kind)
    documents = find_documents(names, folders, named_by=found.file)
    if found.kind == OWN_KIND:
        # a file there that no question names is meant to be searched with the others
        documents |= _unnamed_documents(folders, documents)
    try:
        # A task only groups questions: weights name a benchmark by this hash.
        asked = [{name: value for name, value in asdict(question).items() if name != "task"} for question in questions]
        digest = identify("benchmark", to_json(asked).decode("utf-8"))
    except CodecError as error:
        raise BenchmarkError(f"{str(found.file)!r} holds a text that is not Unicode: {error}", str(found.file)) from error
    # The folder of a published one is named after a part of it at best, and "qa" or "data" at worst.
    name = found.kind if found.kind != OWN_KIND else storable(found.given.resolve().name) or found.kind
    return Benchmark(name=name, documents=documents, questions=questions, hash=digest)


def recognise(path: Path) -> Recognised:
    """Return the one question file of a folder, the highest one; raise BenchmarkError where there is none or several."""
    path = path.absolute()
    if not path.exists():
        raise BenchmarkError(f"{str(path)!r} does not exist", str(path), "name the folder of a benchmark")
    given = path if path.is_dir() else path.parent
    doubts: list[str] = []
    for files in _levels(path) if path.is_dir() else [[path]]:
        found = [match for file in files if (match := _match(file, given, doubts))]
        found = [match for match in found if match.file.name == OWN_QUESTIONS] or found
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(repr(str(match.file.relative_to(given))) for match in found)
            raise BenchmarkError(f"{str(path)!r} holds {len(found)} benchmarks: {names}", str(path), "name one of these files")
    raise _unknown_error(path, doubts)


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
        raise BenchmarkError(f"{str(folder)!r} cannot be read: {error.strerror}", str(folder), "check its permissions") from error


def _unknown_error(path: Path, doubts: list[str]) -> BenchmarkError:
    names = sorted(entry.name for entry in _entries(path)) if path.is_dir() else [path.name]
    known = ", or ".join(form.layout for form in FORMATS)
    doubtful = "".join(f", {doubt}" for doubt in doubts[:ENTRIES_LISTED])
    there = _list_some(names, ENTRIES_LISTED) or "nothing"
    return BenchmarkError(f"{str(path)!r} is not a known benchmark: there is {there}{doubtful}", str(path), f"name {known}")


def _list_some(names: Sequence[str], most: int) -> str:
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def _with_distinct_ids(
    rows: Sequence[Row], questions: Sequence[BenchmarkQuestion], *, published: bool
) -> tuple[BenchmarkQuestion, ...]:
    """Return the questions with a number put to each id that is taken; in our own layout that is a mistake to be mended."""
    written = {question.id for question in questions}
    taken: dict[str, Row] = {}
    distinct: list[BenchmarkQuestion] = []
    for row, question in zip(rows, questions, strict=True):
        identity = question.id
        if identity in taken and not published:
            raise row.wrong("id", f"holds {identity!r} again, as {taken[identity].place}; give each question its own")
        if identity in taken:
            identity = next(f"{question.id}-{n}" for n in count(2) if f"{question.id}-{n}" not in written | taken.keys())
        taken[identity] = row
        distinct.append(replace(question, id=identity))
    return tuple(distinct)


def find_documents(names: Iterable[str], folders: Sequence[Path], *, named_by: Path) -> dict[str, str]:
    """Return the absolute path of each document that a file names; the first folder that has it, at whatever depth, gives it.

    Raises BenchmarkError for documents that are in none of the folders, and for a name that two files of a folder bear.
    """
    wanted = list(dict.fromkeys(names))
    indexes = [_index_of(folder) for folder in folders]
    taken = {name: next((path for index in indexes if (path := _find_in(name, index))), None) for name in wanted}
    found = {name: str(path.absolute()) for name, path in taken.items() if path is not None}
    missing = [name for name in wanted if name not in found]
    if missing:
        looked = ", ".join(repr(str(folder)) for folder in folders)
        raise BenchmarkError(
            f"{len(missing)} of {len(wanted)} documents that {str(named_by)!r} names are not there: "
            f"{_list_some(missing, DOCUMENTS_LISTED)}",
            str(named_by),
            f"looked in {looked}; put them there under these names",
        )
    return found


def _unnamed_documents(folders: Sequence[Path], named: Mapping[str, str]) -> dict[str, str]:
    """Return the absolute paths of the other files in the folders, by their paths below them."""
    known = set(named.values())
    found = {path.relative_to(folder).as_posix(): str(path.absolute()) for folder in folders for path in _files(folder)}
    return {name: path for name, path in found.items() if path not in known and name not in named}


def _index_of(top: Path) -> dict[str, list[Path]]:
    index: dict[str, list[Path]] = {}
    for path in _files(top):
        parts = path.relative_to(top).parts
        for start in range(len(parts)):
            index.setdefault(_key("/".join(parts[start:])), []).append(path)
    return index


def _files(top: Path) -> Iterator[Path]:
    """Yield the files below a folder, through links but no folder twice; what is hidden stays so."""
    seen: set[Path] = set()
    for here, folders, names in os.walk(top, followlinks=True):
        real = Path(here).resolve()
        folders[:] = [] if real in seen else sorted(folder for folder in folders if not folder.startswith("."))
        if real not in seen:
            yield from (path for name in sorted(names) if (path := Path(here, name)).is_file())
        seen.add(real)


def _find_in(name: str, index: Mapping[str, list[Path]]) -> Path | None:
    """Return the one file of this name, as given or with a usual suffix."""
    for written in dict.fromkeys((name, UNWRITABLE.sub("_", name))):
        for suffix in ADDED_SUFFIXES:
            paths = index.get(_key(written + suffix), [])
            highest = [path for path in paths if len(path.parts) == min(len(other.parts) for other in paths)]
            if len(highest) > 1:
                raise BenchmarkError(
                    f"document {name!r} may be '{highest[0]}' or '{highest[1]}'", name, "keep the one that is meant"
                )
            if highest:
                return highest[0]
    return None


def _key(name: str) -> str:
    # One system writes an accent into the letter, another behind it.
    return unicodedata.normalize("NFC", name)
