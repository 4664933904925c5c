"""The texts of an open snapshot as questions have read them: coded once, kept for the next question, up to a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from storage.snapshot import Snapshot
from tasks.algorithms.coded_texts import UNKNOWN, CodedText, CodedTexts, Vocabulary, code_text

KEPT_TEXTS = 20_000
"""A coded text of 80 words takes about a kilobyte."""


class ReadTexts:
    """Coded texts by what names them, and the codes of all stems seen; safe to ask from many threads."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._vocabulary = Vocabulary()
        self._texts: OrderedDict[tuple[str, str], CodedText] = OrderedDict()
        self._lock = threading.Lock()

    def coded(self, kind: str, ids: Sequence[str], texts: Sequence[str]) -> CodedTexts:
        """Return the texts of the nodes coded; `kind` tells one text of a node from another."""
        with self._lock:
            found = [self._texts.get((kind, name)) or self._read(kind, name, text) for name, text in zip(ids, texts, strict=True)]
            while len(self._texts) > KEPT_TEXTS:
                self._texts.popitem(last=False)
        return CodedTexts.of(found)

    def coded_once(self, texts: Sequence[str]) -> CodedTexts:
        """Return texts coded that are kept by whoever asks."""
        with self._lock:
            return CodedTexts.of([code_text(text, self._vocabulary) for text in texts])

    def code(self, stem: str) -> int:
        """Return the code of a stem, UNKNOWN where no text that was read holds it."""
        return self._vocabulary.codes.get(stem, UNKNOWN)

    def _read(self, kind: str, name: str, text: str) -> CodedText:
        self._texts[kind, name] = coded = code_text(text, self._vocabulary)
        return coded


_of_snapshots: WeakKeyDictionary[Snapshot, ReadTexts] = WeakKeyDictionary()
_looking = threading.Lock()


def read_texts(snapshot: Snapshot) -> ReadTexts:
    """Return what the questions of this snapshot have read: always the same, for in another vocabulary a code is another stem."""
    with _looking:
        return _of_snapshots.setdefault(snapshot, ReadTexts())
