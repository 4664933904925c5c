"""The process that answers questions."""

import asyncio
import logging

from deployments.questions import WithoutTraceback, warmed_up
from tests.silent_store import silent_store


def test_a_store_that_hangs_does_not_keep_the_doors_shut(home, monkeypatch):
    monkeypatch.setattr("deployments.questions.WARM_UP_SECONDS", 0.2)

    async def world():
        warming = asyncio.create_task(warmed_up())
        await asyncio.wait_for(store.asked(), 20)
        await asyncio.wait_for(warming, 2)
        store.end()

    with silent_store(monkeypatch) as store:
        asyncio.run(world())


def test_a_question_that_was_asked_wrongly_is_told_in_a_line():
    record = logging.LogRecord("prefect.task_runs", logging.ERROR, "x.py", 1, "no", (), (ValueError, ValueError("no"), None))
    assert WithoutTraceback().filter(record) and record.exc_info is None
