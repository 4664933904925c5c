"""Leases between processes: another one that holds the lease of the corpus `shared`, and what this one tries."""

import subprocess
import sys
from contextlib import contextmanager

from storage.lease import take_lease
from storage.lease_terms import NAME, read_terms

GOOD = 0.6
"""So short a lease is here: deaths need little waiting."""


@contextmanager
def held_elsewhere(good_seconds=GOOD):
    """Another process that holds the lease."""
    command = [sys.executable, "-m", "tests.storage.lease_holder", str(good_seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline().strip().isdigit()
        try:
            yield child
        finally:
            child.kill()


def take(store, wait_seconds=0.0, known_fence=int, dead=None):
    return take_lease(store, "shared", wait_seconds=wait_seconds, known_fence=known_fence, dead=dead)


def held(store):
    return read_terms(store.read(NAME).data)
