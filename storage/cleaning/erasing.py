"""Removing a document: the kept answers lose its words, in the files themselves."""

import fcntl
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from storage.artifacts import write_durably
from storage.codec import CodecError
from storage.locations import CorpusLocation
from storage.memo import HEXADECIMAL
from storage.records.answers import NamedDocument
from storage.runs.answer_json import answer_from_json, answer_json
from storage.runs.answers import without_words
from storage.runs.log import EntryKind, asking_files, entry_line, is_cut, read_entry, writing_alone
from storage.runs.views import opened_runs
from storage.system import full_disk_explained


def documents_in_answers(location: CorpusLocation) -> set[NamedDocument]:
    """Return every document that a kept answer names; raise RunsDamagedError where a file cannot be read."""
    with opened_runs(location.runs) as runs:
        runs.require_readable()
        entries = (read_entry(line) for (line,) in runs.rows("SELECT line FROM answers"))
        named = (document for entry in entries for document in _named_documents(entry))
        return {document for document in named if HEXADECIMAL.fullmatch(document.id)}


def _named_documents(value: Any) -> Iterator[NamedDocument]:  # noqa: ANN401 - whatever JSON can hold
    """Yield all that has an id and a name, wherever it stands: so also of an answer that a newer FlowReader kept."""
    if isinstance(value, dict):
        if isinstance(value.get("id"), str) and isinstance(value.get("name"), str):
            yield NamedDocument(value["id"], value["name"])
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _named_documents(inner)


def erase_quotes(location: CorpusLocation, gone: Collection[str]) -> int:
    """Take every word of these documents out of the kept answers; return how many answers held some.

    Each file is replaced in one step, and nothing that is appended meanwhile is lost; a kill leaves every file as it was or as it
    shall be, and the same call goes on. A second call at the same time waits.
    """
    if not (gone and location.runs.is_dir()):
        return 0
    folder = os.open(location.runs, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        for leftover in location.runs.glob(".partial-*"):
            leftover.unlink()
        return sum(_erase_in_file(path, gone) for path in asking_files(location))
    finally:
        os.close(folder)


def _erase_in_file(path: Path, gone: Collection[str]) -> int:
    """Erase in one file; a line that was cut goes too: it is of no use, and may hold words of any document."""
    with writing_alone(path):
        lines = path.read_bytes().splitlines(keepends=True)
        whole = [line for line in lines if not is_cut(line)]
        erased = [_erased_line(line, gone) for line in whole]
        if erased != lines:
            data = b"".join(erased)
            with full_disk_explained(path.parent, len(data)):
                modified = path.stat().st_mtime_ns
                write_durably(path, data)
                # What is newest is found by it.
                os.utime(path, ns=(modified, modified))
    return sum(before != after for before, after in zip(whole, erased, strict=True))


def _erased_line(line: bytes, gone: Collection[str]) -> bytes:
    """Return the line without words of these documents; of an answer that names one and cannot be read, nothing stays."""
    entry = read_entry(line) if any(document.encode() in line for document in gone) else None
    if entry is None or entry["kind"] != EntryKind.ANSWER:
        return line
    try:
        answer = answer_from_json(entry)
    except CodecError:
        return b""
    bare = without_words(answer, gone)
    return line if bare == answer else entry_line({"sequence": entry["sequence"], "kind": entry["kind"], **answer_json(bare)})
