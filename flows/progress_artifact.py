"""How far an ingest is, as Prefect's UI shows it: a bar with a line of words, renewed every few seconds."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact

from flows.progress_display import WorkMeter
from tasks.markdown import as_text
from tasks.planning import DocumentWork
from tasks.progress import listening

RENEW_SECONDS = 3.0
"""Each renewal is a request to the server: at most so often, and not at all where nothing moved."""
PATIENCE_SECONDS = 2.0
"""A server that is away holds nobody up who wants to end."""
DONE = "done"
LOGGER = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def shown_in_prefect(work: Sequence[DocumentWork], *, key: str, by_model: bool) -> AsyncIterator[None]:
    """Show in the run at work how far these documents are, inside the block; nothing where there are none."""
    if not work:
        yield
        return
    meter = WorkMeter.reading(work, by_model=by_model)
    artifact: UUID | None = None

    async def show(percent: float, told: str) -> None:
        nonlocal artifact
        # What is shown is no part of the work: a server that is away for a moment spoils no ingest.
        try:
            if artifact is None:
                artifact = await acreate_progress_artifact(progress=percent, key=key, description=as_text(told))
            else:
                await aupdate_progress_artifact(artifact, progress=percent, description=as_text(told))
        except Exception as error:
            LOGGER.debug("the bar of %s in Prefect's UI was not renewed (%s)", key, type(error).__name__)

    async def renew() -> None:
        shown = 0.0
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            percent = round(100 * meter.share_done(), 1)
            if percent != shown:
                shown = percent
                await show(percent, meter.describe())

    await show(0.0, meter.describe())
    end = "ended before all was read"

    with listening(meter.hear):
        renewing = asyncio.create_task(renew())
        try:
            yield
            end = DONE
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            last = show(round(100 * meter.share_done(), 1), f"{meter.describe_counts()}; {end}")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(last, None if end == DONE else PATIENCE_SECONDS)
