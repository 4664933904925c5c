"""How often two words that stand next to each other in a question do so in texts: what BM25 counts beside the words themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from tasks.algorithms.kept_stems import kept_stems
from tasks.algorithms.term_counts import Counts, count_terms

Pair = tuple[str, str]


def neighbouring_pairs(stems_in_order: Sequence[str]) -> tuple[Pair, ...]:
    """Return the pairs of stems that follow each other, each once, in the order asked; fewer than two stems have none.

    Args:
        stems_in_order: as `asked_stems` finds them: with repetitions, and a compound by its parts only.
    """
    return tuple(dict.fromkeys(pairwise(stems_in_order)))


def count_pairs(texts: Sequence[str], pairs: Sequence[Pair], *, stems: Sequence[str], counts: Counts) -> Counts:
    """Return how often each of p pairs occurs in each of n texts, as (n, p): its stems follow each other, in this order.

    Words that say nothing and signs may stand between them, sentences may end there. A compound counts by its parts, so that
    "debt-to-equity" holds debt and equity side by side.

    Args:
        texts: the n texts.
        pairs: each once.
        stems: m distinct stems; those of all pairs are among them, else ValueError.
        counts: (n, m), how often `count_terms` found each in each text; only texts with both stems of a pair are looked at.
    """
    found = np.zeros((len(texts), len(pairs)), dtype=np.int32)
    rows = np.flatnonzero(_holding_both(pairs, stems, counts).any(axis=1)).tolist()
    chunked = [texts[row].split() for row in rows]
    kept = _kept_by_chunk(set(chain.from_iterable(chunked)), sorted({stem for pair in pairs for stem in pair}))
    columns = {pair: column for column, pair in enumerate(pairs)}
    for row, chunks in zip(rows, chunked, strict=True):
        for pair in _pairs_in(chunks, kept):
            if pair in columns:
                found[row, columns[pair]] += 1
    return found


def _holding_both(pairs: Sequence[Pair], stems: Sequence[str], counts: Counts) -> npt.NDArray[np.bool_]:
    """Return which texts hold both stems of each pair, as (n, p)."""
    columns = {stem: column for column, stem in enumerate(stems)}
    missing = sorted({stem for pair in pairs for stem in pair} - columns.keys())
    if missing:
        raise ValueError(f'the stem "{missing[0]}" of a pair was not counted; count the stems of all pairs')
    held = counts > 0
    first, second = ([columns[pair[side]] for pair in pairs] for side in (0, 1))
    return np.asarray(held[:, first] & held[:, second])


def _kept_by_chunk(vocabulary: Iterable[str], wanted: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the stems in each chunk between spaces that holds a wanted one; few do, and to read the others would take long."""
    chunks = list(vocabulary)
    holding = np.flatnonzero(count_terms(chunks, wanted)[0].any(axis=1)).tolist()
    return {chunks[place]: kept_stems(chunks[place], named=wanted) for place in holding}


def _pairs_in(chunks: Sequence[str], kept: Mapping[str, tuple[str, ...]]) -> Iterator[Pair]:
    """Yield the neighbours among the stems of the chunks in `kept`; all that says something parts them."""
    before: str | None = None
    for chunk in chunks:
        if chunk in kept:
            for stem in kept[chunk]:
                if before is not None:
                    yield before, stem
                before = stem
        elif before is not None and not _says_nothing(chunk):
            before = None


@lru_cache(maxsize=2**16)
def _says_nothing(chunk: str) -> bool:
    return not kept_stems(chunk, named=())
