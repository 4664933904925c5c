"""Keeping the memory of a long run flat: glibc gives back what it was not asked to keep."""

import ctypes
import sys

M_ARENA_MAX = -8
ARENAS = 2


def bound_arenas() -> None:
    """Let threads share two heaps. By default each of a run's thirty threads may grow one of its own, and none shrinks."""
    if sys.platform == "linux":
        getattr(ctypes.CDLL(None), "mallopt", lambda *_: 1)(M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Return free memory to the system; after a batch was published most of what it took is free, but kept."""
    if sys.platform == "linux":
        getattr(ctypes.CDLL(None), "malloc_trim", lambda *_: 1)(0)
