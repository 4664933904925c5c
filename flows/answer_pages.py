"""The pages that answers leave in Prefect's UI, and how they go: what a removed document said must not stay there either."""

from __future__ import annotations

import asyncio

from prefect.artifacts import acreate_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

from storage.answer_records import Answer
from storage.locations import CorpusLocation
from tasks.answer_page import answer_markdown, page_key
from tasks.forgetting_reports import answers_without_words
from tasks.keeping_reports import keep_report
from tasks.markdown import as_text

PAGES_AT_ONCE = 100
"""Keys in one request; the server returns 200 pages at most."""


async def keep_page(answer: Answer) -> None:
    """Write the answer's report to the disk, and its page to the run at work, a flow's or a task's."""
    kept = await asyncio.to_thread(keep_report, answer)
    await acreate_markdown_artifact(
        key=page_key(answer.answer_id), markdown=answer_markdown(answer, kept), description=as_text(answer.question)
    )


async def forget_pages(location: CorpusLocation) -> int:
    """Delete the pages of answers that lost words with a removed document; return how many there were."""
    keys = [page_key(answer_id) for answer_id in answers_without_words(location)]
    deleted = 0
    async with get_client() as client:
        for first in range(0, len(keys), PAGES_AT_ONCE):
            named = ArtifactFilter(key=ArtifactFilterKey(any_=keys[first : first + PAGES_AT_ONCE]))
            for page in await client.read_artifacts(artifact_filter=named):
                await client.delete_artifact(page.id)
                deleted += 1
    return deleted
