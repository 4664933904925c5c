"""What `lineage` does, between the parsed arguments and what is shown. It does not need Prefect."""

from __future__ import annotations

import argparse

from flows.showing import Output
from storage.locations import corpus_location
from storage.snapshot import open_for_reading
from tasks.planning import displayed

WELL = 0


def lineage(arguments: argparse.Namespace, output: Output) -> int:
    """Walk from an answer to the bytes it stands on, from a document to its answers, or through a run."""
    from flows.lineage_tables import show_walk
    from tasks.lineage_walk import walk

    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        found = walk(snapshot, displayed(arguments.named))
    show_walk(found, output)
    return WELL
