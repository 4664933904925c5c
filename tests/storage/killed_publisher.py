"""A writer that is killed at its n-th call of a function of storage: `python -m tests.storage.killed_publisher FOLDER N`.

It prints `acknowledged NAME` after each publish that returned.
"""

import os
import signal
import sys
from pathlib import Path

from storage import artifacts, lock
from storage.catalog import catalog, current
from storage.cleaning import snapshots
from storage.corpus import reconciling, writer
from storage.corpus.writer import open_for_writing
from storage.graph import store
from tests.storage.worlds import EMBEDDER, corpus_in, graph, link, publish

WATCHED = (artifacts, catalog, current, lock, reconciling, store, snapshots, writer)


def kill_at(call: int) -> list[int]:
    """Send SIGKILL to ourselves at the entry or the return of a watched function, counted from 1; return the counter."""
    files = {module.__file__ for module in WATCHED}
    counter = [0]

    def count(frame, event, argument):
        if event in ("call", "return") and frame.f_code.co_filename in files:
            counter[0] += 1
            if counter[0] == call:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    return counter


def say(*words: object) -> None:
    """Print a line that a kill right after it does not lose."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def ingest(folder: Path) -> None:
    """What an ingest of two documents does."""
    report, letter = graph("report"), graph("letter")
    with open_for_writing(corpus_in(folder), embedder=EMBEDDER, wait_seconds=0) as corpus:
        for message in corpus.messages:
            say("message", message)
        known = {document.id for document in corpus.documents()}
        if report.document_id not in known:
            publish(corpus, report)
        say("acknowledged", report.document_id)
        if letter.document_id not in known:
            publish(corpus, letter, cross_edges=link(report, letter))
        say("acknowledged", letter.document_id)
        corpus.index()
        corpus.tidy(keep_seconds=0)


if __name__ == "__main__":
    kill_at(int(sys.argv[2]))
    ingest(Path(sys.argv[1]))
