"""Documents that are read beside the process of an ingest, by a cluster of Dask.

The processes of the cluster write artifacts, which this one recalls; it alone writes LanceDB and the catalog.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from storage.records import EmbedderIdentity
from tasks.errands import Account, Errand, require_remembered
from tasks.planning import DocumentWork
from tasks.progress import StoppedError, stop_requested
from tasks.settings import IngestSettings
from tasks.step import Workplace, may_pass

if TYPE_CHECKING:
    from prefect.task_runners import TaskRunner

POLL_SECONDS = 0.2
"""So often a wish to stop is looked for."""


@dataclass(frozen=True, slots=True)
class Workers:
    """A cluster at work for a run: what every errand says, and where its steps are written down."""

    runner: TaskRunner[Any]
    settings: IngestSettings
    embedder: EmbedderIdentity
    reader: str
    place: Workplace

    async def read(self, work: DocumentWork) -> None:
        """Have the document read up to artifacts; raise what ended it, or WorkersError where nothing of it is found here."""
        account = await self._account(work)
        if account.error and may_pass(account.error):
            account = await self._account(work)
        if account.error:
            raise account.error
        require_remembered(account, self.place.memo)

    async def _account(self, work: DocumentWork) -> Account:
        """Send the errand and wait for its account; write down what it says was done."""
        errand = Errand(work, self.settings.model_dump_json(), self.embedder, self.reader, self.place.run_id)
        account = await _done_elsewhere(self.runner, errand)
        for record in account.steps:
            self.place.note(record)
        return account


async def _done_elsewhere(runner: TaskRunner[Any], errand: Errand) -> Account:
    """Return the account of an errand; raise StoppedError as soon as the user asks for the end."""
    from prefect import task
    from prefect.cache_policies import NO_CACHE

    from flows.errand import do_errand

    # A Prefect task may not be named by its arguments here: these hold the document's password.
    name = f"read {errand.work.name}".replace("{", "(").replace("}", ")")
    sent = task(name="read", task_run_name=name, persist_result=False, cache_policy=NO_CACHE)(do_errand)
    done, loop = asyncio.Event(), asyncio.get_running_loop()
    future = runner.submit(sent, parameters={"errand": errand})
    future.add_done_callback(lambda _future: loop.call_soon_threadsafe(done.set))
    while not done.is_set():
        if stop_requested():
            raise StoppedError
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), POLL_SECONDS)
    told = await asyncio.to_thread(future.result, raise_on_failure=False)
    if isinstance(told, Exception):
        raise told
    account: Account = told
    return account
