"""Cleaning a corpus: snapshots that no reader has open any more, and the versions of the graph's tables that only they showed."""

import itertools
import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

from storage.catalog import catalog
from storage.catalog.current import drop_snapshot, snapshot_numbers, snapshot_path
from storage.catalog.in_use import corpora_in, delete_files, in_use, quiet, unnamed_files
from storage.graph.adjacency_files import drop_old
from storage.graph.store import GraphStore
from storage.graph.tables import TableName
from storage.locations import CorpusLocation, calls_folder
from storage.memo import StepMemo, kept_steps
from storage.runs.replies import CallCache, questions_owner

KEEP_UNNAMED_SECONDS = 30 * 86400.0
"""What nothing names any more stays so long, for it cost money, or may be wanted again: replies of models about documents
that no corpus has (an ingest whose budget was used up may go on after days), what deployed runs left, killed runs. What is removed
on purpose takes all of it along at once."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was deleted; `postponed` says in words what stood in the way, then nothing was."""

    documents: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    bytes_freed: int = 0
    postponed: str = ""


def collect(own: CorpusLocation, *, keep_seconds: float, gone: Collection[str] = ()) -> Garbage:
    """Delete notes and artifacts that are older and that nothing names: no snapshot of any corpus, no other document's note.

    Replies of models that belong to no corpus any more go when they were not used for a month.

    The caller holds the lock of `own`. While another corpus is being written nothing is deleted: its ingest may be about to name
    an artifact. Nothing is deleted either where a corpus cannot be asked what it needs. Of the documents `gone`, which were
    removed on purpose, the notes go whatever their age, unless they are back.
    """
    memo, before = kept_steps(own.home), time.time() - keep_seconds
    with ExitStack() as locks:
        locations = corpora_in(own.folder.parent)
        for location in locations:
            if location.folder != own.folder and not locks.enter_context(quiet(location)):
                return Garbage(postponed=f"corpus {location.name!r} is being written")
        try:
            documents, named = in_use(locations)
        except catalog.CatalogDamagedError as error:
            return Garbage(postponed=str(error))
        forgotten = forget_documents(memo, documents, before, at_once=set(gone))
        forget_replies(CallCache(calls_folder(own.home)), documents | {questions_owner(location.name) for location in locations})
        deleted, size = delete_files(unnamed_files(memo, named, before))
    return Garbage(documents=forgotten, artifacts=deleted, bytes_freed=size)


def forget_documents(memo: StepMemo, kept: set[str], before: float, *, at_once: set[str]) -> tuple[str, ...]:
    """Drop the notes of documents that no corpus has and that no run worked on since, or that are to go at once."""
    idle = [
        document
        for document in memo.documents()
        if document not in kept
        and (document in at_once or all(path.stat().st_mtime <= before for path in memo.of_document(document).iterdir()))
    ]
    for document in idle:
        memo.forget(document)
    return tuple(idle)


def forget_replies(calls: CallCache, kept: set[str]) -> None:
    """Drop the replies of documents that no corpus has, and of questions to corpora that are gone, when they are old."""
    before = time.time() - KEEP_UNNAMED_SECONDS
    for subject in calls.subjects():
        if subject not in kept and calls.path(subject).stat().st_mtime <= before:
            calls.forget(subject)


POLL_SECONDS = 0.1

# A version's age is computed here and judged by LanceDB later; a process can be stopped in between, or the clock be set.
CLOCK_MARGIN = timedelta(hours=1)
AT_ONCE = timedelta(milliseconds=1)


def tidy(location: CorpusLocation, graph: GraphStore, *, keep_seconds: float, wait_seconds: float) -> tuple[int, ...]:
    """Drop old snapshots, waiting for their readers, then the table versions that no remaining snapshot pins.

    Return the snapshots that stay besides the published one, because they are young or a reader pins them.
    """
    deadline = time.monotonic() + wait_seconds
    dropped: list[int] = []
    while True:
        due = replaced_before(location, time.time() - keep_seconds)
        dropped += [number for number in due if drop_snapshot(location, number)]
        kept = snapshot_numbers(location)[:-1]
        if set(due) <= set(dropped) or time.monotonic() >= deadline:
            break
        time.sleep(POLL_SECONDS)
    ages = clean_ages(location, graph)
    graph.clean(ages)
    drop_old(graph, ages)
    return tuple(kept)


def wait_for_readers(location: CorpusLocation, *, wait_seconds: float) -> None:
    """Drop every snapshot, each once its last reader let go; those of readers that take longer stay."""
    deadline = time.monotonic() + wait_seconds
    left = snapshot_numbers(location)
    while left := [number for number in left if not drop_snapshot(location, number)]:
        if time.monotonic() >= deadline:
            return
        time.sleep(POLL_SECONDS)


def replaced_before(location: CorpusLocation, moment: float) -> list[int]:
    """Return the snapshots whose successor was published before the moment (seconds since 1970)."""
    numbers = snapshot_numbers(location)
    return [
        number for number, successor in itertools.pairwise(numbers) if snapshot_path(location, successor).stat().st_mtime <= moment
    ]


def clean_ages(location: CorpusLocation, graph: GraphStore) -> dict[TableName, timedelta]:
    """Return how old a version of each table must be to go: older than every version that a remaining snapshot pins."""
    pinned: dict[TableName, set[int]] = {name: set() for name in TableName}
    for number in snapshot_numbers(location):
        with catalog.opened(snapshot_path(location, number), read_only=True) as connection:
            versions = catalog.read_head(connection, snapshot_path(location, number)).lance_versions
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
