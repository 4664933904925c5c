"""The texts of an open snapshot as questions have read them: coded once, kept for the next question, up to a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from storage.snapshot import Snapshot
from tasks.algorithms.counting import CodedTexts, Codes, Vocabulary, code_texts

KEPT_TEXTS = 20_000
"""A coded text of 80 words takes less than half a kilobyte."""
KEPT_CHUNKS = 200_000
"""What so many chunks between spaces were read as takes some 60 MB; then all is forgotten, and the common ones soon come back."""


class ReadTexts:
    """Coded texts by what names them, all by one vocabulary; safe to ask from many threads."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._forget()
        self._lock = threading.Lock()

    def coded(self, kind: str, ids: Sequence[str], texts: Sequence[str]) -> CodedTexts:
        """Return the texts of the nodes coded; `kind` tells one text of a node from another."""
        with self._lock:
            if len(self._vocabulary) > KEPT_CHUNKS:
                self._forget()
            known = {name: self._texts[kind, name] for name in ids if (kind, name) in self._texts}
            new = [(name, text) for name, text in zip(ids, texts, strict=True) if name not in known]
            for (name, _), codes in zip(new, code_texts([text for _, text in new], self._vocabulary), strict=True):
                self._texts[kind, name] = known[name] = codes
            while len(self._texts) > KEPT_TEXTS:
                self._texts.popitem(last=False)
            return CodedTexts.of([known[name] for name in ids], self._vocabulary)

    def coded_once(self, texts: Sequence[str]) -> CodedTexts:
        """Return texts coded that are kept by whoever asks."""
        with self._lock:
            return CodedTexts.of(code_texts(texts, self._vocabulary), self._vocabulary)

    def _forget(self) -> None:
        self._vocabulary = Vocabulary()
        self._texts: OrderedDict[tuple[str, str], Codes] = OrderedDict()


_of_snapshots: WeakKeyDictionary[Snapshot, ReadTexts] = WeakKeyDictionary()
_looking = threading.Lock()


def read_texts(snapshot: Snapshot) -> ReadTexts:
    """Return what the questions of this snapshot have read."""
    with _looking:
        return _of_snapshots.setdefault(snapshot, ReadTexts())
