"""The pages of answers and ingests in Prefect's UI, and how they go: what a removed document said, and its name, go there too."""

from __future__ import annotations

import asyncio

from prefect.artifacts import acreate_markdown_artifact
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
from prefect.client.schemas.objects import Artifact

from storage.answer_records import Answer
from storage.locations import CorpusLocation
from tasks.answer_page import answer_markdown, page_key
from tasks.forgetting_reports import answers_of_what_is_gone, answers_without_words, tells_of_what_is_gone
from tasks.ingest_report import artifact_key
from tasks.keeping_reports import keep_report
from tasks.lineage_keys import lineage_key
from tasks.markdown import as_text

PAGES_AT_ONCE = 100
"""Keys in one request."""


async def keep_page(answer: Answer) -> None:
    """Write the answer's report to the disk, and its page to the run at work, a flow's or a task's."""
    kept = await asyncio.to_thread(keep_report, answer)
    await acreate_markdown_artifact(
        key=page_key(answer.answer_id), markdown=answer_markdown(answer, kept), description=as_text(answer.question)
    )


async def forget_pages(location: CorpusLocation) -> int:
    """Delete the pages of answers that lost words with a removed document, and the lineage that names it; return how many."""
    keys = [page_key(answer_id) for answer_id in answers_without_words(location)]
    keys += [lineage_key(page_key(answer_id)) for answer_id in answers_of_what_is_gone(location)]
    deleted = 0
    async with get_client() as client:
        for first in range(0, len(keys), PAGES_AT_ONCE):
            deleted += await _delete(client, await _pages(client, keys[first : first + PAGES_AT_ONCE]))
        runs = await _pages(client, [lineage_key(artifact_key(location.name))])
        return deleted + await _delete(client, [page for page in runs if tells_of_what_is_gone(location, str(page.data))])


async def _pages(client: PrefectClient, keys: list[str]) -> list[Artifact]:
    found: list[Artifact] = []
    while True:
        some = await client.read_artifacts(artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=keys)), offset=len(found))
        found += some
        if not some:
            return found


async def _delete(client: PrefectClient, pages: list[Artifact]) -> int:
    for page in pages:
        await client.delete_artifact(page.id)
    return len(pages)
