"""Columns of nodes by position, as numpy arrays; what was read lately is kept, so that questions do not read it again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from storage.adjacency import IntArray

Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
ReadColumns = Callable[[IntArray, Sequence[str]], Mapping[str, Values]]
"""Reads columns of the nodes at these positions, which ascend; the values come in their order."""


class WholeColumns:
    """The columns of a small graph, each read whole when it is first asked for; safe to call from many threads."""

    def __init__(self, read: ReadColumns, *, nodes: int) -> None:
        self._read = read
        self._nodes = nodes
        self._kept: dict[str, Values] = {}
        self._lock = threading.Lock()

    def take(self, positions: IntArray, columns: Sequence[str]) -> dict[str, Values]:
        """Return the columns' values at the positions, in their order."""
        with self._lock:
            unread = [name for name in columns if name not in self._kept]
            if unread:
                self._kept.update(self._read(np.arange(self._nodes), unread))
            return {name: self._kept[name][positions] for name in columns}


class NodeColumns:
    """A bounded store of column values, filled as they are asked for; safe to call from many threads."""

    def __init__(self, read: ReadColumns, *, nodes: int, capacity: int) -> None:
        """Keep what was read of at most `capacity` out of `nodes` nodes; those kept longest go first."""
        self._read = read
        self._slots = np.full(nodes, -1, np.int32)
        self._owners = np.full(min(capacity, nodes), -1, np.int64)
        self._next = 0
        self._kept: dict[str, tuple[Values, Mask]] = {}
        self._lock = threading.Lock()

    def take(self, positions: IntArray, columns: Sequence[str]) -> dict[str, Values]:
        """Return the columns' values at the positions, in their order; what is not kept is read in one go."""
        with self._lock:
            found = {name: self._look(name, positions) for name in columns if name in self._kept}
        lacking = {name: ~found[name][1] if name in found else np.ones(len(positions), bool) for name in columns}
        unread = [name for name in columns if name not in found or lacking[name].any()]
        taken = {name: values for name, (values, _) in found.items()}
        if unread:
            missing = np.unique(positions[np.any([lacking[name] for name in unread], axis=0)])
            fresh = self._read(missing, unread)
            with self._lock:
                self._keep(missing, {name: fresh[name] for name in unread})
            for name in unread:
                taken[name] = _filled(taken.get(name), positions, lacking[name], missing, fresh[name])
        return taken

    def _look(self, name: str, positions: IntArray) -> tuple[Values, Mask]:
        slots = self._slots[positions]
        values, filled = self._kept[name]
        return values[slots], (slots >= 0) & filled[slots]

    def _keep(self, positions: IntArray, fresh: Mapping[str, Values]) -> None:
        """Keep the values; of more than there is room for, the last."""
        self._make_room(positions[self._slots[positions] < 0][-len(self._owners) :])
        slots = self._slots[positions]
        roomy = slots >= 0
        for name, values in fresh.items():
            if name not in self._kept:
                room = len(self._owners)
                self._kept[name] = np.empty((room, *values.shape[1:]), values.dtype), np.zeros(room, bool)
            kept, filled = self._kept[name]
            kept[slots[roomy]] = values[roomy]
            filled[slots[roomy]] = True

    def _make_room(self, positions: IntArray) -> None:
        slots = (self._next + np.arange(len(positions))) % max(len(self._owners), 1)
        gone = self._owners[slots]
        self._slots[gone[gone >= 0]] = -1
        self._slots[positions] = slots
        self._owners[slots] = positions
        self._next = int((self._next + len(positions)) % max(len(self._owners), 1))
        for _values, filled in self._kept.values():
            filled[slots] = False


def _filled(values: Values | None, positions: IntArray, lacking: Mask, read: IntArray, fresh: Values) -> Values:
    whole = np.empty((len(positions), *fresh.shape[1:]), fresh.dtype) if values is None else values
    whole[lacking] = fresh[np.searchsorted(read, positions[lacking])]
    return whole
