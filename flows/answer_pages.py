"""The pages of answers and ingests in Prefect's UI, and how they go: what a removed document said, and its name, go there too."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from prefect.artifacts import acreate_markdown_artifact
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
from prefect.client.schemas.objects import Artifact

from storage.answer_records import Answer
from storage.locations import CorpusLocation
from tasks.answer_page import answer_markdown, page_key
from tasks.forgetting_reports import (
    answers_of_what_is_gone,
    answers_without_words,
    names_one_of,
    published_ids,
    tells_of_what_is_gone,
)
from tasks.ingest_report import artifact_key, progress_key
from tasks.markdown import as_text, lineage_key
from tasks.reporting import keep_report

MAINTAIN_PAGE = "maintain"
PAGES_AT_ONCE = 100
"""Keys in one request."""


async def keep_page(answer: Answer) -> None:
    """Write the answer's report to the disk, and its page to the run at work, a flow's or a task's."""
    kept = await asyncio.to_thread(keep_report, answer)
    await acreate_markdown_artifact(
        key=page_key(answer.answer_id), markdown=answer_markdown(answer, kept), description=as_text(answer.question)
    )


async def forget_pages(location: CorpusLocation, names: Collection[str]) -> int:
    """Delete the pages that tell of documents that were removed, whose files had names of these hashes; return how many.

    They are those of answers that lost words with one, the lineage that names it, and what an ingest or a maintenance said of it.
    """
    keys = [page_key(answer_id) for answer_id in await asyncio.to_thread(answers_without_words, location)]
    keys += [lineage_key(page_key(answer_id)) for answer_id in await asyncio.to_thread(answers_of_what_is_gone, location)]
    present = await asyncio.to_thread(published_ids, location)
    async with get_client() as client:
        deleted = await _delete_all(client, keys)
        runs = await _pages(client, [lineage_key(artifact_key(location.name))])
        gone = [page for page in runs if tells_of_what_is_gone(str(page.data), present=present)]
        told = await _pages(client, [artifact_key(location.name), progress_key(location.name), MAINTAIN_PAGE])
        gone += [page for page in told if names_one_of(names, f"{page.data} {page.description}")]
        return deleted + await _delete(client, gone)


async def delete_pages(keys: Sequence[str]) -> int:
    """Delete all pages of these keys; return how many."""
    async with get_client() as client:
        return await _delete_all(client, keys)


async def _delete_all(client: PrefectClient, keys: Sequence[str]) -> int:
    deleted = 0
    for first in range(0, len(keys), PAGES_AT_ONCE):
        deleted += await _delete(client, await _pages(client, keys[first : first + PAGES_AT_ONCE]))
    return deleted


async def _pages(client: PrefectClient, keys: Sequence[str]) -> list[Artifact]:
    found: list[Artifact] = []
    while True:
        some = await client.read_artifacts(
            artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=list(keys))), offset=len(found)
        )
        found += some
        if not some:
            return found


async def _delete(client: PrefectClient, pages: list[Artifact]) -> int:
    for page in pages:
        await client.delete_artifact(page.id)
    return len(pages)
