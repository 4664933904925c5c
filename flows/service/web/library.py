"""What stands beside every question and answer: the corpora, the documents of one, and the conversations with it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from flows.service.paths import from_root
from storage.catalog.in_use import corpora_in
from storage.corpus.snapshot import Snapshot
from storage.locations import corpora_folder
from tasks.lineage.at_work import ingests_at_work
from tasks.views.answers import AnswerView, view_answers
from tasks.views.documents import view_document

ANSWERS_LOOKED_AT = 30
EMPTY: Mapping[str, Any] = {"documents": (), "conversations": (), "at_work": ()}


def list_corpora() -> list[str]:
    return [location.name for location in corpora_in(corpora_folder()) if location.current.exists()]


def look_into(snapshot: Snapshot) -> dict[str, Any]:
    """Return the documents, unready ones first, the newest conversations, and a line for each ingest at work."""
    at_work = [from_root(run.message, run.paths) for run in ingests_at_work(snapshot.location)]
    documents = sorted(map(view_document, snapshot.documents()), key=lambda each: (each.state == "ready", each.name))
    answers = view_answers(snapshot.newest_answers(ANSWERS_LOOKED_AT), snapshot)
    return {"documents": documents, "conversations": list_conversations(answers), "at_work": at_work}


def list_conversations(newest: Sequence[AnswerView]) -> list[tuple[str, AnswerView]]:
    """Return the first of these questions and the last answer of each thread, newest first; the same single question only once."""
    begun = {answer.thread: answer.asked_as for answer in newest}
    last = {answer.thread: answer for answer in reversed(newest)}
    sizes, alike = Counter(answer.thread for answer in newest), dict[str, tuple[str, AnswerView]]()
    for answer in newest:
        title = begun[answer.thread]
        alike.setdefault(answer.thread if sizes[answer.thread] > 1 else title.casefold(), (title, last[answer.thread]))
    return list(alike.values())
