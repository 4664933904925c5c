"""What a ranking would have found with as many pages as another reader returned: the comparison that routing has to win."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence

import numpy as np

from tasks.algorithms.arrays import IntArray, require_range
from tasks.algorithms.evidence_metrics import irrelevant_ratio, perfect_recall
from tasks.algorithms.ranking_metrics import require_distinct


def recall_when_cut(*, ranked: Sequence[Hashable], gold: Collection[Hashable], pages: int) -> float:
    """Return the perfect recall of the first `pages` of the ranking, of all of it where it is shorter; 0 or 1."""
    return perfect_recall(returned=first_pages(ranked=ranked, pages=pages), gold=gold)


def irrelevant_when_cut(*, ranked: Sequence[Hashable], gold: Collection[Hashable], pages: int) -> float:
    """Return the irrelevant ratio of the first `pages` of the ranking, of all of it where it is shorter, in [0, 1]."""
    return irrelevant_ratio(returned=first_pages(ranked=ranked, pages=pages), gold=gold)


def recall_at_mean(*, ranked: Sequence[Hashable], gold: Collection[Hashable], mean_pages: float) -> float:
    """Return the expected perfect recall where the ranking is cut at the whole numbers about `mean_pages`, in [0, 1]."""
    cuts = shares_of_cut(mean_pages)
    return math.fsum(share * recall_when_cut(ranked=ranked, gold=gold, pages=pages) for pages, share in cuts)


def first_pages(*, ranked: Sequence[Hashable], pages: int) -> Sequence[Hashable]:
    """Return the first `pages` of the ranking, all of it where it is shorter.

    Raises:
        ValueError: fewer than 0 pages, a page that comes twice.
    """
    require_distinct(ranked)
    if pages < 0:
        raise ValueError(f"a ranking cannot be cut at {pages} pages; give 0 or more")
    return ranked[:pages]


def shares_of_cut(mean: float) -> tuple[tuple[int, float], ...]:
    """Return where to cut, and how often, so that the mean is `mean`: 5.4 is 5 pages at 0.6 and 6 pages at 0.4, and 5 is 5 at 1.

    Weighing both cuts by their shares is what drawing one of them for each question comes to, without the luck of the draw.

    Raises:
        ValueError: a mean below 0, or none.
    """
    require_range(name="mean number of pages", values=mean, low=0.0, high=math.inf)
    below = math.floor(mean)
    above_share = mean - below
    return ((below, 1.0 - above_share), (below + 1, above_share)) if above_share else ((below, 1.0),)


def cut_of_mean(*, lengths: IntArray, mean: float) -> float:
    """Return the one number at which to cut all rankings so that they keep `mean` pages on average.

    It is above the mean where some rankings are too short to keep so many: cut at the mean itself, all together would keep less
    than the reader that they are compared with, and lose for that alone.

    Args:
        lengths: (n,), pages of each ranking, n at least 1.
        mean: from 0 to the mean of the lengths.

    Returns:
        The cut, to be given to `recall_at_mean` as `mean_pages`, from 0 to the longest ranking.

    Raises:
        ValueError: no rankings, a mean that all their pages do not reach.
    """
    if not len(lengths):
        raise ValueError("there is no ranking to cut; give the length of at least one")
    require_range(name="mean number of pages", values=mean, low=0.0, high=float(lengths.mean()))
    # What is kept on average rises with the cut along straight lines that bend only at the lengths.
    bends = np.unique(np.append(lengths, 0))
    kept = [float(np.minimum(lengths, bend).mean()) for bend in bends]
    return float(np.interp(mean, kept, bends))
