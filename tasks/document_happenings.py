"""What is told of a document while it is read: that it began, and what became of it."""

from __future__ import annotations

import time

from tasks.happenings import DocumentBegan, DocumentEnded, tell
from tasks.outcomes import Outcome
from tasks.planning import DocumentWork
from tasks.step import workplace


def document_began(work: DocumentWork) -> float:
    """Tell that a document is being read; return the moment, for its end."""
    tell(DocumentBegan(workplace.get().run_id, work.document_id, work.name))
    return time.monotonic()


def document_ended(work: DocumentWork, outcome: Outcome, *, began: float) -> None:
    """Tell what became of it."""
    graph = outcome.graph
    tell(
        DocumentEnded(
            run=workplace.get().run_id,
            document=work.document_id,
            name=work.name,
            state=outcome.state.value,
            pages=len(graph.pages) if graph else 0,
            nodes=len(graph.nodes) if graph else 0,
            seconds=time.monotonic() - began,
            error=outcome.told,
        )
    )
