"""Documents whose finished graph an earlier run left: reading them costs nothing."""

from collections.abc import Iterator, Sequence

from storage.memo import StepMemo
from storage.records.documents import DocumentGraph, DocumentRecord
from tasks.finding.plan import DocumentWork
from tasks.ingest.keys import version_key
from tasks.ingest.outcomes import DocumentOutcome, ready
from tasks.ingest.steps import evolve


def is_remembered(work: DocumentWork, memo: StepMemo) -> bool:
    """Say whether an earlier run made the finished graph, so that reading the document costs nothing."""
    return evolve.find_remembered(version_key(work), memo) is not None


def remembered_graph(work: DocumentWork) -> DocumentGraph | None:
    """Return the finished graph where an earlier run made it, published or not."""
    return evolve.recall(version_key(work))


def remembered_outcomes(records: Sequence[DocumentRecord], *, at_once: int) -> Iterator[list[DocumentOutcome]]:
    """Yield documents as they were published before, from their artifacts, `at_once` at a time.

    One whose artifact is gone is left out: the ingest of its file reads it anew.
    """
    for first in range(0, len(records), at_once):
        works = [work_of(record) for record in records[first : first + at_once]]
        found = [ready(work, graph) for work in works if (graph := remembered_graph(work))]
        if found:
            yield found


def work_of(record: DocumentRecord) -> DocumentWork:
    """Return a document of the catalog as work, where its steps need its names and version only."""
    return DocumentWork(
        document_id=record.id,
        version=record.version,
        path="",
        paths=record.paths,
        size_bytes=record.size_bytes,
        attempt=record.attempt,
    )
