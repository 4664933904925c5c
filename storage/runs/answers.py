"""Answers as they are kept: their JSON, which is also what `--json` says; found again in the files of the runs; and shown again."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from storage.catalog.removals import noted_removals
from storage.codec import CodecError
from storage.locations import ID_PREFIX, CorpusLocation
from storage.records.answers import Answer, EvidencePath, NamedDocument
from storage.runs.answer_json import answer_from_json
from storage.runs.log import EntryKind, asking_files, read_entry

QUESTION_SHOWN = 60
NAMED_ANSWER = re.compile(rb'"answer_id": "([0-9a-f]+)"')
NOTE_BEGINS = "the quoted document "


class UnknownAnswerError(LookupError):
    """An id that no answer has."""


class AmbiguousAnswerError(LookupError):
    """The first digits of several answers' ids."""


def read_answers(location: CorpusLocation, *, present: Collection[str]) -> list[Answer]:
    """Return every answer that is kept whole, the newest first; what a kill cut, or a newer FlowReader made unreadable, is not.

    Words of a removed document are left out, whatever its removal still has to erase; `present` are the documents published now.
    """
    return [answer for _, answer in sorted(_answers_with(location, b"", present), key=lambda found: found[0], reverse=True)]


def find_answer(location: CorpusLocation, asked_id: str, *, present: Collection[str]) -> Answer:
    """Return the answer whose id begins with these 8 or more hexadecimal digits, as `read_answers` would.

    Raise UnknownAnswerError where none is, AmbiguousAnswerError, naming them all, where several are.
    """
    prefix = asked_id if ID_PREFIX.fullmatch(asked_id) else None
    kept = sorted(_answers_with(location, prefix.encode(), present), key=lambda found: found[0]) if prefix else []
    found = {answer.answer_id: answer for _, answer in kept if answer.answer_id.startswith(prefix or "")}
    if not found:
        raise UnknownAnswerError(
            f"no answer {asked_id!r} in corpus {location.name!r}; "
            "name it by 8 or more digits of its id, `flowreader answers list` shows all"
        )
    if len(found) > 1:
        several = ", ".join(f"{answer.answer_id[:16]} {answer.question[:QUESTION_SHOWN]!r}" for answer in found.values())
        raise AmbiguousAnswerError(f"{asked_id!r} names {len(found)} answers: {several}; take more digits of the id")
    return next(iter(found.values()))


def answer_of_run(location: CorpusLocation, answer_id: str, run_id: str, *, present: Collection[str]) -> Answer:
    """Return the answer that the run kept, as `read_answers` would; raise UnknownAnswerError where it cannot be read."""
    path, gone = location.runs / f"{run_id}.jsonl", _removed(location, present)
    for _, answer in _answers_in(path, answer_id.encode(), gone):
        if answer.answer_id == answer_id:
            return answer
    raise UnknownAnswerError(f"answer {answer_id[:16]!r} of run {run_id!r} cannot be read any more; ask the question again")


def _answers_with(location: CorpusLocation, sign: bytes, present: Collection[str]) -> Iterator[tuple[tuple[str, int, str], Answer]]:
    """Yield the answers whose line holds these bytes, each after its place in time: when, the number of the line, of which file."""
    gone = _removed(location, present)
    for path in asking_files(location):
        yield from _answers_in(path, sign, gone)


def _removed(location: CorpusLocation, present: Collection[str]) -> set[str]:
    return {removal.document_id for removal in noted_removals(location)}.difference(present)


def _answers_in(path: Path, sign: bytes, gone: Collection[str]) -> Iterator[tuple[tuple[str, int, str], Answer]]:
    for line in path.read_bytes().splitlines():
        entry = read_entry(line) if sign in line else None
        if entry is None or entry["kind"] != EntryKind.ANSWER:
            continue
        try:
            answer = answer_from_json(entry)
        except CodecError:
            continue
        yield (answer.asked, entry["sequence"], path.name), without_words(answer, gone)


def answer_ids(location: CorpusLocation) -> set[str]:
    """Return the ids of all answers that the corpus's ledger names, also of those that cannot be read any more."""
    return {found.decode() for path in asking_files(location) for found in NAMED_ANSWER.findall(path.read_bytes())}


def removed_note(document: NamedDocument) -> str:
    return f"{NOTE_BEGINS}{document.name} was removed"


def speaking(answer: Answer) -> list[NamedDocument]:
    """Return the documents whose words the answer holds, in order: those it cites, and those that a path's answer is read from."""
    cited = [citation.document for citation in answer.citations if citation.quote or citation.section or answer.answer]
    read = [place.document for path in answer.paths if path.answer for place in path.pages]
    return list(dict.fromkeys([*cited, *read]))


def without_words(answer: Answer, gone: Collection[str]) -> Answer:
    """Return the answer without a word of these documents, and a note for each that it held words of; the same where it held none.

    The text goes with any of its quotes, for it is made of them; what was noted of it, and why it has its status, goes with it.
    Places, numbers and names stay, and so does the question, which is the asker's own.
    """
    losing = [document for document in speaking(answer) if document.id in gone]
    if not losing:
        return answer
    told = tuple(removed_note(document) for document in losing)
    bare = replace(
        answer,
        citations=tuple(replace(each, quote="", section=()) if each.document.id in gone else each for each in answer.citations),
        paths=tuple(replace(path, answer="") if _reads(path, gone) else path for path in answer.paths),
        notes=(*answer.notes, *told),
    )
    if not _text_holds_words(answer, gone):
        return bare
    notes = tuple(said for said in answer.notes if said.startswith(NOTE_BEGINS))
    return replace(bare, answer="", why="", notes=(*notes, *told))


def _text_holds_words(answer: Answer, gone: Collection[str]) -> bool:
    cited = any(citation.document.id in gone for citation in answer.citations)
    return cited or any(path.answer and path.answer in answer.answer for path in answer.paths if _reads(path, gone))


def _reads(path: EvidencePath, gone: Collection[str]) -> bool:
    return any(place.document.id in gone for place in path.pages)
