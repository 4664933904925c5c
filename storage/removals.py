"""Which documents were removed and not yet purged: PURGE-DUE names them, so that whatever comes late of them goes too.

Each line is a removal, in JSON. A bare id is one that an older FlowReader noted; its time is the file's.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass

from storage.answer_records import NamedDocument
from storage.artifacts import write_durably
from storage.codec import CodecError, from_json, to_json
from storage.disk import full_disk_explained
from storage.locations import CorpusLocation
from storage.memo import HEXADECIMAL
from storage.records import DocumentRecord
from storage.wording import storable


@dataclass(frozen=True, slots=True)
class Removal:
    """A removed document: when it was (seconds since 1970), the names its file had, and the last snapshot that held it."""

    document_id: str
    moment: float
    names: tuple[str, ...] = ()
    snapshot: int = 0


def note_removal(location: CorpusLocation, record: DocumentRecord, *, snapshot: int) -> None:
    """Note, durably, that the document is being removed from this snapshot. The caller holds the lock.

    Noted before it is unpublished: a kill in between leaves a note of a document that is still there, which harms nothing. One that
    is removed again keeps its first time: no removal puts off a purge.
    """
    removals = {removal.document_id: removal for removal in noted_removals(location)}
    moment, names = time.time(), {storable(path.rsplit("/", 1)[-1]) for path in record.paths}
    if (before := removals.get(record.id)) is not None:
        moment, names = before.moment, names.union(before.names)
    removals[record.id] = Removal(record.id, moment, tuple(sorted(names)), snapshot)
    said = b"".join(to_json(removals[name]) + b"\n" for name in sorted(removals))
    with full_disk_explained(location.folder, len(said)):
        write_durably(location.purge_due, said)


def noted_removals(location: CorpusLocation) -> tuple[Removal, ...]:
    """Return the removals since the last purge, each document once."""
    try:
        lines, written = location.purge_due.read_bytes().split(b"\n"), location.purge_due.stat().st_mtime
    except FileNotFoundError:
        return ()
    read = [_removal(line, written) for line in lines]
    return tuple({removal.document_id: removal for removal in read if removal is not None}.values())


def _removal(line: bytes, written: float) -> Removal | None:
    """Return what a line notes, None where it is none."""
    said = line.decode("ascii", "replace")
    if HEXADECIMAL.fullmatch(said):
        return Removal(said, written)
    try:
        return from_json(Removal, line)
    except CodecError:
        return None


def first_removal(location: CorpusLocation) -> float | None:
    """Return when the first document was removed that is not purged yet (seconds since 1970); None where none waits."""
    try:
        written = location.purge_due.stat().st_mtime
    except FileNotFoundError:
        return None
    return min((removal.moment for removal in noted_removals(location)), default=written)


def is_gone(document: NamedDocument, *, snapshot: int, removals: Collection[Removal], present: Collection[str]) -> bool:
    """Say whether a document that an answer from this snapshot names was removed, or held earlier words of a file that was.

    `present` are the documents published now: what is back is not gone. A content that was only replaced is not gone either.
    """
    if document.id in present:
        return False
    return any(
        removal.document_id == document.id
        or (removal.document_id not in present and document.name in removal.names and snapshot <= removal.snapshot)
        for removal in removals
    )
