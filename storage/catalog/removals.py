"""Which documents were removed and not yet purged, so that whatever comes late of them goes too: PURGE-DUE, a line of JSON each."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from storage.artifacts import write_durably
from storage.codec import CodecError, from_json, storable, to_json
from storage.locations import CorpusLocation
from storage.records.documents import DocumentRecord
from storage.system import full_disk_explained


@dataclass(frozen=True, slots=True)
class Removal:
    """A removed document: when it was (seconds since 1970), and the paths and addresses that it was shown at."""

    document_id: str
    moment: float
    paths: tuple[str, ...] = ()

    @property
    def names(self) -> set[str]:
        """The names of its file."""
        return {path.rsplit("/", 1)[-1] for path in self.paths}


def removal_of(record: DocumentRecord) -> Removal:
    """Return the removal of a document, now."""
    return Removal(record.id, time.time(), tuple(storable(path) for path in record.paths))


def note_removals(location: CorpusLocation, removals: Iterable[Removal]) -> None:
    """Note durably that the documents are being removed. The caller holds the lock.

    Noted before they are unpublished: a kill in between leaves a note of a document that is still there, which harms nothing. One
    that is removed again keeps its first time: no removal puts off a purge.
    """
    noted = {removal.document_id: removal for removal in noted_removals(location)}
    for removal in removals:
        first = noted.setdefault(removal.document_id, removal)
        noted[removal.document_id] = replace(first, paths=tuple(sorted({*first.paths, *removal.paths})))
    lines = b"".join(to_json(removal) + b"\n" for removal in noted.values())
    with full_disk_explained(location.folder, len(lines)):
        write_durably(location.purge_due, lines)


def noted_removals(location: CorpusLocation) -> tuple[Removal, ...]:
    """Return the removals since the last purge, each document once; a line that says none is left out."""
    try:
        lines = location.purge_due.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    return tuple(removal for removal in map(_removal, lines) if removal is not None)


def _removal(line: bytes) -> Removal | None:
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
