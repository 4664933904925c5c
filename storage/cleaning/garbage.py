"""What no snapshot of any corpus names goes: artifacts, notes of steps, words of pictures, copies; and reports by their age.

Others may delete a file at the same time.
"""

import shutil
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from storage.catalog.catalog import CatalogDamagedError
from storage.catalog.in_use import corpora_in, in_use, paths_in_use, without_writers
from storage.locations import CorpusLocation, calls_folder, corpora_folder, mirrors_folder, pictures_folder, reports_folder
from storage.memo import StepMemo, home_memo
from storage.object_address import is_address
from storage.object_copies import all_copies, copy_sign, exclude_readers, sign_of
from storage.runs.answers import answer_ids
from storage.runs.replies import CallCache, questions_owner

KEEP_SECONDS = 3600.0
"""Replaced files stay this long for their readers: longer than any question may last."""

KEEP_UNNAMED_SECONDS = 30 * 86400.0
"""Files that nothing names stay this long, for they cost money, or may be wanted again: replies of models about documents
that no corpus has (an ingest that ran out of budget may go on days later), what deployed runs left, killed runs. What is removed
on purpose takes all of it along at once."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was deleted; `postponed` says in words what stood in the way, then nothing was."""

    documents: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    bytes_freed: int = 0
    postponed: str = ""


def collect(own: CorpusLocation, *, keep_seconds: float) -> Garbage:
    """Delete what is older and what nothing names: no snapshot of any corpus, no note of a document that stays.

    Replies of models that belong to no corpus any more go when they were not used for a month. The caller holds the lock of `own`.
    While another corpus is being written nothing is deleted but copies: its ingest may be about to name an artifact. Nothing is
    deleted either where a corpus cannot be asked what it needs.
    """
    memo, before = home_memo(own.home), time.time() - keep_seconds
    locations = corpora_in(own.folder.parent)
    with ExitStack() as locks:
        try:
            # A process that reads copies protects them with a lock of its own.
            _forget_unnamed_copies(own.home, locations, before)
            for location in locations:
                if location.folder != own.folder and not locks.enter_context(without_writers(location)):
                    return Garbage(postponed=f"corpus {location.name!r} is being written")
            documents, named = in_use(locations)
        except CatalogDamagedError as error:
            return Garbage(postponed=str(error))
        forgotten = _forget_notes(memo, documents, before)
        _forget_old_replies(own, documents | {questions_owner(location.name) for location in locations})
        deleted, size = delete_files(unnamed_files(memo, named, before))
        _forget_words(memo, own.home)
    return Garbage(documents=forgotten, artifacts=deleted, bytes_freed=size)


def _forget_notes(memo: StepMemo, kept: set[str], before: float) -> tuple[str, ...]:
    """Drop the notes of documents that no corpus has and that no run worked on since; return which."""
    unnamed = [document for document in memo.documents() if document not in kept]
    idle = [each for each in unnamed if all(path.stat().st_mtime <= before for path in memo.of_document(each).iterdir())]
    for document in idle:
        memo.forget(document)
    return tuple(idle)


def _forget_old_replies(own: CorpusLocation, kept: set[str]) -> None:
    """Drop the replies of documents that no corpus has, and of questions to corpora that are gone, when they are old."""
    calls, before = CallCache(calls_folder(own.home)), time.time() - KEEP_UNNAMED_SECONDS
    for subject in calls.subjects():
        if subject not in kept and is_older(calls.path(subject), before):
            calls.forget(subject)


def unnamed_files(memo: StepMemo, named: set[str], before: float) -> list[Path]:
    """Return the old files of the store that neither a corpus names nor a note, half-written ones among them."""
    kept = named.union(*(memo.artifacts_of(document) for document in memo.documents()))
    return [path for path in memo.artifacts.files() if path.name not in kept and is_older(path, before)]


def _forget_words(memo: StepMemo, home: Path) -> None:
    """Drop what any engine read in pictures that are gone: the text of a removed document goes with it, also after a kill."""
    for words in pictures_folder(home).glob("??/*"):
        if not memo.artifacts.path(words.name).exists():
            shutil.rmtree(words, ignore_errors=True)


def _forget_unnamed_copies(home: Path, locations: list[CorpusLocation], before: float) -> None:
    """Delete the copies of objects that no corpus shows, and what a kill left half written; none while an ingest reads from any."""
    if not mirrors_folder(home).is_dir():
        return
    with exclude_readers(home) as unused:
        if unused:
            kept = set(map(copy_sign, filter(is_address, paths_in_use(locations))))
            delete_files(path for path in all_copies(home) if sign_of(path) not in kept and is_older(path, before))


def is_older(path: Path, moment: float) -> bool:
    """Say whether the file was last written before the moment (seconds since 1970); one that just went is not."""
    with suppress(FileNotFoundError):
        return path.stat().st_mtime <= moment
    return False


def delete_files(paths: Iterable[Path]) -> tuple[tuple[str, ...], int]:
    """Delete the files that are still there; return the names of those deleted, and their size in bytes."""
    deleted: list[tuple[str, int]] = []
    for path in paths:
        with suppress(FileNotFoundError):
            size = path.stat().st_size
            path.unlink()
            deleted.append((path.name, size))
    return tuple(sorted(name for name, _ in deleted)), sum(size for _, size in deleted)


PAGE = ".html"


@dataclass(frozen=True, slots=True)
class AgedOut:
    """How many files went: pages of answers that no corpus keeps, and results kept by Prefect."""

    reports: int = 0
    results: int = 0
    bytes_freed: int = 0


def age_out() -> AgedOut:
    """Delete what is older than a month and no answer's that a corpus of this home keeps; return what went."""
    before = time.time() - KEEP_UNNAMED_SECONDS
    old = [path for path in reports_folder().glob("*") if path.is_file() and is_older(path, before)]
    pages = [path for path in old if path.suffix == PAGE]
    kept = {answer for corpus in corpora_in(corpora_folder()) for answer in answer_ids(corpus)} if pages else set()
    reports, of_reports = delete_files(path for path in pages if path.stem not in kept)
    results, of_results = delete_files(path for path in old if path.suffix != PAGE)
    return AgedOut(reports=len(reports), results=len(results), bytes_freed=of_reports + of_results)
