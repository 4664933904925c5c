"""Reports of deployed runs after a removal: none shows a document that was removed."""

from __future__ import annotations

from collections.abc import Collection

from storage.answers import NOTE_BEGINS, read_answers
from storage.locations import CorpusLocation, reports_folder
from storage.snapshot import open_for_reading


def forget_reports(gone: Collection[str]) -> int:
    """Delete every report, and every result that Prefect keeps beside them, that shows one of these documents; return how many."""
    folder, signs = reports_folder(), [document.encode() for document in gone]
    found = [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() and signs else []
    told = [path for path in found if any(sign in path.read_bytes() for sign in signs)]
    for path in told:
        path.unlink(missing_ok=True)
    return len(told)


def answers_without_words(location: CorpusLocation) -> list[str]:
    """Return the ids of the corpus's kept answers that lost words with a removed document."""
    with open_for_reading(location) as snapshot:
        present = {record.id for record in snapshot.documents()}
    return [
        answer.answer_id
        for answer in read_answers(location, present=present)
        if any(note.startswith(NOTE_BEGINS) for note in answer.notes)
    ]
