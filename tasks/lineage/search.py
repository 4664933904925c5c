"""What digits and file names mean, and what may be called by its name: published documents and earlier contents of their files.

Removed documents are found by their id, never by a name.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from storage.corpus.snapshot import Snapshot
from storage.errors import AmbiguousError, UnknownError
from storage.locations import ID_PREFIX, nearest
from storage.records.answers import NamedDocument
from storage.records.documents import DocumentRecord, DocumentState
from storage.runs.answers import QUESTION_SHOWN
from storage.runs.log import ASKING, EntryKind
from storage.runs.views import Runs, open_runs_folder
from storage.text import list_names
from tasks.lineage.records import Standing

RUN_PREFIX = re.compile(r"(?:ask-)?[0-9a-f][0-9a-f-]{5,}")
RUN_DIGITS = 8
LISTED = 3
"""Things of a kind that an error names, at most."""


@dataclass(frozen=True, slots=True)
class Named:
    """A match: its whole id, words that tell it from others, and for an answer the run that gave it."""

    kind: Literal["answer", "document", "run"]
    id: str
    detail: str = ""
    run_id: str = ""


def find_named(snapshot: Snapshot, runs: Runs, asked: str) -> Named:
    """Return what has this id, or begins with these digits (a run's 6 or more, else 8 or more), or the document of this file name.

    The files of the runs are looked through only where no published document and no run is meant.
    Raise UnknownError, or AmbiguousError, which list what there is.
    """
    meant = (*_documents(snapshot, asked), *_runs(runs, asked)) or tuple(_in_entries(runs, asked))
    found = {(each.kind, each.id): each for each in meant}
    if not found:
        raise _unknown_error(snapshot, runs, asked)
    if len(found) > 1:
        several = ", ".join(f"{each.kind} {each.id[:16]}{each.detail}" for each in found.values())
        raise AmbiguousError(f"{asked!r} names {len(found)} things: {several}", asked, "take more digits of the id")
    return next(iter(found.values()))


def _documents(snapshot: Snapshot, asked: str) -> Iterator[Named]:
    for record in snapshot.documents():
        if asked in file_names([record]) or (ID_PREFIX.fullmatch(asked) and record.id.startswith(asked)):
            yield Named("document", record.id, f" {record.name!r}")


def file_names(records: Iterable[DocumentRecord]) -> set[str]:
    return {path.rsplit("/", 1)[-1] for record in records for path in record.paths}


def _runs(runs: Runs, asked: str) -> Iterator[Named]:
    """Yield the runs that are meant; `ask-` may be left out."""
    if RUN_PREFIX.fullmatch(asked):
        yield from (Named("run", name) for name in runs.ids if name.startswith((asked, ASKING + asked)))


IN_ENTRIES = """
SELECT run_id, kind, line->>'$.answer_id', coalesce(line->>'$.question', ''), line->>'$.subject',
    regexp_extract_all(line, '"id": "(' || $whole || ')"', 1)
FROM entries WHERE contains(line, $asked) AND (kind = 'answer' OR line->>'$.step' IN ('parse', 'evolve'))
"""


def _in_entries(runs: Runs, asked: str) -> Iterator[Named]:
    """Yield the answers that are meant, and the documents that entries name, also those that are not published any more."""
    if not ID_PREFIX.fullmatch(asked):
        return
    whole = f"{asked}[0-9a-f]{{{64 - len(asked)}}}"
    for run_id, kind, answer_id, question, subject, documents in runs.rows(IN_ENTRIES, asked=asked, whole=whole):
        if kind == EntryKind.ANSWER and str(answer_id).startswith(asked):
            yield Named("answer", answer_id, f" {question[:QUESTION_SHOWN]!r}", run_id)
        named = documents if kind == EntryKind.ANSWER else [subject] if re.fullmatch(whole, subject) else []
        yield from (Named("document", name, " (not published now)") for name in named)


NEWEST = "SELECT answer_id, question FROM answers WHERE answer_id IS NOT NULL ORDER BY asked DESC LIMIT $most"


def _unknown_error(snapshot: Snapshot, runs: Runs, asked: str) -> UnknownError:
    documents = sorted(file_names(snapshot.documents()))
    answers = (f"{name[:8]} {question[:QUESTION_SHOWN]!r}" for name, question in runs.rows(NEWEST, most=LISTED))
    there = {
        "documents": list_names(list(map(repr, documents)), LISTED),
        "newest answers": ", ".join(answers),
        "newest runs": ", ".join(map(short_run, runs.ids[:LISTED])),
    }
    return UnknownError(
        f"no answer, document or run {asked!r} in corpus {snapshot.location.name!r}{nearest(asked, documents)}",
        asked,
        "name an answer or a document by 8 or more digits of its id, a run by 6 or more, a document also by its exact file name: "
        + ", ".join(f"{what} {named or 'none'}" for what, named in there.items()),
    )


def short_run(run_id: str) -> str:
    return run_id[: RUN_DIGITS + len(ASKING) * run_id.startswith(ASKING)]


@dataclass(frozen=True)
class Sources:
    """What a walk reads: the documents of a snapshot and the runs of its corpus, opened once."""

    snapshot: Snapshot
    runs: Runs

    @cached_property
    def records(self) -> Mapping[str, DocumentRecord]:
        return {record.id: record for record in self.snapshot.documents()}

    @cached_property
    def names(self) -> set[str]:
        return file_names(self.records.values())

    def is_readable(self, document_id: str) -> bool:
        return document_id in self.records and self.records[document_id].state is DocumentState.READY

    def standing(self, document: NamedDocument) -> Standing:
        """Say whether the document is there; one whose name another content has now was replaced."""
        if document.id in self.records:
            return Standing.PUBLISHED
        return Standing.REPLACED if document.name in self.names else Standing.GONE

    def as_named(self, document: NamedDocument) -> NamedDocument:
        """Return the document as it may be called: what is gone has no name any more."""
        if document.id in self.records:
            return NamedDocument(document.id, self.records[document.id].name)
        return replace(document, name="") if self.standing(document) is Standing.GONE else document


@contextmanager
def open_sources(snapshot: Snapshot) -> Iterator[Sources]:
    with open_runs_folder(snapshot.location.runs) as runs:
        yield Sources(snapshot, runs)


def show_parameters(parameters: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    """Return what a run was asked, without paths and names under which no document lies now: they may be of a removed one."""
    shown = dict(parameters)
    for name, is_known in (("paths", _has_path), ("documents", _has_name)):
        given = shown.get(name)
        if isinstance(given, list):
            shown[name] = [value for value in given if is_known(sources, str(value))]
            if hidden := len(given) - len(shown[name]):
                shown[f"{name}_of_nothing_published"] = hidden
    return shown


def _has_path(sources: Sources, given: str) -> bool:
    """Say whether a published document lies at or below a path or address; the path may be relative to an unknown folder."""
    parts = [part for part in os.path.normpath(given).split("/") if part not in {"", ".", ".."}]
    whole = f"/{'/'.join(parts)}/"
    known = (path for record in sources.records.values() for path in record.paths)
    return not parts or any(whole in f"/{os.path.normpath(path)}/" for path in known)


def _has_name(sources: Sources, given: str) -> bool:
    """Say whether a name or the digits of an id are those of a published document."""
    return given in sources.names or any(document_id.startswith(given) for document_id in sources.records)
