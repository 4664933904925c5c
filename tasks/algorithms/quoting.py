"""The extractive reader of a path: how well each piece of evidence answers a question, and which pieces to quote.

A piece is a sentence, a row of a table or the words of a figure; beside it stand its heading, caption and header.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.algorithms.term_counts import count_terms

Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which of m terms stand in each of p pieces, (p, m), and which only beside it; `weights` (m,) sum to 1."""

    inside: Mask
    beside: Mask
    weights: Scores


def cover(*, pieces: Sequence[str], besides: Sequence[str], weights: Mapping[str, float]) -> Coverage:
    """Return which terms of the question each piece covers.

    Args:
        pieces: the text of each piece.
        besides: the words of each piece's heading, caption and header, as long as `pieces`.
        weights: what each stem of the question weighs, at least 0; where none weighs anything, all weigh the same.

    Raises:
        ValueError: a weight is negative or no number, or the lengths differ.
    """
    if len(pieces) != len(besides):
        raise ValueError(
            f"{len(pieces)} pieces have {len(besides)} texts beside them; give one for each, empty where there is none"
        )
    values = np.array(list(weights.values()), dtype=np.float64)
    if not np.all(np.isfinite(values)) or np.any(values < 0):
        raise ValueError(f"term weights must be finite and at least 0, got {dict(weights)}; leave unknown terms out")
    if not values.any():
        values = np.ones(len(values), dtype=np.float64)
    stems = list(weights)
    inside = count_terms(pieces, stems)[0] > 0
    beside = (count_terms(besides, stems)[0] > 0) & ~inside
    return Coverage(inside, beside, values / values.sum() if len(values) else values)


def quote_scores(
    *, coverage: Coverage, cosines: Scores | None, fits: Mask, beside_share: float, cosine_share: float, misfit: float
) -> Scores:
    """Return how well each of p pieces answers the question, 0..1.

    Args:
        coverage: as `cover` finds it.
        cosines: of the question with each piece's node, (p,); None where there are none.
        fits: whether each piece holds what the question asks for (a number, a date), (p,).
        beside_share: what a term beside the piece counts, against one in it.
        cosine_share: what the cosine counts; the rest is the share of the terms' weight that the piece covers.
        misfit: what remains of the score of a piece that does not fit.

    Raises:
        ValueError: a cosine is no number.
    """
    shares = coverage.inside @ coverage.weights + beside_share * (coverage.beside @ coverage.weights)
    if cosines is not None:
        if not np.all(np.isfinite(cosines)):
            raise ValueError(f"{np.count_nonzero(~np.isfinite(cosines))} cosines are no numbers; ingest the documents again")
        shares = (1.0 - cosine_share) * shares + cosine_share * np.clip(cosines, 0.0, 1.0)
    return np.where(fits, shares, misfit * shares)


def choose_quotes(*, coverage: Coverage, scores: Scores, limit: int, least: float, redundancy: float) -> list[int]:
    """Return the pieces to quote, the best first: at most `limit`, each of a score of at least `least` times the best.

    After the first a piece loses `redundancy` times its share of the terms' weight that the chosen ones cover already, so that a
    question of two parts finds both. Equal pieces go by index. Pieces of score 0 are never quoted.
    """
    chosen: list[int] = []
    covered = np.zeros(len(coverage.weights), dtype=bool)
    floor = least * scores.max(initial=0.0)
    open_pieces = (scores > 0.0) & (scores >= floor)
    while len(chosen) < limit and open_pieces.any():
        gains = scores - redundancy * ((coverage.inside & covered) @ coverage.weights)
        best = int(np.argmax(np.where(open_pieces, gains, -np.inf)))
        chosen.append(best)
        covered |= coverage.inside[best]
        open_pieces[best] = False
    return chosen


def supported(*, coverage: Coverage, chosen: Sequence[int], beside_share: float, threshold: float) -> bool:
    """Tell whether the chosen pieces together cover enough of the question's terms to answer it at all; none never do."""
    return bool(chosen) and joint_coverage(coverage=coverage, chosen=chosen, beside_share=beside_share) >= threshold


def lost_anchors(*, anchors: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names, years and numbers of the question, as stems, that stand in none of the texts.

    Evidence that never names the subject of the question speaks of something else, however many other words it shares (the entity
    anchor of appendix B.2).
    """
    counts = count_terms(texts, anchors)[0].sum(axis=0)
    return tuple(anchor for anchor, count in zip(anchors, counts, strict=True) if count == 0)


def joint_coverage(*, coverage: Coverage, chosen: Sequence[int], beside_share: float) -> float:
    """Return the share of the terms' weight that the chosen pieces cover together, 0..1."""
    rows = list(chosen)
    inside = coverage.inside[rows].any(axis=0)
    beside = coverage.beside[rows].any(axis=0) & ~inside
    return float(coverage.weights @ inside + beside_share * (coverage.weights @ beside))
