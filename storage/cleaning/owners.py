"""Whatever keeps words of a document besides the graph, and how each forgets it.

| owner | goes with |
|---|---|
| answers, replies of models, reports, kept questions, copies of objects | `forget`: at once, and when the last reader is gone |
| what a corpus was asked in evaluations, replies to its questions | `forget_questions`: at the same moments, whole |
| questions in a row, their answers, runs and reports | `threads.remove_thread`: at once |
| uploads | the removal: a later one may be of the same bytes |
| snapshots and graph | `CorpusWriter.purge`, when the last reader is gone |
| artifacts, notes of steps, words of pictures, copies | `garbage.collect`, when no snapshot names them |
"""

import fcntl
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from storage.artifacts import write_durably
from storage.catalog.catalog import CatalogDamagedError
from storage.catalog.current import delete_question_files
from storage.catalog.in_use import corpora_in, in_use
from storage.codec import CodecError
from storage.locations import CorpusLocation, calls_folder, reports_folder, uploads_folder
from storage.object_copies import forget_copies
from storage.records.answers import Answer, NamedDocument
from storage.runs import log
from storage.runs.answer_json import answer_from_json, answer_json
from storage.runs.answers import quoted_documents, read_answers, without_words
from storage.runs.asked_questions import AskedQuestions
from storage.runs.replies import CallCache, questions_owner
from storage.runs.views import open_runs_folder
from storage.system import explain_full_disk


def forget(location: CorpusLocation, gone: Collection[str], paths: Iterable[str] = ()) -> int:
    """Take the words of these documents out of all that keeps some, with our copies of what lay at these paths.

    Return how many answers lost words. Answers that are kept to be given again hold words of many documents, and go all.
    """
    forget_copies(paths, location.home)
    if not gone:
        return 0
    forget_replies(location, gone)
    forget_reports(location.home, gone)
    delete_question_files(location.asked)
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
        # What a damaged corpus has is unknown; a user who removes a document wants its words gone.
        elsewhere = set()
    for document in set(documents) - elsewhere:
        CallCache(calls_folder(own.home)).forget(document)


def forget_reports(home: Path, gone: Collection[str]) -> int:
    """Delete every report, and every result that Prefect keeps beside them, that names one of these documents or answers.

    Return how many.
    """
    signs, deleted = [name.encode() for name in gone], 0
    for path in [path for path in reports_folder(home).glob("*") if path.is_file()]:
        with suppress(FileNotFoundError):
            said = path.read_bytes()
            if any(sign in said for sign in signs):
                path.unlink()
                deleted += 1
    return deleted


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


def documents_in_answers(location: CorpusLocation) -> set[NamedDocument]:
    """Return every document that is quoted by a kept answer; raise ExpectedError where a file cannot be read."""
    with open_runs_folder(location.runs) as runs:
        runs.require_readable()
    return {document for answer in read_answers(location, present=()) for document in quoted_documents(answer)}


def erase_quotes(location: CorpusLocation, gone: Collection[str]) -> int:
    """Take every word of these documents out of the kept answers; return how many answers held some.

    Each file is replaced in one step, and nothing that is appended meanwhile is lost; a kill leaves every file as it was or as it
    shall be, and the same call goes on. A second call at the same time waits.
    """
    if not (gone and location.runs.is_dir()):
        return 0
    with erasing_alone(location.runs):
        return sum(rewrite_lines(path, partial(_erase_in_line, gone=gone)) for path in log.asking_files(location))


@contextmanager
def erasing_alone(runs: Path) -> Iterator[None]:
    """Keep others from erasing in the folder of the runs, and clear away what a killed one left."""
    folder = os.open(runs, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        for leftover in runs.glob(".partial-*"):
            leftover.unlink()
        yield
    finally:
        os.close(folder)


def rewrite_lines(path: Path, erase: Callable[[bytes], bytes]) -> int:
    """Replace the lines of a run's file by what is left of each, and return how many changed.

    One that was cut goes: it is of no use, and may hold words of any document.
    """
    with log.writing_alone(path):
        lines = path.read_bytes().splitlines(keepends=True)
        whole = [line for line in lines if not log.is_cut(line)]
        erased = [erase(line) for line in whole]
        if erased != lines:
            data = b"".join(erased)
            with explain_full_disk(path.parent, len(data)):
                modified = path.stat().st_mtime_ns
                write_durably(path, data)
                # What is newest is found by it.
                os.utime(path, ns=(modified, modified))
    return sum(before != after for before, after in zip(whole, erased, strict=True))


def _erase_in_line(line: bytes, *, gone: Collection[str]) -> bytes:
    """Return the line without words of these documents; of an answer that names one and cannot be read, nothing stays."""
    entry = log.read_entry(line) if any(document.encode() in line for document in gone) else None
    if entry is None or entry["kind"] != log.EntryKind.ANSWER:
        return line
    try:
        answer = answer_from_json(entry, Answer)
    except CodecError:
        return b""
    bare = without_words(answer, gone)
    return line if bare == answer else log.entry_line({"sequence": entry["sequence"], "kind": entry["kind"], **answer_json(bare)})
