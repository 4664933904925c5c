"""What the first digits of an id name: an answer, a document or a run. Removed documents are found by their id, never by a name."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

from storage.corpus.snapshot import Snapshot
from storage.locations import ID_PREFIX, CorpusLocation, nearest
from storage.records.documents import DocumentRecord
from storage.runs.answers import QUESTION_SHOWN
from storage.runs.glimpses import Glimpses, glimpses
from storage.runs.log import ASKING, asking_files
from storage.runs.traces import RunLines, lines_with, other_files, run_files

RUN_PREFIX = re.compile(r"(?:ask-)?[0-9a-f][0-9a-f-]{5,}")
RUN_DIGITS = 8
LISTED = 3
"""Things of a kind that an error names, at most."""


class Kind(StrEnum):
    ANSWER = "answer"
    DOCUMENT = "document"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Named:
    """What was meant: its whole id, what else tells it from others, and for an answer the run that gave it."""

    kind: Kind
    id: str
    told: str = ""
    run_id: str = ""


class UnknownLineageError(LookupError):
    """An id or a name that no answer, document or run has."""


class AmbiguousLineageError(LookupError):
    """What names several answers, documents or runs."""


def find_named(snapshot: Snapshot, asked: str) -> Named:
    """Return what has this id, or begins with these digits (a run's 6 or more, else 8 or more), or the document of this file name.

    The files of the runs are looked through only where no published document and no run is meant.
    Raise UnknownLineageError, or AmbiguousLineageError, either of which lists what there is.
    """
    location = snapshot.location
    meant = (*_documents(snapshot, asked), *_runs(location, asked)) or _told(location, asked)
    found = {(each.kind, each.id): each for each in meant}
    if not found:
        raise UnknownLineageError(_unknown(snapshot, asked))
    if len(found) > 1:
        several = ", ".join(f"{each.kind} {each.id[:16]}{each.told}" for each in found.values())
        raise AmbiguousLineageError(f"{asked!r} names {len(found)} things: {several}; take more digits of the id")
    return next(iter(found.values()))


def _documents(snapshot: Snapshot, asked: str) -> Iterator[Named]:
    for record in snapshot.documents():
        if asked in file_names([record]) or (ID_PREFIX.fullmatch(asked) and record.id.startswith(asked)):
            yield Named(Kind.DOCUMENT, record.id, f" {record.name!r}")


def file_names(records: Iterable[DocumentRecord]) -> set[str]:
    return {path.rsplit("/", 1)[-1] for record in records for path in record.paths}


def _runs(location: CorpusLocation, asked: str) -> Iterator[Named]:
    """Yield the runs that are meant; `ask-` may be left out."""
    if RUN_PREFIX.fullmatch(asked):
        names = (path.stem for path in run_files(location))
        yield from (Named(Kind.RUN, name) for name in names if name.startswith((asked, ASKING + asked)))


def _told(location: CorpusLocation, asked: str) -> Iterator[Named]:
    """Yield the answers that are meant, and the documents that runs tell of, also of those that are not published any more."""
    if not ID_PREFIX.fullmatch(asked):
        return
    sign = asked.encode()
    rest = rb"[0-9a-f]{%d}" % (64 - len(asked))
    named_in_answers = re.compile(rb'"id": "(' + sign + rest + rb')"')
    read_by_runs = re.compile(rb'"step": "(?:parse|evolve)".*?"subject": "(' + sign + rest + rb')"')
    for lines in lines_with(asking_files(location), [sign]):
        for seen in glimpses([lines], [b'"answer_id": "' + sign]):
            yield from _answers(seen)
        yield from _matches(named_in_answers, lines)
    for lines in lines_with(other_files(location), [sign]):
        yield from _matches(read_by_runs, lines)


def _matches(pattern: re.Pattern[bytes], lines: RunLines) -> Iterator[Named]:
    names = {match.decode() for line in lines.whole for match in pattern.findall(line)}
    yield from (Named(Kind.DOCUMENT, name, " (not published now)") for name in sorted(names))


def _answers(seen: Glimpses) -> Iterator[Named]:
    for answer in seen.answers:
        yield Named(Kind.ANSWER, answer.answer_id, f" {answer.question[:QUESTION_SHOWN]!r}", seen.run_id)


def _unknown(snapshot: Snapshot, asked: str) -> str:
    location = snapshot.location
    documents = sorted(file_names(snapshot.documents()))
    runs = _newest(run_files(location))
    answers = (f"{each.id[:8]}{each.told}" for path in _newest(asking_files(location)) for each in _answers_in(path))
    there = {
        "documents": _few(map(repr, documents), len(documents)),
        "newest answers": _few(answers),
        "newest runs": _few(short_run(path.stem) for path in runs),
    }
    return (
        f"no answer, document or run {asked!r} in corpus {location.name!r}{nearest(asked, documents)}; name an answer or a "
        "document by 8 or more digits of its id, a run by 6 or more, a document also by its exact file name: "
        + ", ".join(f"{what} {named or 'none'}" for what, named in there.items())
    )


def short_run(run_id: str) -> str:
    return run_id[: RUN_DIGITS + len(ASKING) * run_id.startswith(ASKING)]


def _answers_in(path: Path) -> list[Named]:
    return [each for seen in glimpses(lines_with([path], [b""]), [b""]) for each in _answers(seen)]


def _newest(paths: Sequence[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def _few(names: Iterable[str], of: int = 0) -> str:
    shown = ", ".join(islice(names, LISTED))
    return f"{shown} and {of - LISTED} more" if of > LISTED else shown
