"""Serves what prefect.yaml declares, questions apart, without a work pool: `PREFECT_API_URL=... python -m deployments.serve`.

Each run is a process of its own, which ends in order where it is cancelled or this process is ended.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from types import FrameType
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import State, StateType
from prefect.deployments.runner import RunnerDeployment
from prefect.flows import load_flow_from_entrypoint
from prefect.runner import Runner
from prefect.states import Cancelled, Crashed

from deployments.automations import apply_automations
from deployments.children import ALONE, kill_all, say_ready
from deployments.declared import read_deployments
from flows.prefect_runs.interruption import run_beside
from flows.prefect_runs.labels import begin_again
from flows.prefect_runs.server import START_SECONDS, require_configured_server
from storage.catalog.in_use import corpora_in
from storage.errors import ExpectedError
from storage.locations import corpora_folder
from storage.runs.at_work import find_killed_runs
from tasks.settings.environment import check_environment
from tasks.watching.metrics_endpoint import shows_all

POLL_SECONDS = 1
"""Between polls of the server: a run that a user waits for begins at once."""

PATIENCE_SECONDS = 10.0
"""The longest that a run takes to end in order."""

AT_WORK = [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]
KILLED = "its process was killed; what it finished is kept"

NEWS = ("made", "changed")
"""The changes of automations that are shown; `prefect automation ls` shows all of them."""


def main() -> int:
    """Serve until SIGTERM; return 1 for a wrong name in the environment, or where a log or metrics cannot be written."""
    try:
        check_environment()
        # Questions are answered by a process that stays: deployments.questions.
        served = [one for one in read_deployments() if one.name != "ask"]
        # Everything slow is loaded by now: a server that is starting does so meanwhile.
        require_configured_server(START_SECONDS)
        applied = apply_automations()
        with shows_all():
            sys.stdout.writelines(f"automation {name}: {what}\n" for name, what in applied.items() if what in NEWS)
            serve(served)
    except ExpectedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def serve(served: Sequence[RunnerDeployment]) -> None:
    runner = Runner(name="flowreader", query_seconds=POLL_SECONDS, pause_on_shutdown=False)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(register(runner, served))

    def end(_number: int, _frame: FrameType | None) -> None:
        cut = threading.Timer(PATIENCE_SECONDS, _cut_off)
        cut.daemon = True
        cut.start()
        asyncio.run_coroutine_threadsafe(runner.astop(), loop)

    signal.signal(signal.SIGTERM, end)
    say_ready("ready", ", ".join(f"{one.flow_name}/{one.name}" for one in served))
    # In the main thread it would handle SIGTERM itself, and Prefect 3.8 then forgets its runs.
    run_beside(lambda: loop.run_until_complete(runner.start()))


async def register(runner: Runner, served: Sequence[RunnerDeployment]) -> None:
    """Declare the deployments and their killed runs to the server; restart those of flows with `begin_again`."""
    begin = {
        await runner.aadd_deployment(one): begin_again in load_flow_from_entrypoint(str(one.entrypoint)).on_crashed_hooks
        for one in served
    }
    await end_what_was_killed(begin, alone=ALONE in sys.argv[1:])


async def end_what_was_killed(served: Mapping[UUID, bool], *, alone: bool) -> None:
    """Mark killed runs of these deployments.

    `served` says for each deployment whether its killed runs begin again. Without `alone`, another machine may work for the
    same server: only runs that our own ledger knows as killed count.
    """
    wanted = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=list(served)),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=AT_WORK)),
    )
    known = {each.path.stem for corpus in corpora_in(corpora_folder()) for each in find_killed_runs(corpus)}
    async with get_client() as client:
        found = [run for run in await client.read_flow_runs(flow_run_filter=wanted) if alone or str(run.id) in known]
        for run in found:
            cancelled = run.state_type is StateType.CANCELLING
            state: State[None] = Cancelled(message=KILLED) if cancelled else Crashed(message=KILLED)
            await client.set_flow_run_state(run.id, state, force=True)
            if not cancelled and run.deployment_id is not None and served[run.deployment_id]:
                await begin_again(None, run, state)


def _cut_off() -> None:
    # A server that is gone keeps Prefect waiting; what is not published is not visible, so that a cut costs the steps in flight.
    kill_all()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
