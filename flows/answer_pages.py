"""The pages that answers left in Prefect's UI: what a removed document said must not stay there either."""

from __future__ import annotations

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

from storage.locations import CorpusLocation
from tasks.answer_page import page_key
from tasks.forgetting_reports import answers_without_words

PAGES_AT_ONCE = 100
"""Keys in one request; the server returns 200 pages at most."""


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
