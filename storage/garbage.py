"""What no corpus and no finished step needs any more: notes of steps, and artifacts. They are shared, so all corpora are asked."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from storage import catalog
from storage.call_cache import CallCache, questions_owner
from storage.corpora import corpora_in
from storage.in_use import delete_files, in_use, quiet, unnamed_files
from storage.locations import CorpusLocation
from storage.memo import StepMemo

KEEP_UNNAMED_SECONDS = 30 * 86400.0
"""What nothing names any more stays so long, for it cost money, or somebody may come back for it: replies of models about documents
that no corpus has (an ingest whose budget was used up may go on after days), what deployed runs left, killed runs. What is removed
on purpose takes all of it along at once."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was deleted; `postponed` says in words what stood in the way, then nothing was."""

    documents: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    bytes_freed: int = 0
    postponed: str = ""


def collect(
    corpora: Path, memo: StepMemo, calls: CallCache, *, keep_seconds: float, own: CorpusLocation, gone: Collection[str] = ()
) -> Garbage:
    """Delete notes and artifacts that are older and that nothing names: no snapshot of any corpus, no other document's note.

    Replies of models that belong to no corpus any more go when nobody asked for a month.

    The caller holds the lock of `own`. While another corpus is being written nothing is deleted: its ingest may be about to name
    an artifact. Nothing is deleted either where a corpus cannot be asked what it needs. Of the documents `gone`, which were
    removed on purpose, the notes go whatever their age, unless they are back.
    """
    before = time.time() - keep_seconds
    with ExitStack() as locks:
        locations = corpora_in(corpora)
        for location in locations:
            if location.folder != own.folder and not locks.enter_context(quiet(location)):
                return Garbage(postponed=f"corpus {location.name!r} is being written")
        try:
            documents, named = in_use(locations)
        except catalog.CatalogDamagedError as error:
            return Garbage(postponed=str(error))
        forgotten = forget_documents(memo, documents, before, at_once=set(gone))
        forget_replies(calls, documents | {questions_owner(location.name) for location in locations})
        deleted, size = delete_files(unnamed_files(memo, named, before))
    return Garbage(documents=forgotten, artifacts=deleted, bytes_freed=size)


def forget_documents(memo: StepMemo, kept: set[str], before: float, *, at_once: set[str]) -> tuple[str, ...]:
    """Drop the notes of documents that no corpus has and that nobody worked on since, or that are to go at once."""
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
