"""The extractive reader of a path: which pieces of evidence to quote, the cells of a row, how far answers agree.

A piece is a sentence, a row of a table or the words of a figure; beside it stand its heading, caption and header.
"""

import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import require_range

Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which of m terms stand in each of p pieces, (p, m), and which only beside it; `weights` (m,) sum to 1."""

    inside: Mask
    beside: Mask
    weights: Scores


def mark_stems(stems: Sequence[str], sets: Sequence[AbstractSet[str]]) -> Mask:
    """Return which of m stems are in each of p sets, (p, m)."""
    return np.array([[stem in held for stem in stems] for held in sets], dtype=bool).reshape(len(sets), len(stems))


def term_shares(weights: Sequence[float]) -> Scores:
    """Return what each of m terms weighs as shares that sum to 1; where none weighs anything, all weigh the same."""
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


def joint_coverage(*, coverage: Coverage, chosen: Sequence[int], beside_share: float) -> float:
    """Return the share of the terms' weight that the chosen pieces cover together, 0..1."""
    rows = list(chosen)
    inside = coverage.inside[rows].any(axis=0)
    beside = coverage.beside[rows].any(axis=0) & ~inside
    return float(coverage.weights @ inside + beside_share * (coverage.weights @ beside))


Cell = tuple[str, str]
"""The header of a column, empty where it has none, and what the row has there."""


def read_row(text: str, cells: Sequence[str]) -> tuple[Cell, ...]:
    """Return the cells of a row with their headers, without what stands before them (caption, label of its group).

    Args:
        text: the row as ingest writes it ("caption | group | header: cell | ...").
        cells: what the row's cells hold; those that say nothing are not in the text.
    """
    known = set(filter(None, cells))
    found: list[Cell] = []
    for part in text.split(" | "):
        cell = max((cell for cell in known if part == cell or part.endswith(f": {cell}")), key=len, default=None)
        if cell is not None:
            found.append((part[: len(part) - len(cell)].removesuffix(": "), cell))
        elif found:
            # A cell that holds the sign between cells is parted; its pieces stay together.
            found[-1] = (found[-1][0], f"{found[-1][1]} | {part}")
    return tuple(found)


Pair = tuple[int, int]

_BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d{3})")
_EDGES = " \t\n.,;:!?\"'()[]“”‘’"  # noqa: RUF001 - quotation marks as answers have them
_ARTICLE = re.compile(r"^(?:the|an?)\s+")


def plain_answer(answer: str) -> str:
    """Return an answer without what makes no difference: capitals, spaces, signs around it, an article, commas in numbers."""
    plain = " ".join(_BETWEEN_DIGITS.sub("", answer).casefold().split()).strip(_EDGES)
    return _ARTICLE.sub("", plain)


def different_answers(answers: Sequence[str]) -> list[list[int]]:
    """Return the places of equal answers together, in the order in which each is first given."""
    groups: dict[str, list[int]] = {}
    for place, answer in enumerate(answers):
        groups.setdefault(plain_answer(answer), []).append(place)
    return list(groups.values())


def pairs_to_compare(groups: int, *, limit: int) -> list[Pair]:
    """Return at most `limit` pairs of different answers, those of the earliest first."""
    return sorted(combinations(range(groups), 2), key=lambda pair: (pair[0] + pair[1], pair))[:limit]


def agreement(*, sizes: Sequence[int], compared: Collection[Pair], contradicting: Collection[Pair]) -> float:
    """Return the share of all known pairs of answers that do not contradict each other, 0..1; 1 where none is known.

    `sizes` says how many answers are equal, of each kind; pairs of kinds that were not compared do not count.
    """
    equal = sum(size * (size - 1) // 2 for size in sizes)
    known = equal + sum(sizes[first] * sizes[second] for first, second in compared)
    against = sum(sizes[first] * sizes[second] for first, second in contradicting)
    return 1.0 - against / known if known else 1.0
