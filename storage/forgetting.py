"""What goes from this machine with a document that was removed: answers' quotes, replies, reports, questions, copies, artifacts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable, Set
from contextlib import suppress
from pathlib import Path

from storage.artifacts import ArtifactStore
from storage.asked_questions import AskedQuestions
from storage.call_cache import CallCache, questions_owner
from storage.catalog import CatalogDamagedError
from storage.corpora import corpora_in
from storage.erasing import erase_quotes, gone_from_answers
from storage.in_use import delete_files, in_use
from storage.locations import CorpusLocation, calls_folder, reports_folder
from storage.removals import Removal

AN_ID = re.compile(rb"[0-9a-f]{32,}")


def forget_told(location: CorpusLocation, removals: Collection[Removal], *, present: Collection[str]) -> int:
    """Take the words of removed documents, unless they are back, out of all answers; return how many answers lost some.

    With them go those of earlier contents of their files: who removes a file wants none of its words left. What models replied
    about them is forgotten as well, and so are reports that show them. `present` are the documents published now.
    """
    if not removals:
        return 0
    gone = gone_from_answers(location, removals, present=present)
    forget_replies(location, gone)
    forget_reports(location.home, gone)
    return erase_quotes(location, gone)


def forget_questions(location: CorpusLocation) -> None:
    """Drop what evaluations asked the corpus, and what models replied to its questions: both hold words of many documents."""
    AskedQuestions(location.evaluations).forget()
    CallCache(calls_folder(location.home)).forget(questions_owner(location.name))


def forget_replies(own: CorpusLocation, documents: Iterable[str]) -> None:
    """Drop what models replied about documents that went from a corpus, but for those that another corpus has: they were paid."""
    try:
        elsewhere, _artifacts = in_use(_others(own))
    except CatalogDamagedError:
        # Nobody can say what a damaged corpus has; who removes a document wants its words gone.
        elsewhere = set()
    for document in set(documents) - elsewhere:
        CallCache(calls_folder(own.home)).forget(document)


def forget_reports(home: Path, gone: Collection[str], *, answers: Collection[str] = ()) -> int:
    """Delete every report, and every result that Prefect keeps beside them, that shows one of these documents; return how many.

    Those of the `answers` with these ids go as well, whatever they show.
    """
    folder, signs = reports_folder(home), [document.encode() for document in gone]
    found = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() and (signs or answers) else []
    ids = {answer.encode() for answer in answers}
    deleted, _bytes = delete_files([path for path in found if path.stem in answers or _tells_of(path, signs, ids)])
    return len(deleted)


def _tells_of(path: Path, signs: Collection[bytes], ids: Set[bytes]) -> bool:
    """Say whether a file holds one of these signs, or one of these ids by itself; one that just went does not."""
    with suppress(FileNotFoundError):
        said = path.read_bytes()
        return any(sign in said for sign in signs) or (bool(ids) and not ids.isdisjoint(AN_ID.findall(said)))
    return False


def forget_words(*, artifacts: ArtifactStore, cache_folder: Path) -> None:
    """Drop what any engine read in pictures that are gone: the text of a removed document goes with it, also after a kill."""
    for words in cache_folder.glob("??/*"):
        if not artifacts.path(words.name).exists():
            shutil.rmtree(words, ignore_errors=True)


def _others(own: CorpusLocation) -> list[CorpusLocation]:
    """Return the other corpora of this machine."""
    return [location for location in corpora_in(own.folder.parent) if location.folder != own.folder]
