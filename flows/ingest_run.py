"""One ingest from the command line: a Prefect run, with a temporary server where none is configured."""

from __future__ import annotations

import asyncio

from flows.prefect_environment import prefect_server
from tasks.ingest_request import IngestRequest


def run_ingest(request: IngestRequest) -> bool:
    """Run the ingest flow to its end; say whether the user stopped it."""
    with prefect_server():
        from prefect.exceptions import CancelledRun

        from flows.ingest import ingest

        try:
            asyncio.run(ingest(request))
        except CancelledRun:
            return True
    return False
