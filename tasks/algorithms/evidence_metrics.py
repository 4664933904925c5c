"""What a set of pages is worth as evidence: whether it holds all that the answer needs, and how much else."""

from __future__ import annotations

from collections.abc import Collection, Hashable


def gold_pages(gold: Collection[Hashable]) -> frozenset[Hashable]:
    """Return the pages that hold the answer; ValueError where there is none, for then no set of pages can be judged."""
    if not gold:
        raise ValueError("the gold pages are empty; measure only questions whose evidence is known")
    return frozenset(gold)


def perfect_recall(*, returned: Collection[Hashable], gold: Collection[Hashable]) -> float:
    """Return 1 where every gold page was returned, else 0 (LAD-RAG, section 3.3)."""
    return float(gold_pages(gold) <= frozenset(returned))


def recall(*, returned: Collection[Hashable], gold: Collection[Hashable]) -> float:
    """Return the share of the gold pages that were returned, in [0, 1]."""
    wanted = gold_pages(gold)
    return len(wanted.intersection(returned)) / len(wanted)


def irrelevant_ratio(*, returned: Collection[Hashable], gold: Collection[Hashable]) -> float:
    """Return the share of the returned pages that are not gold, in [0, 1] (LAD-RAG, section 3.3); 1 where none was returned.

    The paper leaves the empty set open. At 0 a reader would look the cleaner the more often it gave up; at 1 the ratio stays what
    it is elsewhere, 1 less the precision, and precision counts an empty set as 0.
    """
    wanted, pages = gold_pages(gold), frozenset(returned)
    return len(pages - wanted) / len(pages) if pages else 1.0
