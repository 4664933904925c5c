"""Removing a document: the kept answers lose its words, in the files themselves."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from storage.answers import answer_from_json, answer_json, without_words
from storage.artifacts import write_durably
from storage.codec import CodecError
from storage.disk import full_disk_explained
from storage.locations import CorpusLocation
from storage.runs import EntryKind, asking_files, entry_line, is_cut, read_entry, writing_alone


def erase_quotes(location: CorpusLocation, gone: Collection[str]) -> int:
    """Take every word of these documents out of the kept answers; return how many answers held some.

    The caller holds the corpus's lock. Each file is replaced in one step, and nothing that is appended meanwhile is lost; a kill
    leaves every file as it was or as it shall be, and the same call goes on.
    """
    if not gone:
        return 0
    for leftover in location.runs.glob(".partial-*"):
        leftover.unlink()
    return sum(_erase_in_file(path, gone) for path in asking_files(location))


def _erase_in_file(path: Path, gone: Collection[str]) -> int:
    """Erase in one file; a line that was cut goes too: it tells nothing, and may hold words without saying whose."""
    with writing_alone(path):
        lines = path.read_bytes().splitlines(keepends=True)
        whole = [line for line in lines if not is_cut(line)]
        erased = [_erased_line(line, gone) for line in whole]
        if erased != lines:
            data = b"".join(erased)
            with full_disk_explained(path.parent, len(data)):
                write_durably(path, data)
    return sum(before != after for before, after in zip(whole, erased, strict=True))


def _erased_line(line: bytes, gone: Collection[str]) -> bytes:
    """Return the line without words of these documents.

    Of an answer that names one, what this FlowReader does not know goes too, and all of it where it cannot be read.
    """
    entry = read_entry(line) if any(document.encode() in line for document in gone) else None
    if entry is None or entry["kind"] != EntryKind.ANSWER:
        return line
    try:
        answer = answer_from_json(entry)
    except CodecError:
        return b""
    bare = without_words(answer, gone)
    told = {"sequence": entry["sequence"], "kind": entry["kind"], **answer_json(bare)}
    return line if bare == answer and entry.keys() <= told.keys() else entry_line(told)
