"""A corpus opened beside the event loop: its snapshot may come out of an object store, which takes its time, or hangs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from storage.locations import CorpusLocation
from storage.snapshot import Snapshot, open_for_reading


@asynccontextmanager
async def opened_for_reading(location: CorpusLocation) -> AsyncIterator[Snapshot]:
    """Pin the published snapshot and open it, in a thread; raise as `open_for_reading` does.

    Who is cancelled meanwhile leaves at once. What the thread opens then nobody holds, and so it is let go of.
    """
    with ExitStack() as held:
        yield await asyncio.to_thread(held.enter_context, open_for_reading(location))
