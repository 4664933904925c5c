"""The extractive reader of a path: how well each piece of evidence answers a question, and which pieces to quote.

A piece is a sentence, a row of a table or the words of a figure; beside it stand its heading, caption and header.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import require_range
from tasks.algorithms.term_counts import count_terms

Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which of m terms stand in each of p pieces, (p, m), and which only beside it; `weights` (m,) sum to 1."""

    inside: Mask
    beside: Mask
    weights: Scores


def term_shares(weights: Sequence[float]) -> Scores:
    """Return what each of m terms weighs as shares that sum to 1; where none weighs anything, all weigh the same.

    Raises:
        ValueError: a weight is negative or no number.
    """
    values = np.asarray(weights, dtype=np.float64)
    require_range(name="weights of terms", values=values, low=0.0, high=np.inf)
    if not values.any():
        values = np.ones(len(values), dtype=np.float64)
    return values / values.sum() if len(values) else values


def quote_scores(
    *, coverage: Coverage, worths: Scores, fits: Mask, beside_share: float, worth_share: float, misfit: float
) -> Scores:
    """Return how well each of p pieces answers the question, 0..1; a piece that no term stands in or beside is worth 0.

    Args:
        coverage: as `cover` finds it.
        worths: what the node of each piece is worth to the question, (p,), in 0..1.
        fits: whether each piece can be an answer, and holds what the question asks for (a number, a date), (p,).
        beside_share: what a term beside the piece counts, against one in it.
        worth_share: what the node's worth counts; the rest is the share of the terms' weight that the piece covers.
        misfit: what remains of the score of a piece that does not fit.

    Raises:
        ValueError: a worth is no number in 0..1.
    """
    require_range(name="worths of nodes", values=worths, low=0.0, high=1.0)
    shares = coverage.inside @ coverage.weights + beside_share * (coverage.beside @ coverage.weights)
    scores = np.where(shares > 0.0, (1.0 - worth_share) * shares + worth_share * worths, 0.0)
    return np.where(fits, scores, misfit * scores)


def choose_quotes(*, coverage: Coverage, scores: Scores, fits: Mask, limit: int, least: float, gain: float) -> list[int]:
    """Return the pieces to quote, the best first: at most `limit`, each of a score of at least `least` times the best.

    A further piece must fit, and hold terms that are open still: of a weight of at least `gain` in no piece chosen before, nor
    beside it. Of those the one with the best score plus this weight comes next. Equal pieces go by index. Pieces of score 0 are
    never quoted.
    """
    if limit < 1 or not scores.max(initial=0.0) > 0.0:
        return []
    open_pieces = fits & (scores >= least * scores.max())
    chosen = [int(np.argmax(scores))]
    while len(chosen) < limit:
        covered = (coverage.inside[chosen] | coverage.beside[chosen]).any(axis=0)
        added = (coverage.inside & ~covered) @ coverage.weights
        adding = open_pieces & (added >= gain) & (added > 0.0)
        if not adding.any():
            break
        chosen.append(int(np.argmax(np.where(adding, scores + added, -np.inf))))
    return chosen


def lost_anchors(*, anchors: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names, years and numbers of the question, as stems, that stand in none of the texts.

    Evidence that never names the subject of the question speaks of something else, however many other words it shares (the entity
    anchor of appendix B.2). Asked of all candidates, this refuses 45 % of 65 questions that a real document does not answer, and
    8 % of 237 others; one of the 32 that were answered right is among them.
    """
    counts = count_terms(texts, anchors)[0].sum(axis=0)
    return tuple(anchor for anchor, count in zip(anchors, counts, strict=True) if count == 0)


def joint_coverage(*, coverage: Coverage, chosen: Sequence[int], beside_share: float) -> float:
    """Return the share of the terms' weight that the chosen pieces cover together, 0..1."""
    rows = list(chosen)
    inside = coverage.inside[rows].any(axis=0)
    beside = coverage.beside[rows].any(axis=0) & ~inside
    return float(coverage.weights @ inside + beside_share * (coverage.weights @ beside))
