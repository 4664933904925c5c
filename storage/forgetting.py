"""What goes from this machine with a document that was removed: answers' quotes, replies, reports, questions, copies, artifacts."""

import hashlib
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from storage.artifacts import ArtifactStore
from storage.catalog.catalog import CatalogDamagedError
from storage.catalog.current import forget_asked
from storage.catalog.in_use import corpora_in, delete_files, in_use
from storage.locations import CorpusLocation, calls_folder, mirrors_folder, reports_folder, uploads_folder
from storage.lock import lock_file, taken
from storage.object_address import is_address
from storage.runs.asked_questions import AskedQuestions
from storage.runs.erasing import erase_quotes
from storage.runs.replies import CallCache, questions_owner

LOCK = "lock"
"""In the folder of mirrors it is held by who reads from any, in a mirror by who brings that up to date."""


def copy_sign(shown: str) -> str:
    """Return how the names of the copies of an object, as it is shown, begin; it has no word of it."""
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def forget_copies(shown: Iterable[str], home: Path) -> None:
    """Delete the copies of these objects below a home: who removes a document leaves no copy of it with us."""
    gone = set(map(copy_sign, filter(is_address, shown)))
    for mirror in entries(mirrors_folder(home)) if gone else ():
        for path in entries(mirror):
            if path.name.partition("-")[0] in gone:
                path.unlink(missing_ok=True)


def forget_uploads(paths: Iterable[str], location: CorpusLocation) -> int:
    """Delete those of the files that the service took in for the corpus, each with its folder where nothing else lies in that.

    Return how many.
    """
    folder, deleted = uploads_folder(location.home) / location.name, 0
    for path in map(Path, paths):
        # They are HASH/NAME in it; a path of somebody else may lead anywhere.
        if path.parts[:-2] == folder.parts and ".." not in path.parts and path.is_file():
            path.unlink()
            deleted += 1
            with suppress(OSError):
                path.parent.rmdir()
    return deleted


@contextmanager
def copies_unused(home: Path) -> Iterator[bool]:
    """Keep every reader of mirrors out while the block runs; False where one is in."""
    with opened_lock(mirrors_folder(home)) as descriptor:
        yield taken(descriptor)


@contextmanager
def opened_lock(folder: Path) -> Iterator[int]:
    """Open the lock of a folder, which is made where there is none; what is taken of it ends with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    with lock_file(folder / LOCK) as descriptor:
        yield descriptor


def entries(folder: Path) -> list[Path]:
    """Return what lies in a folder; nothing where it is none, or no longer: an ingest and a clean-up do not wait for us."""
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def forget_told(location: CorpusLocation, gone: Collection[str]) -> int:
    """Take the words of these documents out of all answers, replies and reports; return how many answers lost some.

    Answers that are kept to be given again hold words of many documents, and go all.
    """
    forget_replies(location, gone)
    forget_reports(location.home, gone)
    erased = erase_quotes(location, gone)
    if gone:
        forget_asked(location.asked)
    return erased


def forget_questions(location: CorpusLocation) -> None:
    """Drop what evaluations asked the corpus, and what models replied to its questions: both hold words of many documents."""
    AskedQuestions(location.evaluations).forget()
    CallCache(calls_folder(location.home)).forget(questions_owner(location.name))


def forget_replies(own: CorpusLocation, documents: Iterable[str]) -> None:
    """Drop what models replied about documents that went from a corpus, but for those that another corpus has: they were paid."""
    try:
        elsewhere, _artifacts = in_use([location for location in corpora_in(own.folder.parent) if location.folder != own.folder])
    except CatalogDamagedError:
        # Nobody can say what a damaged corpus has; who removes a document wants its words gone.
        elsewhere = set()
    for document in set(documents) - elsewhere:
        CallCache(calls_folder(own.home)).forget(document)


def forget_reports(home: Path, gone: Collection[str]) -> int:
    """Delete every report, and every result that Prefect keeps beside them, that shows one of these documents; return how many."""
    folder, signs = reports_folder(home), [document.encode() for document in gone]
    found = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() and signs else []
    deleted, _bytes = delete_files([path for path in found if _tells_of(path, signs)])
    return len(deleted)


def _tells_of(path: Path, signs: Collection[bytes]) -> bool:
    """Say whether a file holds one of these signs; one that just went does not."""
    with suppress(FileNotFoundError):
        said = path.read_bytes()
        return any(sign in said for sign in signs)
    return False


def forget_words(*, artifacts: ArtifactStore, cache_folder: Path) -> None:
    """Drop what any engine read in pictures that are gone: the text of a removed document goes with it, also after a kill."""
    for words in cache_folder.glob("??/*"):
        if not artifacts.path(words.name).exists():
            shutil.rmtree(words, ignore_errors=True)
