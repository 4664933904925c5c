"""Where evidence begins and ends: diverse sources (FlowReader, appendix B.1), and answerable sinks (section 3.4)."""

import numpy as np
import numpy.typing as npt

from storage.records.documents import Vectors
from tasks.algorithms.arrays import FloatArray, IntArray, require_finite_vectors, require_range, snap_fine


def density(*, word_counts: FloatArray, percentile: float) -> FloatArray:
    """Return rho = words / percentile (n,), at most 1, from the words in the summary of each node.

    The percentile is the 95th of these counts over the asked scope; the maximum would leave the scale to a single giant. Where it
    is 0, a node with any words has 1.
    """
    require_range(name="word counts", values=word_counts, low=0.0, high=np.inf)
    # The limit of words / percentile as the percentile goes to 0, without the division; cut before, so that none overflows.
    return np.minimum(word_counts, percentile) / percentile if percentile > 0 else np.sign(word_counts)


def answerability(
    *, relevance: FloatArray, density: FloatArray, is_visual: npt.NDArray[np.bool_], visual_bonus: float
) -> FloatArray:
    """Return a = r rho, plus the bonus for figures and tables (section 3.4), (n,), in [0, 1].

    Only nodes with r > 0 get the bonus: it is there so that a relevant figure of few words is not lost among long texts,
    and alone it would make a sink of every figure that has nothing to do with the question.

    Relevance r and density rho are in [0, 1], the bonus beta_v is at least 0.
    """
    scores = relevance * density + visual_bonus * (is_visual & (relevance > 0))
    require_range(name="answerability", values=scores, low=0.0, high=np.inf)
    return np.minimum(scores, 1.0)


def diverse_sources(*, scores: FloatArray, vectors: Vectors, count: int, trade_off: float) -> IntArray:
    """Choose at most `count` nodes v one by one, each the greatest in lambda h_v - (1 - lambda) max cos(e_v, e_u) (B.1).

    The maximum is over the nodes u chosen before; the first choice has none, and no penalty.

    Args:
        scores: (n,), h; only nodes with h > 0 are chosen, because a source supplies h.
        vectors: (n, d), unit or zero.
        count: at least 0.
        trade_off: lambda, in [0, 1]; 1 looks at scores only.
    """
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    require_finite_vectors(vectors)
    candidates = np.flatnonzero(scores > 0)
    rows = snap_fine(vectors[candidates])
    gains = trade_off * scores[candidates]
    nearest = np.full(len(candidates), -np.inf)
    values = gains.copy()
    chosen: list[int] = []
    for _ in range(min(count, len(candidates))):
        chosen.append(int(values.argmax()))
        nearest = np.maximum(nearest, np.vecdot(rows, rows[chosen[-1]]))
        values = gains - (1.0 - trade_off) * nearest
        values[chosen] = -np.inf
    return np.asarray(candidates[np.array(chosen, dtype=np.int64)])
