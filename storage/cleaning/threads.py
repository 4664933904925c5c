"""Removing a thread: questions in a row with their answers, and whatever else was written down because they were asked."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.artifacts import write_durably
from storage.catalog.current import delete_question_files
from storage.cleaning import owners
from storage.corpus.snapshot import open_for_reading
from storage.locations import CorpusLocation, calls_folder
from storage.runs import log
from storage.runs.at_work import is_at_work
from storage.runs.replies import CallCache, questions_owner
from storage.system import explain_full_disk


@dataclass(frozen=True, slots=True)
class RemovedThread:
    """What a removal took away; `answers` counts them, `reports` the files that showed one."""

    thread: str
    answers: int
    reports: int


def remove_thread(location: CorpusLocation, asked: str) -> RemovedThread:
    """Remove the thread of an answer, named by 8 or more digits of its id, from all that this home keeps.

    Answers that are kept to be given again, and replies of models to the corpus's questions, hold words of many, and go all.
    Raise UnknownError, AmbiguousError or UnknownCorpusError, and do nothing then; a second call finishes what a kill left.
    """
    with open_for_reading(location) as snapshot:
        thread = snapshot.answer(asked).thread
        answers = snapshot.answers(thread)
    gone, questions = {answer.answer_id for answer in answers}, {answer.question for answer in answers}
    reports = owners.forget_reports(location.home, gone)
    delete_question_files(location.asked)
    CallCache(calls_folder(location.home)).forget(questions_owner(location.name))
    with owners.erasing_alone(location.runs):
        for path in log.asking_files(location):
            _forget_in_file(path, gone, questions)
    return RemovedThread(thread, len(gone), reports)


def _forget_in_file(path: Path, gone: Collection[str], questions: Collection[str]) -> None:
    """Forget in the file of a run, which goes whole where nothing else was asked; one at work is about something else."""
    if is_at_work(path):
        return
    with log.writing_alone(path):
        entries = [entry for line in path.read_bytes().splitlines() if (entry := log.read_entry(line))]
        others = [entry for entry in entries if entry["kind"] == log.EntryKind.ANSWER and entry["answer_id"] not in gone]
        asked = {
            text for entry in entries if entry["kind"] == log.EntryKind.RUN for text in entry["parameters"].get("questions", ())
        }
        if not others and asked and asked <= set(questions):
            path.unlink()
        elif any(_is_of(entry, gone) for entry in entries):
            kept = [_without_questions(entry, questions) for entry in entries if not _is_of(entry, gone)]
            data = b"".join(map(log.entry_line, kept))
            with explain_full_disk(path.parent, len(data)):
                write_durably(path, data)


def _is_of(entry: dict[str, Any], gone: Collection[str]) -> bool:
    return entry.get("answer_id") in gone or entry.get("subject") in gone


def _without_questions(entry: dict[str, Any], questions: Collection[str]) -> dict[str, Any]:
    """Return the first entry of a batch with other questions without those of the thread."""
    if entry["kind"] != log.EntryKind.RUN:
        return entry
    parameters = entry["parameters"]
    return entry | {"parameters": parameters | {"questions": [text for text in parameters["questions"] if text not in questions]}}
