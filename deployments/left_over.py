"""Runs that a killed predecessor left: Prefect says that they are at work, and would keep their place from the next for ever."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import State, StateType
from prefect.states import Cancelled, Crashed

from flows.beginning_again import begin_again
from storage.at_work import killed_runs
from storage.corpora import corpora_in
from storage.locations import corpora_folder

AT_WORK = [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]
KILLED = "its process was killed; what it finished is kept"


async def end_what_was_killed(served: Mapping[UUID, bool], *, alone: bool) -> int:
    """Have Prefect know which runs of these deployments were killed, and return how many there were.

    `served` says of each deployment whether its killed runs begin again. Without `alone`, another machine may be at work for the
    same server: only those runs count that our own ledger knows as killed.
    """
    wanted = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=list(served)),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=AT_WORK)),
    )
    known = _killed_ids()
    async with get_client() as client:
        found = [run for run in await client.read_flow_runs(flow_run_filter=wanted) if alone or str(run.id) in known]
        for run in found:
            cancelled = run.state_type is StateType.CANCELLING
            state: State[None] = Cancelled(message=KILLED) if cancelled else Crashed(message=KILLED)
            await client.set_flow_run_state(run.id, state, force=True)
            if not cancelled and run.deployment_id is not None and served[run.deployment_id]:
                await begin_again(None, run, state)
    return len(found)


def _killed_ids() -> set[str]:
    return {each.path.stem for corpus in corpora_in(corpora_folder()) for each in killed_runs(corpus)}
