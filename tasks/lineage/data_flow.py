"""What went into a run and what came out, as other systems take lineage: by name alone, and no name of a document.

What other systems hold cannot be taken back when a document is removed: they get the ids of documents, which are hashes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storage.records.answers import Answer
from storage.text import displayed
from tasks.ingest.request import ReadingRequest
from tasks.lineage.records import RunWalk
from tasks.lineage.search import Sources
from tasks.lineage.walk import documents_used

READ_AT_MOST, MADE_AT_MOST = 50, 200
"""Data sets of a run that are passed on: each is a row elsewhere, and Prefect takes an event with a hundred resources at most."""

LONGEST_KEY, OURS = 512, "flowreader"
OTHER_SIGNS = re.compile(r"[^A-Za-z0-9/._~-]")
"""A key may not have them; underscores stand for them."""


@dataclass(frozen=True, slots=True)
class DataFlow:
    """What a run read and made, as keys of Prefect assets; `left_out` counts what is not passed on."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    left_out: int


def asset_key(namespace: str, name: str) -> str:
    """Return the key of a folder or file (`file`), of a document or an answer (`flowreader`, CORPUS/ID)."""
    return f"{namespace}://{OTHER_SIGNS.sub('_', name)}"[:LONGEST_KEY]


def ingested(request: ReadingRequest, sources: Sources, walked: RunWalk) -> DataFlow:
    """Return what an ingest read, and the documents that it published and that can be read now."""
    ids = [each.document.id for each in walked.documents if sources.is_readable(each.document.id)]
    inputs = [asset_key("file", displayed(path)) for path in request.paths]
    return _bounded(inputs, [asset_key(OURS, f"{request.corpus}/{each}") for each in ids])


def answered(answer: Answer) -> DataFlow:
    used = [asset_key(OURS, f"{answer.corpus}/{document.id}") for document in documents_used(answer)]
    return _bounded(list(dict.fromkeys(used)), [asset_key(OURS, f"{answer.corpus}/answers/{answer.answer_id}")])


def _bounded(inputs: Sequence[str], outputs: Sequence[str]) -> DataFlow:
    left_out = max(0, len(inputs) - READ_AT_MOST) + max(0, len(outputs) - MADE_AT_MOST)
    return DataFlow(tuple(inputs[:READ_AT_MOST]), tuple(outputs[:MADE_AT_MOST]), left_out)
