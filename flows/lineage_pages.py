"""Lineage in Prefect's UI: what `flowreader lineage` shows of a run and of an answer, from the same records, in the same words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from uuid import UUID

from prefect.artifacts import acreate_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import ArtifactCreate

from flows.lineage_tables import Line, heading, markdown_of, told_lines, walk_lines
from storage.answer_records import Answer
from storage.locations import corpus_location
from storage.snapshot import Snapshot, open_for_reading
from tasks.answer_page import page_key
from tasks.ingest_report import artifact_key
from tasks.lineage_documents import documents_told
from tasks.lineage_names import Shelf
from tasks.lineage_records import RunWalk
from tasks.lineage_walk import walk
from tasks.markdown import lineage_key

DOCUMENTS_SHOWN = 50
"""A page is a row in the server's database; of the other documents it says how many there are."""


async def keep_run_page(snapshot: Snapshot, told: RunWalk) -> None:
    """Leave a page that leads from the ingest at work to its documents, with their versions, parsers, steps and models."""
    await acreate_markdown_artifact(
        key=lineage_key(artifact_key(told.corpus)),
        markdown=await asyncio.to_thread(run_page, snapshot, told),
        description="How it was read in",
    )


async def keep_answer_pages(answers: Iterable[Answer], *, flow_run_id: UUID | None = None, task_run_id: UUID | None = None) -> None:
    """Leave a page for each answer that leads from it to its paths, nodes, boxes and pages, and to who read them.

    The run may be over: whoever asked has the answers before these pages are made.
    """
    async with get_client() as client:
        for answer in answers:
            page = ArtifactCreate(
                key=lineage_key(page_key(answer.answer_id)),
                type="markdown",
                description="How the answer came to be",
                data=await asyncio.to_thread(answer_lineage, answer),
                flow_run_id=flow_run_id,
                task_run_id=task_run_id,
            )
            await client.create_artifact(page)


def answer_lineage(answer: Answer) -> str:
    """Return the page of an answer."""
    with open_for_reading(corpus_location(answer.corpus)) as snapshot:
        return markdown_of(walk_lines(walk(snapshot, answer.answer_id)))


def run_page(snapshot: Snapshot, told: RunWalk) -> str:
    """Return the page of an ingest."""
    lines = list(walk_lines(told))
    published = [each.document for each in told.documents if each.published]
    documents, _damaged = documents_told(Shelf(snapshot), published[:DOCUMENTS_SHOWN])
    if documents:
        lines.append(heading("what was read, and how"))
    for document in documents:
        lines += told_lines(document, 1)
    if len(published) > DOCUMENTS_SHOWN:
        lines.append(Line(1, f"and {len(published) - DOCUMENTS_SHOWN:,} more: flowreader lineage DOCUMENT tells of each"))
    return markdown_of(lines)
