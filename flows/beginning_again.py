"""A deployed run whose process was killed begins again by itself, once: what kills its process must not do so for ever."""

from __future__ import annotations

from typing import Any

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State

AGAIN = "begun again"
"""The tag of a run that does the rest of one that crashed."""


async def begin_again(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ANN401 - Prefect names the arguments
    """Have a deployment run the same request once more; a run that no deployment made, or that began again, ends here."""
    if flow_run.deployment_id is None or AGAIN in flow_run.tags:
        return
    async with get_client() as client:
        await client.create_flow_run_from_deployment(
            flow_run.deployment_id,
            parameters=flow_run.parameters,
            tags=[AGAIN],
            # Who killed it may be seen by several: the run's own process, who serves it, who starts next.
            idempotency_key=f"{flow_run.id} again",
        )
