"""Which documents were removed and not yet purged: PURGE-DUE names them, so that whatever comes late of them goes too."""

from __future__ import annotations

from storage.artifacts import write_durably
from storage.disk import full_disk_explained
from storage.locations import CorpusLocation
from storage.memo import HEXADECIMAL


def note_removal(location: CorpusLocation, document_id: str) -> None:
    """Note, durably, that the document is being removed; the time of the purge counts from now. The caller holds the lock.

    Noted before it is unpublished: a kill in between leaves a note of a document that is still there, which harms nothing.
    """
    said = "".join(f"{name}\n" for name in sorted({*noted_removals(location), document_id})).encode()
    with full_disk_explained(location.folder, len(said)):
        write_durably(location.purge_due, said)


def noted_removals(location: CorpusLocation) -> set[str]:
    """Return the ids of the documents that were removed since the last purge."""
    try:
        said = location.purge_due.read_text("utf-8", "replace")
    except FileNotFoundError:
        return set()
    return {line for line in said.splitlines() if HEXADECIMAL.fullmatch(line)}
