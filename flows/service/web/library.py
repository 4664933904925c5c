"""What stands beside every question and answer: the corpora, the documents of one, and the conversations with it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from fastapi import Request

from flows.service.again import files_of, may_end_otherwise, wants_password
from flows.service.ingests import Ingest
from flows.service.paths import from_root
from storage.catalog.in_use import corpora_in
from storage.corpus.snapshot import Snapshot
from storage.locations import corpora_folder
from storage.records.documents import DocumentRecord
from tasks.lineage.at_work import ingests_at_work
from tasks.parsing.jobs import GIVE_PASSWORD
from tasks.views.answers import AnswerView, view_answers
from tasks.views.documents import DocumentView
from tasks.views.ingests import IngestView

ANSWERS_LOOKED_AT = 30
EMPTY: Mapping[str, Any] = {"documents": (), "conversations": (), "at_work": (), "coming": ()}


class ShelfRow(DocumentView):
    """A document on the shelf: its file, whether that may be read again, with a password, and the ingest that is at it."""

    size_bytes: int
    kind: str = ""
    may_read: bool = False
    wants_password: bool = False
    ingest: IngestView | None = None


def list_corpora() -> list[str]:
    return [location.name for location in corpora_in(corpora_folder()) if location.current.exists()]


def look_into(snapshot: Snapshot, request: Request) -> dict[str, Any]:
    """Return the documents, unready ones first, the newest conversations, and what is being read in.

    That is a line for each ingest of another process, and `coming` are the own ones that have no row among the documents.
    """
    ingests = request.app.state.ingests.list_of(snapshot.location.name)
    own = [set(each.together) for each in ingests]
    runs = [run for run in ingests_at_work(snapshot.location) if set(run.paths) not in own]
    rows = [view_row(record, ingests, request) for record in snapshot.documents()]
    answers = view_answers(snapshot.newest_answers(ANSWERS_LOOKED_AT), snapshot)
    return {
        "documents": sorted(rows, key=lambda each: (each.state == "ready", each.name)),
        "conversations": list_conversations(answers),
        "at_work": [from_root(run.message, run.paths) for run in runs],
        "coming": list_coming(ingests, {row.ingest.id for row in rows if row.ingest}),
    }


def list_coming(ingests: Sequence[Ingest], shown: Collection[str] = ()) -> list[IngestView]:
    return [each.view() for each in reversed(ingests) if not each.ended and each.id not in shown]


def view_row(record: DocumentRecord, ingests: Sequence[Ingest], request: Request) -> ShelfRow:
    """Return the document with its last ingest, where that is not over or failed; the reason names no command."""
    row = ShelfRow.model_validate(record)
    row.kind = PurePath(record.name).suffix[1:5].upper()
    row.may_read = may_end_otherwise(record) and bool(files_of(record, everywhere=request.app.state.has_token))
    if row.may_read and wants_password(record):
        row.wants_password, row.reason = True, record.reason.removesuffix(GIVE_PASSWORD)
    last = next((each for each in ingests if each.is_of(record.id)), None) if row.state != "ready" else None
    row.ingest = last.view() if last and (last.error or not last.ended) else None
    return row


def list_conversations(newest: Sequence[AnswerView]) -> list[tuple[str, AnswerView]]:
    """Return the first of these questions and the last answer of each thread, newest first; the same single question only once."""
    begun = {answer.thread: answer.asked_as for answer in newest}
    last = {answer.thread: answer for answer in reversed(newest)}
    sizes, alike = Counter(answer.thread for answer in newest), dict[str, tuple[str, AnswerView]]()
    for answer in newest:
        title = begun[answer.thread]
        alike.setdefault(answer.thread if sizes[answer.thread] > 1 else title.casefold(), (title, last[answer.thread]))
    return list(alike.values())
