"""How well pages are ranked: recall, precision, nDCG and reciprocal rank of the first K (MoLoRAG, appendix D.1)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np

from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.evidence_metrics import gold_pages


def ranking_metrics(*, ranked: Sequence[Hashable], gold: Collection[Hashable], cutoffs: Sequence[int]) -> dict[str, float]:
    """Return `recall@K`, `precision@K`, `ndcg@K` and `mrr@K`, each in [0, 1], for each K of `cutoffs`.

    `mrr@K` is the reciprocal rank of this one question; its mean over questions gives the metric its name. `ndcg@K` sums to
    min(n, K) for n gold pages, as MoLoRAG does: a gold page below rank n counts nothing, and with one gold page `ndcg@5` is
    `ndcg@1`. The usual nDCG sums to K; the two agree for K <= n.

    Args:
        ranked: distinct pages, best first. It may be shorter than K; precision divides by K all the same.
        gold: at least one page.
        cutoffs: each at least 1.

    Raises:
        ValueError: pages that come twice, no gold page, a cutoff below 1.
    """
    require_distinct(ranked)
    if min(cutoffs, default=1) < 1:
        raise ValueError(f"the cutoff {min(cutoffs)} keeps no page; give cutoffs of at least 1")
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


def require_distinct(ranked: Sequence[Hashable]) -> None:
    """Raise ValueError, with the first page that comes a second time, where one does: it would be found twice."""
    seen: set[Hashable] = set()
    for page in ranked:
        if page in seen:
            raise ValueError(f"the ranking names page {page!r} twice; keep the better place of it")
        seen.add(page)


def _discounted_gain(hits: FloatArray) -> float:
    """Return DCG / IDCG of the ranks given, in [0, 1]; 1 exactly where each is a hit."""
    discounts = 1.0 / np.log2(np.arange(len(hits)) + 2.0)
    return float((hits * discounts).sum() / discounts.sum())
