"""What the first question of a process would wait for, loaded before it comes."""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from typing import TypeVar

from storage.catalog.in_use import corpora_in
from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.locations import CorpusLocation, corpora_folder
from tasks.asking.deciding import code_identity
from tasks.models.embedding.embedder import open_question_embedder, open_second
from tasks.settings.models import ModelSettings

T = TypeVar("T")


async def enter_in_thread(held: ExitStack, opening: AbstractContextManager[T]) -> T:
    """Enter in a thread, until `held` is closed.

    A question that is cancelled meanwhile ends at once; what the thread opens then is closed again.
    """
    # no task: what ends with its loop would not see what the thread opens
    entering = asyncio.get_running_loop().run_in_executor(None, held.enter_context, opening)

    def let_go(entered: asyncio.Future[T]) -> None:
        entered.exception()  # one that nobody looks at is printed
        held.close()

    try:
        return await asyncio.shield(entering)
    except asyncio.CancelledError:
        entering.add_done_callback(let_go)
        raise


@asynccontextmanager
async def open_in_thread(location: CorpusLocation) -> AsyncIterator[Snapshot]:
    """Pin the published snapshot and open it, in a thread; raise as `open_for_reading` does."""
    with ExitStack() as held:
        yield await enter_in_thread(held, open_for_reading(location))


LOGGER = logging.getLogger(__name__)
SOLVERS = ("ortools.graph.python.max_flow", "ortools.graph.python.min_cost_flow")


def warm_up_questions() -> None:
    """Load the solvers, what the kept answers go by, and the embedder and the graph of every corpus that can be read."""
    for name in SOLVERS:
        importlib.import_module(name)
    code_identity()
    for location in corpora_in(corpora_folder()):
        try:
            warm_up_corpus(location)
        except Exception as error:
            # Whatever is wrong with a corpus, the question that asks will say so.
            LOGGER.warning("corpus %s could not be loaded before it is asked (%s)", location.name, type(error).__name__)


def warm_up_corpus(location: CorpusLocation) -> None:
    """Load what a question of the corpus needs; raise what the question would."""
    with open_for_reading(location) as snapshot:
        open_question_embedder(snapshot.embedder).embed_query("anything")
        if second := open_second(snapshot.embedder, ModelSettings()):
            second.embed_query("anything")
        assert snapshot.view
