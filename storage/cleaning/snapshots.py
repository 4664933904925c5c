"""Snapshots that no reader has open any more go, and the versions of the graph's tables that only they showed."""

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

from storage.catalog import catalog
from storage.catalog.current import drop_snapshot, snapshot_numbers, snapshot_path
from storage.graph.adjacency_files import drop_old
from storage.graph.store import GraphStore
from storage.graph.tables import TableName
from storage.locations import CorpusLocation
from storage.lock import lock_file, try_lock

POLL_SECONDS = 0.1

# A version's age is computed here and judged by LanceDB later; a process can be stopped in between, or the clock be set.
CLOCK_MARGIN = timedelta(hours=1)
AT_ONCE = timedelta(milliseconds=1)


def tidy(location: CorpusLocation, graph: GraphStore, *, keep_seconds: float, wait_seconds: float) -> tuple[int, ...]:
    """Drop old snapshots, waiting for their readers, then the table versions that no remaining snapshot pins.

    Return the snapshots that stay besides the published one, because they are young or a reader pins them.
    """
    deadline, due = time.monotonic() + wait_seconds, list_replaced_before(location, time.time() - keep_seconds)
    while (due := [number for number in due if not drop_snapshot(location, number)]) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    ages = clean_ages(location, graph)
    graph.clean(ages)
    drop_old(graph, ages)
    return tuple(snapshot_numbers(location)[:-1])


@contextmanager
def without_readers(location: CorpusLocation, *, wait_seconds: float) -> Iterator[None]:
    """Wait until nobody has a snapshot open any more, and let nobody open one while the block runs."""
    deadline = time.monotonic() + wait_seconds
    with ExitStack() as locks:
        for number in snapshot_numbers(location):
            try_lock(locks.enter_context(lock_file(snapshot_path(location, number))), wait_seconds=deadline - time.monotonic())
        yield


def list_replaced_before(location: CorpusLocation, moment: float) -> list[int]:
    """Return the snapshots that were replaced before this moment (seconds since 1970)."""
    numbers = snapshot_numbers(location)
    return [
        number for number, successor in itertools.pairwise(numbers) if snapshot_path(location, successor).stat().st_mtime <= moment
    ]


def clean_ages(location: CorpusLocation, graph: GraphStore) -> dict[TableName, timedelta]:
    """Return how old a version of each table must be to go: older than every version that a remaining snapshot pins."""
    pinned: dict[TableName, set[int]] = {name: set() for name in TableName}
    for number in snapshot_numbers(location):
        versions = catalog.head(snapshot_path(location, number), read_only=True).lance_versions
        for name in TableName:
            pinned[name].add(versions[name])
    return {name: age_to_keep(graph, name, pinned[name]) for name in TableName}


def age_to_keep(graph: GraphStore, name: TableName, versions: set[int]) -> timedelta:
    """Return how long ago the first of these versions was committed and a margin; no time where it is the newest, which stays.

    The caller compacted the table, so that LanceDB finds nothing to do that would make a newer one.
    """
    if versions == {int(graph.tables[name].version)}:
        return AT_ONCE
    # LanceDB gives local time; in the hour that comes twice a year Python takes the earlier one, which keeps more.
    stamps = [entry["timestamp"].timestamp() for entry in graph.tables[name].list_versions() if entry["version"] in versions]
    return timedelta(seconds=max(0.0, time.time() - min(stamps))) + CLOCK_MARGIN
