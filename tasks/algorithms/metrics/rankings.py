"""What a set or a ranking of pages is worth as evidence, also cut to as many pages as another reader returned."""

import math
from collections import Counter
from collections.abc import Collection, Hashable, Sequence

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray


def gold_pages(gold: Collection[Hashable]) -> frozenset[Hashable]:
    """Return the pages that hold the answer; ValueError where there is none, for then no set of pages can be judged."""
    if not gold:
        raise ValueError("the gold pages are empty; measure only questions with known evidence")
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


def ranking_metrics(*, ranked: Sequence[Hashable], gold: Collection[Hashable], cutoffs: Sequence[int]) -> dict[str, float]:
    """Return `recall@K`, `precision@K`, `ndcg@K` and `mrr@K`, each in [0, 1], for each K of `cutoffs`.

    `mrr@K` is the reciprocal rank of this one question; its mean over questions gives the metric its name. `ndcg@K` sums to
    min(n, K) for n gold pages, as MoLoRAG does: a gold page below rank n counts nothing, and with one gold page `ndcg@5` is
    `ndcg@1`. The usual nDCG sums to K; the two agree for K <= n.

    The ranking may be shorter than K; precision divides by K all the same. Cutoffs are at least 1. A page that comes twice and no
    gold page raise ValueError.
    """
    twice = [page for page, times in Counter(ranked).items() if times > 1]
    if twice:
        raise ValueError(f"the ranking names page {twice[0]!r} twice; keep the better place of it")
    wanted = gold_pages(gold)
    hits = np.zeros(max(cutoffs, default=0))
    hits[: len(ranked)] = [page in wanted for page in ranked[: len(hits)]]
    metrics: dict[str, float] = {}
    for cutoff in cutoffs:
        found = float(hits[:cutoff].sum())
        metrics[f"recall@{cutoff}"] = found / len(wanted)
        metrics[f"precision@{cutoff}"] = found / cutoff
        metrics[f"ndcg@{cutoff}"] = _discounted_gain(hits[: min(len(wanted), cutoff)])
        metrics[f"mrr@{cutoff}"] = 1.0 / (1 + int(np.argmax(hits[:cutoff]))) if found else 0.0
    return metrics


def _discounted_gain(hits: FloatArray) -> float:
    """Return DCG / IDCG of the ranks given, in [0, 1]; 1 exactly where each is a hit."""
    discounts = 1.0 / np.log2(np.arange(len(hits)) + 2.0)
    return float((hits * discounts).sum() / discounts.sum())


def recall_at_mean(*, ranked: Sequence[Hashable], gold: Collection[Hashable], mean_pages: float) -> float:
    """Return the expected perfect recall where the ranking is cut at the whole numbers about `mean_pages`, in [0, 1]."""
    cuts = shares_of_cut(mean_pages)
    return math.fsum(share * perfect_recall(returned=ranked[:pages], gold=gold) for pages, share in cuts)


def shares_of_cut(mean: float) -> tuple[tuple[int, float], ...]:
    """Return where to cut, and how often, so that the mean is `mean`: 5.4 is 5 pages at 0.6 and 6 pages at 0.4, and 5 is 5 at 1.

    Weighing both cuts by their shares is what drawing one of them for each question comes to, without the luck of the draw.
    """
    below = math.floor(mean)
    above_share = mean - below
    return ((below, 1.0 - above_share), (below + 1, above_share)) if above_share else ((below, 1.0),)


def cut_of_mean(*, lengths: IntArray, mean: float) -> float:
    """Return the one number at which to cut all rankings so that they keep `mean` pages on average.

    It is above the mean where some rankings are shorter than that: cut at the mean itself, all together would keep less
    than the reader that they are compared with, and lose for that alone.

    The cut, from 0 to the longest ranking, is the `mean_pages` of `recall_at_mean`. There is a ranking, and the mean is at most
    that of the lengths.
    """
    # What is kept on average rises with the cut along straight lines that bend only at the lengths.
    bends = np.unique(np.append(lengths, 0))
    kept = [float(np.minimum(lengths, bend).mean()) for bend in bends]
    return float(np.interp(mean, kept, bends))
