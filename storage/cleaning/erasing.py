"""Removing a document: the kept answers lose its words, in the files themselves."""

import fcntl
import os
from collections.abc import Collection
from pathlib import Path

from storage.artifacts import write_durably
from storage.codec import CodecError
from storage.locations import CorpusLocation
from storage.records.answers import NamedDocument
from storage.runs.answer_json import answer_from_json, answer_json
from storage.runs.answers import read_answers, speaking, without_words
from storage.runs.log import EntryKind, asking_files, entry_line, is_cut, read_entry, writing_alone
from storage.runs.views import opened_runs
from storage.system import full_disk_explained


def documents_in_answers(location: CorpusLocation) -> set[NamedDocument]:
    """Return every document whose words a kept answer holds; raise ExpectedError where a file cannot be read."""
    with opened_runs(location.runs) as runs:
        runs.require_readable()
    return {document for answer in read_answers(location, present=()) for document in speaking(answer)}


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
