"""An ingest shows how far it is, and ends at a hundred."""

import asyncio
import time

import pytest

from flows import progress_artifact
from tasks.planning import DocumentWork


def test_an_ingest_leaves_a_bar_that_is_full(deployed):
    assert deployed["ingest"]["state"] == "Completed"
    kind, percent, told = deployed["pages"]["ingest-tides-progress"]
    assert (kind, percent, told) == ("progress", 100.0, "2\\/2 documents\\, 1 pages\\; done")
    assert "ingest-tides" in deployed["pages"]


def test_a_server_that_hangs_holds_up_no_ingest_that_ends_early(monkeypatch):
    async def made(**_more):
        return "id"

    async def hangs(*_arguments, **_more):
        await asyncio.sleep(60)

    monkeypatch.setattr(progress_artifact, "acreate_progress_artifact", made)
    monkeypatch.setattr(progress_artifact, "aupdate_progress_artifact", hangs)

    async def stopped():
        work = [DocumentWork("d" * 64, "v" * 64, "/in/a.pdf", ("/in/a.pdf",), 3, "")]
        async with progress_artifact.shown_in_prefect(work, key="ingest-x-progress", by_model=False):
            raise KeyError("why it ended")

    began = time.monotonic()
    with pytest.raises(KeyError, match="why it ended"):
        asyncio.run(stopped())
    assert time.monotonic() - began < 2 * progress_artifact.PATIENCE_SECONDS + 2
