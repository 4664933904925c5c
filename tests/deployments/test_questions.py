"""The process that answers questions."""

import asyncio
import logging

from deployments.questions import WithoutTraceback, warmed_up
from tests.hung_corpus import HungCorpus


def test_a_disk_that_hangs_does_not_keep_the_doors_shut(home, monkeypatch):
    disk = HungCorpus("far")
    monkeypatch.setattr("deployments.questions.WARM_UP_SECONDS", 0.2)

    async def world():
        warming = asyncio.create_task(warmed_up())
        await asyncio.wait_for(disk.asked(), 20)
        await asyncio.wait_for(warming, 2)
        disk.end()

    asyncio.run(world())


def test_a_question_that_was_asked_wrongly_is_told_in_a_line():
    record = logging.LogRecord("prefect.task_runs", logging.ERROR, "x.py", 1, "no", (), (ValueError, ValueError("no"), None))
    assert WithoutTraceback().filter(record) and record.exc_info is None
