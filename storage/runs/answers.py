"""Answers as they are kept: their JSON, which is also what `--json` says; found again in the files of the runs; and shown again."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from storage.catalog.removals import read_removals
from storage.codec import CodecError
from storage.errors import AmbiguousError, UnknownError
from storage.locations import ID_PREFIX, CorpusLocation
from storage.records.answers import Answer, EvidencePath, NamedDocument, TraceStep
from storage.runs.answer_json import answer_from_json
from storage.runs.log import EntryKind, asking_files, read_entry, sign_of
from storage.runs.views import modified_ns, open_runs_folder

QUESTION_SHOWN = 60
NOTE_BEGINS = "the quoted document "


def read_answers(location: CorpusLocation, *, present: Collection[str], thread: str = "") -> list[Answer]:
    """Return every answer that is kept whole, the newest first; what a kill cut, or a newer FlowReader made unreadable, is not.

    Of one `thread` where that is named. Words of a removed document are left out, whatever a removal still has to erase; `present`
    are the documents published now.
    """
    found = chain.from_iterable(_answers_in(path, thread) for path in asking_files(location))
    kept = _newest_first(found, location, present)
    return [answer for answer in kept if thread in ("", answer.thread)]


def newest_answers(location: CorpusLocation, most: int, *, present: Collection[str]) -> list[Answer]:
    """Return at most `most` of the newest answers, as `read_answers` would; it takes the same time however many there are.

    Ten times as many runs are looked through: one that gave an answer again holds none.
    """
    paths = sorted(asking_files(location), key=modified_ns, reverse=True)[: 10 * most]
    holding = islice((found for path in paths if (found := list(_answers_in(path)))), most)
    return _newest_first(chain.from_iterable(holding), location, present)[:most]


def find_answer(location: CorpusLocation, asked_id: str, *, present: Collection[str]) -> Answer:
    """Return the answer with an id that begins with these 8 or more hexadecimal digits, as `read_answers` would.

    Raise UnknownError where there is none, AmbiguousError, naming them all, where there are several.
    """
    found: dict[str, Answer] = {}
    if ID_PREFIX.fullmatch(asked_id):
        holding = chain.from_iterable(_answers_in(path, asked_id) for path in asking_files(location))
        kept = _newest_first(holding, location, present)
        found = {answer.answer_id: answer for answer in reversed(kept) if answer.answer_id.startswith(asked_id)}
        if not found:
            with open_runs_folder(location.runs) as runs:
                runs.require_readable()
    if not found:
        raise UnknownError(
            f"no answer {asked_id!r} in corpus {location.name!r}",
            asked_id,
            f"name it by 8 or more digits of its id, `flowreader answers list --corpus {location.name}` shows all",
            over_http="name it by 8 or more digits of its id, as it was given with the answer",
        )
    if len(found) > 1:
        several = ", ".join(f"{answer.answer_id[:16]} {answer.question[:QUESTION_SHOWN]!r}" for answer in found.values())
        raise AmbiguousError(f"{asked_id!r} names {len(found)} answers: {several}", asked_id, "take more digits of the id")
    return next(iter(found.values()))


def answer_of_run(location: CorpusLocation, answer_id: str, run_id: str, *, present: Collection[str]) -> Answer:
    """Return the answer that the run kept, as `read_answers` would; raise UnknownError where it cannot be read."""
    found = _answers_in(location.runs / f"{run_id}.jsonl", answer_id)
    for answer in _newest_first(found, location, present):
        if answer.answer_id == answer_id:
            return answer
    raise UnknownError(
        f"answer {answer_id[:16]!r} of run {run_id!r} cannot be read any more", answer_id[:16], "ask the question again"
    )


def _answers_in(path: Path, text: str = "") -> Iterator[tuple[int, Answer]]:
    """Yield the answers in a file whose lines hold this text, with their numbers: to open DuckDB takes longer than to read them."""
    signs = (sign_of(EntryKind.ANSWER).encode(), text.encode())
    with suppress(OSError), path.open("rb") as lines:
        for line in lines:
            if all(sign in line for sign in signs) and (entry := read_entry(line)):
                with suppress(CodecError):
                    yield entry["sequence"], answer_from_json(entry, Answer)


def _newest_first(found: Iterable[tuple[int, Answer]], location: CorpusLocation, present: Collection[str]) -> list[Answer]:
    """Return the answers, the newest first and of those asked together the later line, without words of documents that are gone."""
    gone = read_removals(location).paths.keys() - set(present)
    ordered = sorted(found, key=lambda each: (each[1].asked, each[0]), reverse=True)
    return [without_words(answer, gone) for _, answer in ordered]


def answer_ids(location: CorpusLocation) -> set[str]:
    """Return the ids of all answers that are kept, also of those that this FlowReader cannot read.

    Raise ExpectedError where a file cannot be read.
    """
    with open_runs_folder(location.runs) as runs:
        runs.require_readable()
        return {answer_id for (answer_id,) in runs.rows("SELECT DISTINCT answer_id FROM answers WHERE answer_id IS NOT NULL")}


def removal_note(document: NamedDocument) -> str:
    return f"{NOTE_BEGINS}{document.name} was removed"


def quoted_documents(answer: Answer) -> list[NamedDocument]:
    """Return the documents that the answer quotes, in order: those it cites, and those that a path or a step was read from.

    The words of an answer that is not proven may be of any document that was read.
    """
    cited = [citation.document for citation in answer.citations if citation.quote or citation.section or answer.answer]
    read = [place.document for path in answer.paths if path.answer for place in path.pages]
    shown = [place.document for place in answer.evidence_pages] if answer.is_unproven and answer.answer else []
    found = [place.document for step in answer.trace if step.asked or step.found for place in step.pages]
    return list(dict.fromkeys([*cited, *read, *shown, *found]))


def without_words(answer: Answer, gone: Collection[str]) -> Answer:
    """Return the answer without a word of these documents, and a note for each that it held words of; the same where it held none.

    The text goes with any of its quotes, for it is made of them; what was noted of it, and why it has its status, goes with it.
    Places, numbers and names stay, and so does the question, which is the asker's own.
    """
    losing = [document for document in quoted_documents(answer) if document.id in gone]
    if not losing:
        return answer
    removals = tuple(removal_note(document) for document in losing)
    bare = replace(
        answer,
        citations=tuple(replace(each, quote="", section=()) if each.document.id in gone else each for each in answer.citations),
        paths=tuple(replace(path, answer="") if _reads(path, gone) else path for path in answer.paths),
        trace=tuple(trace_without(answer.trace, gone)),
        notes=(*answer.notes, *removals),
    )
    if not _text_holds_words(answer, gone):
        return bare
    notes = tuple(note for note in answer.notes if note.startswith(NOTE_BEGINS))
    return replace(bare, answer="", parts=(), why="", notes=(*notes, *removals))


def trace_without(trace: Sequence[TraceStep], gone: Collection[str]) -> Iterator[TraceStep]:
    """Yield the steps without the words of those that found something in these documents, or that need such a step."""
    touched: set[int] = set()
    for step in trace:
        if touched.intersection(step.needs) or any(place.document.id in gone for place in step.pages):
            touched.add(step.number)
            step = replace(step, asked="", found="")
        yield step


def _text_holds_words(answer: Answer, gone: Collection[str]) -> bool:
    if answer.is_unproven:
        return True
    cited = any(citation.document.id in gone for citation in answer.citations)
    return cited or any(path.answer and path.answer in answer.answer for path in answer.paths if _reads(path, gone))


def _reads(path: EvidencePath, gone: Collection[str]) -> bool:
    return any(place.document.id in gone for place in path.pages)
