"""What Prefect's UI shows after a removal: which pages of answers and ingests tell of what is gone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from storage.answer_glimpses import glimpse_of
from storage.answers import NOTE_BEGINS, read_answers
from storage.locations import CorpusLocation
from storage.removals import hash_name
from storage.snapshot import open_for_reading
from tasks.lineage_names import Shelf
from tasks.lineage_records import Standing
from tasks.lineage_walk import documents_used

CODE = re.compile(r"`([^`]*)`")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
AROUND_A_NAME = ",;:'\"`()|"
WORDS_OF_A_NAME = 12
"""A name of more words is not looked for among others."""
WHOLE_ID = re.compile(r"\b[0-9a-f]{64}\b")


def answers_of_what_is_gone(location: CorpusLocation) -> list[str]:
    """Return the ids of the corpus's kept answers for which a document was read whose name is gone from the corpus."""
    with open_for_reading(location) as snapshot:
        shelf = Shelf(snapshot)
        return [
            answer.answer_id
            for answer in read_answers(location, present=shelf.records.keys())
            if any(shelf.standing(document) is Standing.GONE for document in documents_used(glimpse_of(answer)))
        ]


def published_ids(location: CorpusLocation) -> set[str]:
    """Return the ids of the corpus's published documents."""
    with open_for_reading(location) as snapshot:
        return {record.id for record in snapshot.documents()}


def tells_of_what_is_gone(page: str, *, present: Collection[str]) -> bool:
    """Say whether a page of an ingest's lineage names a document that is not among the published ones."""
    return not set(present).issuperset(WHOLE_ID.findall(page))


def names_one_of(names: Collection[str], page: str) -> bool:
    """Say whether a page, or the line above it, shows a file's name of which there is only this hash, as code or as text."""
    return bool(names) and any(hash_name(shown) in names for shown in _shown_names(page))


def _shown_names(page: str) -> Iterator[str]:
    """Yield all that may be a name on a page: what stands as code, alone or after its folder, and words that stand together."""
    for code in CODE.findall(page):
        yield from (code, code.split(": ")[0].rsplit("/", 1)[-1])
    for line in ESCAPED.sub(r"\1", page).splitlines():
        words = line.split()
        for first in range(len(words)):
            for last in range(first + 1, min(first + WORDS_OF_A_NAME, len(words)) + 1):
                shown = " ".join(words[first:last])
                yield from (shown, shown.strip(AROUND_A_NAME).rsplit("/", 1)[-1])


def answers_without_words(location: CorpusLocation) -> list[str]:
    """Return the ids of the corpus's kept answers that lost words with a removed document."""
    return [
        answer.answer_id
        for answer in read_answers(location, present=published_ids(location))
        if any(note.startswith(NOTE_BEGINS) for note in answer.notes)
    ]
