"""Answerability a and the sinks: nodes that are relevant and hold enough to answer from (FlowReader, section 3.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tasks.algorithms.checks import require_range
from tasks.algorithms.cosines import FloatArray, IntArray
from tasks.algorithms.strongest import strongest


def density(*, word_counts: FloatArray, percentile: float) -> FloatArray:
    """Return rho = words / percentile (n,), at most 1.

    Args:
        word_counts: (n,), words in the summary of each node, at least 0.
        percentile: the 95th percentile of these counts over the asked scope; the maximum would leave the scale to a single giant.
            Where it is 0, a node with any words has 1.
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

    Args:
        relevance: (n,), r, in [0, 1].
        density: (n,), rho, in [0, 1].
        is_visual: (n,), true for figures and tables.
        visual_bonus: beta_v, at least 0.
    """
    scores = relevance * density + visual_bonus * (is_visual & (relevance > 0))
    require_range(name="answerability", values=scores, low=0.0, high=np.inf)
    return np.minimum(scores, 1.0)


def strongest_sinks(*, answerability: FloatArray, count: int) -> IntArray:
    """Return the at most `count` nodes of greatest answerability above 0, the greatest first, equal ones by index."""
    require_range(name="answerability", values=answerability, low=0.0, high=np.inf)
    return strongest(scores=answerability, count=count)
