"""A flow from the command line: a Prefect run, with a temporary server where none is configured."""

import asyncio
import pkgutil
from typing import Any, cast

from flows.cli.loading import end_by_ctrl_c
from flows.display.output import STOPPED
from flows.prefect_runs.interruption import cancel_cut_off
from flows.prefect_runs.server import prefect_server, send_last_events
from storage.records.evaluations import Evaluation
from storage.system import bound_arenas
from tasks.evaluation.arms import EvaluationRequest
from tasks.ingest.report import IngestReport
from tasks.ingest.request import EvolveRequest, ReadingRequest
from tasks.parsing.supervisor import CHILDREN


class RunEndedError(RuntimeError):
    """The chat model was gone, or the budget used up, before the run was done; finished work is kept."""


def run_ingest(request: ReadingRequest) -> IngestReport | None:
    """Run the flow and return its report; None if the user stopped it. Raise RunEndedError as `_run`."""
    flow = "flows.evolve:evolve" if isinstance(request, EvolveRequest) else "flows.ingest:ingest"
    return cast(IngestReport | None, _run(flow, request))


def run_evaluation(request: EvaluationRequest) -> Evaluation | None:
    return cast(Evaluation | None, _run("flows.evaluate:evaluate", request))


def _run(named: str, request: Any) -> object:  # noqa: ANN401 - what the flow takes
    """Run a flow; return None if the user stopped it, raise RunEndedError if it lost its model or budget."""
    bound_arenas()
    with end_by_ctrl_c(STOPPED), prefect_server() as wait_until_ready:
        # Slow to import, while the server starts.
        CHILDREN.warm()
        import lancedb  # noqa: F401
        from prefect.exceptions import CancelledRun, FailedRun

        flow = pkgutil.resolve_name(named)
        wait_until_ready()
        try:
            return asyncio.run(flow(request))
        except CancelledRun:
            return None
        except FailedRun as error:
            raise RunEndedError(str(error)) from error
        finally:
            send_last_events()
            cancel_cut_off()
