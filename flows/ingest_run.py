"""One ingest from the command line: a Prefect run, with a temporary server where none is configured."""

from __future__ import annotations

import asyncio
from typing import cast

from flows.prefect_environment import prefect_server
from tasks.ingest_report import IngestReport
from tasks.ingest_request import IngestRequest


def run_ingest(request: IngestRequest) -> IngestReport | None:
    """Run the ingest flow to its end and return what it did; None where the user stopped it."""
    with prefect_server():
        from prefect.exceptions import CancelledRun

        from flows.ingest import ingest

        try:
            return cast(IngestReport, asyncio.run(ingest(request)))
        except CancelledRun:
            return None
