"""Removing a thread: questions in a row with their answers, and whatever else was written down because they were asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from storage.catalog.current import delete_question_files
from storage.cleaning import owners
from storage.corpus.snapshot import open_for_reading
from storage.locations import CorpusLocation, calls_folder
from storage.runs import log
from storage.runs.at_work import is_at_work
from storage.runs.replies import CallCache, questions_owner


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
    gone = {answer.answer_id for answer in answers}
    reports = owners.forget_reports(location.home, gone)
    delete_question_files(location.asked)
    CallCache(calls_folder(location.home)).forget(questions_owner(location.name))
    words = ThreadWords(frozenset(gone), frozenset(answer.question for answer in answers))
    with owners.erasing_alone(location.runs):
        # What holds an answer goes last, and the named one after all: until then the same call finds the thread again.
        for path in sorted(log.asking_files(location), key=partial(_turn, asked=asked, gone=gone)):
            words.forget_in(path)
    return RemovedThread(thread, len(gone), reports)


def _turn(path: Path, *, asked: str, gone: Collection[str]) -> tuple[bool, bool]:
    held = path.read_bytes()
    return asked.encode() in held, any(name.encode() in held for name in gone)


@dataclass(frozen=True, slots=True)
class ThreadWords:
    """What to look for in the files of runs: ids of answers, and the questions."""

    answers: frozenset[str]
    questions: frozenset[str]

    def forget_in(self, path: Path) -> None:
        """Forget in the file of a run; one that asked nothing else goes whole, unless it is still at work."""
        entries = [entry for line in path.read_bytes().splitlines() if (entry := log.read_entry(line))]
        answered = any(map(self.has, entries))
        others = [entry for entry in entries if entry["kind"] == log.EntryKind.ANSWER and not self.has(entry)]
        asked = [text for entry in entries if answered or self.is_here(entry) for text in questions_of(entry)]
        if asked and not others and self.questions.issuperset(asked) and not is_at_work(path):
            path.unlink()
        elif asked:
            owners.rewrite_lines(path, self.erase)

    def has(self, entry: Mapping[str, Any]) -> bool:
        return entry.get("answer_id") in self.answers or entry.get("subject") in self.answers

    def is_here(self, entry: Mapping[str, Any]) -> bool:
        """Say whether what a run begins with was asked in this thread, or in none."""
        follow = entry.get("parameters", {}).get("follow") or ""
        return not follow or any(name.startswith(follow) for name in self.answers)

    def erase(self, line: bytes) -> bytes:
        """Return what is left of a line: nothing of an answer and its steps, of a batch the other questions."""
        entry = log.read_entry(line)
        if entry is None or not (self.has(entry) or self.questions.intersection(questions_of(entry))):
            return line
        left = {"questions": [text for text in questions_of(entry) if text not in self.questions]}
        return b"" if self.has(entry) else log.entry_line({**entry, "parameters": entry["parameters"] | left})


def questions_of(entry: Mapping[str, Any]) -> Sequence[str]:
    """Return the questions that a run begins with; any other entry, and an ingest, has none."""
    found: Sequence[str] = entry["parameters"].get("questions", ()) if entry["kind"] == log.EntryKind.RUN else ()
    return found
