"""Whatever keeps words of a document besides the graph, and how each forgets it.

| owner | goes with |
|---|---|
| answers, replies of models, reports, kept questions, copies of objects | `forget`: at once, and when the last reader is gone |
| what a corpus was asked in evaluations, replies to its questions | `forget_questions`: at the same moments, whole |
| uploads | the removal: a later one may be of the same bytes |
| snapshots and graph | `CorpusWriter.purge`, when the last reader is gone |
| artifacts, notes of steps, words of pictures, copies | `garbage.collect`, when no snapshot names them |
"""

from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from storage.catalog.catalog import CatalogDamagedError
from storage.catalog.current import forget_asked
from storage.catalog.in_use import corpora_in, in_use
from storage.cleaning.erasing import erase_quotes
from storage.locations import CorpusLocation, calls_folder, reports_folder, uploads_folder
from storage.object_copies import forget_copies
from storage.runs.asked_questions import AskedQuestions
from storage.runs.replies import CallCache, questions_owner


def forget(location: CorpusLocation, gone: Collection[str], paths: Iterable[str] = ()) -> int:
    """Take the words of these documents out of all that keeps some, with our copies of what lay at these paths.

    Return how many answers lost words. Answers that are kept to be given again hold words of many documents, and go all.
    """
    forget_copies(paths, location.home)
    if not gone:
        return 0
    forget_replies(location, gone)
    forget_reports(location.home, gone)
    forget_asked(location.asked)
    return erase_quotes(location, gone)


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


def forget_reports(home: Path, gone: Collection[str]) -> None:
    """Delete every report, and every result that Prefect keeps beside them, that shows one of these documents."""
    signs = [document.encode() for document in gone]
    for path in [path for path in reports_folder(home).glob("*") if path.is_file()]:
        with suppress(FileNotFoundError):
            said = path.read_bytes()
            if any(sign in said for sign in signs):
                path.unlink()


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
