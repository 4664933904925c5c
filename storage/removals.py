"""Which documents were removed and not yet purged, so that whatever comes late of them goes too.

PURGE-DUE names them. Each line is a removal, in JSON. A bare id is one that an older FlowReader noted; its time is the file's.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from storage.answer_records import NamedDocument
from storage.artifacts import hash_bytes, write_durably
from storage.codec import CodecError, from_json, to_json
from storage.disk import full_disk_explained
from storage.locations import CorpusLocation
from storage.memo import HEXADECIMAL
from storage.mirrored_copies import copy_sign
from storage.records import DocumentRecord
from storage.wording import storable


@dataclass(frozen=True, slots=True)
class Removal:
    """A removed document: when it was (seconds since 1970), and the last snapshot that held it.

    No word of it: of the names that its file had there are hashes in `names`, and in `copies` the signs of our copies of it.
    """

    document_id: str
    moment: float
    names: tuple[str, ...] = ()
    snapshot: int = 0
    copies: tuple[str, ...] = ()


def removal_of(record: DocumentRecord, *, snapshot: int) -> Removal:
    """Return the removal, now, of a document from this snapshot."""
    names = {hash_name(storable(path.rsplit("/", 1)[-1])) for path in record.paths}
    return Removal(record.id, time.time(), tuple(sorted(names)), snapshot, tuple(sorted(map(copy_sign, record.paths))))


def hash_name(name: str) -> str:
    """Return what stands for the name of a file."""
    return hash_bytes(name.encode("utf-8", "surrogatepass"))


def note_removals(location: CorpusLocation, removals: Iterable[Removal]) -> None:
    """Note in PURGE-DUE, durably, that the documents are being removed. The caller holds the lock.

    Noted before they are unpublished: a kill in between leaves a note of a document that is still there, which harms nothing. One
    that is removed again keeps its first time: no removal puts off a purge.
    """
    said = b"".join(
        to_json(removal) + b"\n"
        for removal in sorted(_each_once((*noted_removals(location), *removals)), key=lambda removal: removal.document_id)
    )
    with full_disk_explained(location.folder, len(said)):
        write_durably(location.purge_due, said)


def _each_once(removals: Iterable[Removal]) -> tuple[Removal, ...]:
    """Return one removal for each document, merged with those after it."""
    found: dict[str, Removal] = {}
    for removal in removals:
        before = found.get(removal.document_id)
        found[removal.document_id] = removal if before is None else _merged(before, removal)
    return tuple(found.values())


def _merged(before: Removal, again: Removal) -> Removal:
    """Return one removal with the time of the first, and whatever either says of the document."""
    names, copies = {*before.names, *again.names}, {*before.copies, *again.copies}
    last = max(before.snapshot, again.snapshot)
    return replace(before, names=tuple(sorted(names)), snapshot=last, copies=tuple(sorted(copies)))


def noted_removals(location: CorpusLocation) -> tuple[Removal, ...]:
    """Return the removals since the last purge, each document once."""
    try:
        lines, written = location.purge_due.read_bytes().split(b"\n"), location.purge_due.stat().st_mtime
    except FileNotFoundError:
        return ()
    read = [_removal(line, written) for line in lines]
    return tuple({removal.document_id: removal for removal in read if removal is not None}.values())


def _removal(line: bytes, written: float) -> Removal | None:
    """Return what a line notes, None where it is none; an older FlowReader wrote the names themselves."""
    said = line.decode("ascii", "replace")
    if HEXADECIMAL.fullmatch(said):
        return Removal(said, written)
    try:
        found = from_json(Removal, line)
    except CodecError:
        return None
    return replace(found, names=tuple(name if HEXADECIMAL.fullmatch(name) else hash_name(name) for name in found.names))


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
    if document.id in present or not removals:
        return False
    name = hash_name(document.name)
    return any(
        removal.document_id == document.id
        or (removal.document_id not in present and name in removal.names and snapshot <= removal.snapshot)
        for removal in removals
    )
