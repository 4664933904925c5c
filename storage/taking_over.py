"""Which removals of other machines this one has to carry out: found at its next contact with the store, before its CURRENT moves.

REMOVALS-OF says how far that has come. What was carried out stays in REMOVED-ELSEWHERE for as long as a question may last that
began before: until then no answer shows such words, and then they are looked for once more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

from storage import catalog
from storage.artifacts import write_durably
from storage.carrying_out import carry_out, drop_copies, forget_runs, is_here
from storage.current import Current, snapshot_numbers, snapshot_path
from storage.erasing import documents_told_of
from storage.in_use import KEEP_SECONDS
from storage.locations import CorpusLocation
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from storage.removals import Removal, keep_noted, note_removals, noted_purges, removal_of, removals_elsewhere
from storage.shared_current import last_fence
from storage.shared_removals import Removals, announce, announce_purged, read_removals

LOGGER = logging.getLogger(__name__)
AGAIN_SECONDS = 60.0
"""What stood in the way is tried again after so long, not with each question."""


def announce_removal(location: CorpusLocation, store: ObjectStore, removal: Removal) -> None:
    """Tell the other machines of a removal that this one, which writes the corpus, carries out itself."""
    number = announce(store, removal)
    if _carried_out(location) == number - 1:
        _note_carried_out(location, number)


def end_purge(location: CorpusLocation) -> None:
    """Note, also for other machines, that a clean-up left no word of what was removed. By the writer.

    What this machine knew of is what its writer found listed, and announced. Where the store is not told, the next clean-up tells.
    """
    location.purge_due.unlink(missing_ok=True)
    if location.store is not None:
        store = ObjectStore(location.store)
        try:
            if last_fence(store) == catalog.head(location.catalog).fence:
                announce_purged(store, _carried_out(location))
        except StoreError as error:
            LOGGER.warning("the store was not told of a clean-up of corpus %r, the next one is: %s", location.name, error)


def is_due(location: CorpusLocation) -> bool:
    """Say whether words of what was removed elsewhere are to be looked for once more; most often no file is read for that."""
    return any(not 0 <= time.time() - removal.moment <= KEEP_SECONDS for removal in removals_elsewhere(location))


def take_over(location: CorpusLocation, store: ObjectStore, current: Current, *, writing: bool) -> None:
    """Carry out what other machines removed up to this snapshot, whose file is here; 0 where there is none.

    The caller keeps other processes from moving CURRENT, and moves it afterwards; a kill before that has all of it done again.
    Where the caller is `writing`, it holds the corpus's lock, and what has to be purged from the store is noted for its clean-up.
    """
    told, done = read_removals(store), _carried_out(location)
    # A list that began anew says nothing of the old numbers.
    done = done if done <= told.last else 0
    if not (current.snapshot or writing or told.says_removed):
        # CURRENT was lost, or its removal is not told yet: that will ask what this machine has.
        return
    removals, reached = _published(told, done, current)
    missed = done < max(told.whole, told.cut)
    if removals or missed or is_due(location):
        if missed:
            removals = known_removals(location) | removals
        if done < told.whole:
            forget_runs(location)
        _take(location, removals, current, writing=writing, anew=bool(removals) or missed)
    elif (current.snapshot or writing) and not is_here(location, current):
        drop_copies(location, but=current.snapshot)
    if writing:
        _note_purges(location, told)
    if reached != _carried_out(location):
        _note_carried_out(location, reached)


def _published(told: Removals, done: int, current: Current) -> tuple[dict[str, Removal], int]:
    """Return, as of now, the removals above `done` that this snapshot is later than, and the number that is carried out with them.

    A removal whose snapshot is still the published one is on its way, or was killed: the snapshot that it makes, if any, tells.
    """
    waiting = [entry.number for entry in told.listed if entry.removal.snapshot >= current.snapshot]
    reached = max(done, min(waiting, default=told.last + 1) - 1)
    fresh = [replace(entry.removal, moment=time.time()) for entry in told.listed if done < entry.number <= reached]
    return {removal.document_id: removal for removal in fresh}, reached


def known_removals(location: CorpusLocation) -> dict[str, Removal]:
    """Return a removal of every document that this machine had of the corpus, as far as it shows."""
    moment = time.time()
    known = {document.id: Removal(document.id, moment) for document, _snapshot in documents_told_of(location)}
    for number in snapshot_numbers(location):
        with suppress(catalog.CatalogDamagedError), catalog.opened(snapshot_path(location, number), read_only=True) as connection:
            known |= {record.id: removal_of(record, snapshot=number) for record in catalog.read_documents(connection)}
    return known


def _take(location: CorpusLocation, fresh: dict[str, Removal], current: Current, *, writing: bool, anew: bool) -> None:
    """Carry out these removals and those that are to be looked at again; keep noted what must be looked at later."""
    present = _documents_of(location, current)
    noted = {removal.document_id: removal for removal in removals_elsewhere(location)} | fresh
    removals = [removal for removal in noted.values() if removal.document_id not in present]
    keep_noted(location.removed_elsewhere, removals)
    if carry_out(location, removals, current, present, writing=writing, anew=anew):
        later = [removal for removal in removals if 0 <= time.time() - removal.moment <= KEEP_SECONDS]
    else:
        soon = time.time() - KEEP_SECONDS + AGAIN_SECONDS
        later = [replace(removal, moment=soon) for removal in removals]
    if later:
        keep_noted(location.removed_elsewhere, later)
    else:
        location.removed_elsewhere.unlink(missing_ok=True)


def _documents_of(location: CorpusLocation, current: Current) -> Collection[str]:
    """Return the documents of a snapshot whose file is here; none of number 0."""
    if not current.snapshot:
        return set()
    with catalog.opened(snapshot_path(location, current.snapshot), read_only=True) as connection:
        return {record.id for record in catalog.read_documents(connection)}


def _note_purges(location: CorpusLocation, told: Removals) -> None:
    """Note for this writer's clean-up what nobody purged yet from the files that all share: who removed it may never come back."""
    noted = {removal.document_id: removal.snapshot for removal in noted_purges(location)}
    unpurged = [entry.removal for entry in told.listed if entry.number > told.purged]
    due = [removal for removal in unpurged if noted.get(removal.document_id, -1) < removal.snapshot]
    if due:
        note_removals(location, [replace(removal, moment=time.time()) for removal in due])


def _carried_out(location: CorpusLocation) -> int:
    """Return the number of the last removal that this machine carried out, 0 where it says none."""
    try:
        return int(location.removals_note.read_text("ascii"))
    except (FileNotFoundError, ValueError):
        return 0


def _note_carried_out(location: CorpusLocation, number: int) -> None:
    write_durably(location.removals_note, str(number).encode())
