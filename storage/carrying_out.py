"""Carrying out, on this machine, what another one removed: every place here that holds such words."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext, suppress

from storage.at_work import is_at_work, put_away
from storage.current import Current, CurrentDamagedError, drop_snapshot, read_current, snapshot_numbers, written
from storage.forgetting import forget_files, forget_questions, forget_told
from storage.in_use import quiet
from storage.locations import CorpusLocation
from storage.mirrored_copies import forget_unshown_copies
from storage.removals import Removal


def carry_out(
    location: CorpusLocation,
    removals: Collection[Removal],
    current: Current,
    present: Collection[str],
    *,
    writing: bool,
    anew: bool,
) -> bool:
    """Delete what this machine has of the removed documents; say whether nothing stood in the way.

    Where the caller is `writing`, it holds the corpus's lock; else a writer on this machine, or a reader of an older snapshot, may
    stand in the way of files, never of answers. What was asked meanwhile is dropped at first, which is `anew`, and at the end: an
    evaluation at work keeps what it has in between.
    """
    if anew:
        forget_questions(location)
    if not is_here(location, current) and (anew or current.snapshot):
        drop_copies(location, but=current.snapshot)
    forget_told(location, removals, present=present)
    copies_gone = forget_unshown_copies((sign for removal in removals for sign in removal.copies), location)
    alone: AbstractContextManager[bool] = nullcontext(True) if writing else quiet(location)
    with alone as free:
        if not free:
            return False
        drop_snapshots(location, but=current.snapshot)
        if not (location.catalog_note.exists() and location.catalog_note.read_bytes() == written(current)):
            drop_catalog(location)
        for kept in location.set_aside:
            kept.unlink()
        gone = [removal.document_id for removal in removals]
        complete = forget_files(location, gone) and copies_gone and set(snapshot_numbers(location)) <= {current.snapshot}
        if complete and not anew:
            forget_questions(location)
        return complete


def is_here(location: CorpusLocation, current: Current) -> bool:
    """Say whether this machine's CURRENT is that."""
    with suppress(CurrentDamagedError):
        return read_current(location) == current
    return False


def forget_runs(location: CorpusLocation) -> None:
    """Delete the answers and lineage of a corpus that was removed whole; of what is at work now, answers lose their words later."""
    for path in location.runs.glob("*.jsonl"):
        if not is_at_work(path):
            path.unlink(missing_ok=True)
            put_away(path)


def drop_copies(location: CorpusLocation, *, but: int) -> None:
    """Drop what is of other snapshots, before CURRENT here moves to that one: afterwards a writer here may be about to publish."""
    from storage.adjacency_files import drop_all

    drop_snapshots(location, but=but)
    # The graph may have been made again since: then its versions have the numbers of older ones.
    drop_all(location.lance)


def drop_snapshots(location: CorpusLocation, *, but: int) -> None:
    """Drop the copies of other snapshots that nobody reads; no writer here may be about to publish one."""
    for number in snapshot_numbers(location):
        if number != but:
            drop_snapshot(location, number)


def drop_catalog(location: CorpusLocation) -> None:
    """Drop a catalog that another machine's publish made old; the next writer begins with the published one."""
    log = location.catalog.with_name(f"{location.catalog.name}.wal")
    for stale in (location.catalog_note, log, location.catalog):
        stale.unlink(missing_ok=True)
