"""What is told of a document while it is read: that it began, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from tasks.happenings import DocumentBegan, DocumentEnded, tell
from tasks.outcomes import Outcome
from tasks.planning import DocumentWork
from tasks.progress import is_broken_off
from tasks.step import workplace


@contextmanager
def watched_document(work: DocumentWork) -> Iterator[Callable[[Outcome], None]]:
    """Tell that a document is being read, and when the block ends the outcome that was given.

    Where the block raises, no document came of it: it was `stopped`, or `failed` with what ends the whole run.
    """
    run, began = workplace.get().run_id, time.monotonic()
    end = DocumentEnded(run, work.document_id, work.name, state="failed", pages=0, nodes=0, seconds=0.0, error="")

    def take(outcome: Outcome) -> None:
        nonlocal end
        graph = outcome.graph
        pages, nodes = (len(graph.pages), len(graph.nodes)) if graph else (0, 0)
        end = replace(end, state=outcome.state.value, pages=pages, nodes=nodes, error=outcome.told)

    tell(DocumentBegan(run, work.document_id, work.name))
    try:
        yield take
    except BaseException as problem:
        stopped = is_broken_off(problem)
        end = replace(end, state="stopped" if stopped else "failed", error="" if stopped else type(problem).__name__)
        raise
    finally:
        tell(replace(end, seconds=time.monotonic() - began))
