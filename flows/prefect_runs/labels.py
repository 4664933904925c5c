"""Names and tags of flow runs in Prefect's UI."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from storage.text import shorten
from tasks.asking.request import clean
from tasks.evaluation.plan import probed_corpus

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
            # Several may notice the kill: the run's own process, the one that serves it, the one that starts next.
            idempotency_key=f"{flow_run.id} again",
        )


@contextmanager
def log_failures(what: str) -> Iterator[None]:
    """Log that `what` could not be kept, where the block fails; use it inside a run of a flow or a task only."""
    try:
        yield
    except Exception as error:
        # Its kind alone: a message may hold the address of a server, and that a password.
        get_run_logger().warning("%s could not be kept (%s); the work of this run is done, and stays", what, type(error).__name__)


LONGEST_NAME = 120
"""Characters of a run's name that fit into a list in the UI."""


def name_asking_run() -> str:
    """Return the first question, and how many come after it."""
    return name_first(flow_run.parameters["request"].questions)


def name_reading_run() -> str:
    """Return the first folder, and how many come after it."""
    return name_first(flow_run.parameters["request"].paths)


def name_measuring_run() -> str:
    """Return what is measured, and on which dataset or corpus."""
    request = flow_run.parameters["request"]
    return shorten(clean(f"{request.table or request.what} of {request.dataset or probed_corpus(request)}"), LONGEST_NAME)


def name_maintaining_run() -> str:
    """Return the first corpus to maintain, and how many come after it, or "every corpus"."""
    corpora = flow_run.parameters["request"].corpora
    return f"maintain {name_first(corpora) if corpora else 'every corpus'}"


def name_first(things: Sequence[str]) -> str:
    """Return the first, fit to be shown, and how many more there are; "nothing" for none."""
    more = f" and {len(things) - 1} more" if len(things) > 1 else ""
    return shorten(clean(things[0]), LONGEST_NAME) + more if things else "nothing"


async def tag_run(*tags: str) -> None:
    """Add tags to the current run; if it has them, the server is not asked."""
    wanted = {*flow_run.tags, *tags}
    if wanted != set(flow_run.tags):
        async with get_client() as client:
            await client.update_flow_run(flow_run.id, tags=sorted(wanted))
