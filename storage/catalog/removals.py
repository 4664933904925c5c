"""Which documents were removed and not yet purged, so that whatever comes late of them goes too: PURGE-DUE, in JSON."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from storage.artifacts import write_durably
from storage.codec import CodecError, from_json, to_json
from storage.locations import CorpusLocation
from storage.system import explain_full_disk
from storage.text import storable


@dataclass(frozen=True, slots=True)
class Removals:
    """The paths and addresses that each removed document was shown at; `since` the first one was removed (seconds since 1970)."""

    since: float
    paths: Mapping[str, tuple[str, ...]]


def note_removals(location: CorpusLocation, removed: Mapping[str, Iterable[str]]) -> None:
    """Note durably that the documents, with their paths, are being removed. The caller holds the lock.

    Noted before they are unpublished: a kill in between leaves a note of a document that is still there, which harms nothing. No
    removal puts off the purge that is due for an earlier one.
    """
    before = read_removals(location)
    paths = dict(before.paths)
    for document, shown in removed.items():
        paths[document] = tuple(sorted({*paths.get(document, ()), *map(storable, shown)}))
    data = to_json(Removals(before.since if location.purge_due.exists() else time.time(), paths))
    with explain_full_disk(location.folder, len(data)):
        write_durably(location.purge_due, data)


def read_removals(location: CorpusLocation) -> Removals:
    """Return the removals since the last purge; a damaged note names none, and is due."""
    try:
        return from_json(Removals, location.purge_due.read_bytes())
    except (FileNotFoundError, CodecError):
        return Removals(0.0, {})
