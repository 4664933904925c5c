"""What of the pages that were found is shown: what each piece of them is worth, and the best runs of pieces.

A piece is a sentence, a line or a row of a table. Pieces of one block that follow each other may be shown as one run.
"""

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, require_range
from tasks.algorithms.probability import FitError, Logistic, fit_logistic, folds_by_document, probabilities
from tasks.algorithms.quotes import mark_stems

FEATURES = (
    "rank of the page",
    "worth of the node",
    "share of the question inside",
    "inside or in the piece before",
    "inside or in the piece after",
    "inside or in headings and caption",
    "holds what is asked for",
    "lacks what is asked for",
    "numbers, where one is asked for",
    "numbers, where none is asked for",
    "says nothing new",
    "length",
    "names only",
    "number of what is counted",
    "share inside by the largest",
)
"""What the probability of a piece is made of. "Asked for" is a kind of answer: a number, a share, a date, a person's name.

A word inside counts in all four shares: else what stands under a heading would be worth more than what says the word itself.
"""

STRENGTH = 0.01
"""Variance of the weights of standardised features: out of fold 0.01 and 0.03 are within a point, less shows fewer answers."""
FURTHER = 0.5
"""What the further pieces of a run add counts: else many that say little come before the one that says it. Out of fold alike."""
LENGTH_PRICE = 0.2
"""Of two runs that hold the answer with the same probability the shorter one leaves room for others: divided by words to this."""
SHORTEST = 8
"""Words; a shorter run costs as much, for it is no better understood."""
FAINT = 0.1
"""Of the worth of the first run; what is worth less is not shown, room or not: out of fold as many answers are shown without it."""


@dataclass(frozen=True, slots=True, eq=False)
class PieceTexts:
    """What n pieces say: stems in each, the stems of headings and caption, and its place.

    `nodes` (n,) numbers what follows each other; `worths` (n,) is what the node is worth to the question, `pages` (n,) its page.
    """

    stems: Sequence[AbstractSet[str]]
    heads: Sequence[AbstractSet[str]]
    nodes: IntArray
    pages: IntArray
    worths: FloatArray
    words: IntArray


def spread_features(
    texts: PieceTexts,
    *,
    shares: dict[str, float],
    asks_kind: bool,
    asks_number: bool,
    holds_kind: Sequence[bool],
    numbers: Sequence[int],
    says_new: Sequence[bool],
    names_only: Sequence[bool],
    counts: Sequence[bool],
) -> FloatArray:
    """Return the features of n pieces (n, 15), in the order of FEATURES.

    Args:
        texts: the pieces in reading order, those of a node together.
        shares: what each stem of the question weighs of it; they sum to 1.
        asks_kind: whether the question asks for a kind of answer.
        asks_number: whether that is a number or a share.
        holds_kind: whether each piece holds something of that kind that the question does not say.
        numbers: how many numbers it holds that the question does not.
        says_new: whether it says anything that the question does not.
        names_only: whether it names what stands elsewhere: a title, a caption.
        counts: whether it has a number before what the question counts.

    """
    stems, weights = list(shares), np.array(list(shares.values()))
    inside = mark_stems(stems, texts.stems)
    heads = mark_stems(stems, texts.heads)
    none = np.zeros((1, len(stems)), dtype=np.bool_)
    follows = np.diff(texts.nodes, prepend=-1) == 0
    before = np.vstack([none, inside])[:-1] & follows[:, np.newaxis]
    after = np.vstack([inside, none])[1:] & np.append(follows, False)[1:, np.newaxis]
    fits, counted = np.array(holds_kind, dtype=np.bool_), np.log1p(np.array(numbers, dtype=np.float64))
    return np.column_stack(
        [
            1.0 / (1.0 + _page_ranks(texts)),
            texts.worths / max(texts.worths.max(initial=0.0), 1e-9),
            inside @ weights,
            (before | inside) @ weights,
            (after | inside) @ weights,
            (heads | inside) @ weights,
            fits & asks_kind,
            ~fits,
            counted * asks_number,
            counted * (not asks_number),
            ~np.array(says_new, dtype=np.bool_),
            np.log1p(texts.words),
            np.array(names_only, dtype=np.bool_),
            np.array(counts, dtype=np.bool_) & asks_number,
            inside @ weights / max((inside @ weights).max(initial=0.0), 1e-9),
        ]
    ).astype(np.float64)


def _page_ranks(texts: PieceTexts) -> IntArray:
    """Return the rank of each piece's page from 0, (n,): by the worth of the best node on it."""
    best: dict[int, float] = {}
    for page, worth in zip(texts.pages.tolist(), texts.worths.tolist(), strict=True):
        best[page] = max(best.get(page, 0.0), worth)
    ranks = {page: rank for rank, page in enumerate(sorted(best, key=lambda page: -best[page]))}
    return np.array([ranks[page] for page in texts.pages.tolist()], dtype=np.int64)


def speaks_of_it(features: FloatArray) -> FloatArray:
    """Return whether a word of the question stands in or beside each piece (n,), by its features."""
    return np.asarray(features[:, 2:6].sum(axis=1) > 0.0)


def worth_showing(features: FloatArray, weights: Logistic) -> FloatArray:
    """Return the probability that each piece holds the answer, (n,): none of a title or caption that says no word of the question.

    Out of fold the answer is shown for 1 question in 100 less without such titles; they stood among the quotes of many others.
    """
    shares, names_only = (features[:, FEATURES.index(name)] for name in ("share of the question inside", "names only"))
    return np.where((names_only == 0.0) | (shares > 0.0), probabilities(features, weights), 0.0)


def choose_runs(*, held: FloatArray, words: IntArray, blocks: IntArray, most_words: int, longest: int) -> list[range]:
    """Return the runs of pieces to show, the best first: together at most `most_words`, but always one.

    First comes the best run for each part of the question, in their order, then what is best for any of them. A run of several
    pieces has at most `longest` words; a piece alone is shown whole.

    Args:
        held: the probability that each piece holds the answer to each of k parts of the question, (k, n).
        words: the length of each piece, (n,), at least 1.
        blocks: (n,); pieces of one block that follow each other may be shown together.
        most_words: of all runs.
        longest: words of a run.

    """
    require_range(name="probabilities of pieces", values=held, low=0.0, high=1.0)
    runs = _runs_within(words, blocks, longest)
    if not len(runs):
        return []
    first, last, length = runs.T
    worth = _held_by_runs(held, first, last) / np.maximum(length, SHORTEST) ** LENGTH_PRICE
    chosen: list[range] = []
    turns = list(range(len(worth))) if len(worth) > 1 else []
    open_runs, left, least = np.ones(len(runs), dtype=np.bool_), most_words, 0.0
    while True:
        # The best piece is shown even where it alone is more than there is room for: what is left over beside it says less.
        fitting = open_runs & ((length <= left) | ((first == last) & (not chosen)))
        if not fitting.any():
            break
        while turns and not open_runs[int(np.argmax(worth[turns[0]]))]:
            del turns[0]  # what is best for this part is shown already
        row = worth[turns.pop(0)] if turns else worth.max(axis=0)
        best = int(np.argmax(np.where(fitting, row, -1.0)))
        least = least if chosen else FAINT * row[best]
        if row[best] < least:
            break
        chosen.append(range(int(first[best]), int(last[best]) + 1))
        left -= int(length[best])
        open_runs &= (last < first[best]) | (first > last[best])
    return chosen


def _held_by_runs(held: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    """Return what each of r runs is worth to each of k parts, (k, r): its best piece, and in part what the others add."""
    # Of independent pieces the chance that none holds it is a product; in logarithms a difference of two sums.
    none, sums = np.zeros((len(held), 1)), np.cumsum(np.log1p(-np.minimum(held, 1.0 - 1e-9)), axis=1)
    missed = np.hstack([none, sums])
    best = np.maximum.reduceat(np.hstack([held, none]), np.column_stack([first, last + 1]).ravel(), axis=1)[:, ::2]
    return np.asarray(best + FURTHER * (1.0 - np.exp(missed[:, last + 1] - missed[:, first]) - best))


def _runs_within(words: IntArray, blocks: IntArray, longest: int) -> IntArray:
    """Return every run of pieces of one block within this length, and every piece: first, last, words (r, 3)."""
    found = []
    lengths, numbers = words.tolist(), blocks.tolist()
    for first, block in enumerate(numbers):
        total = 0
        for last in range(first, len(numbers)):
            total += lengths[last]
            if numbers[last] != block or (total > longest and last > first):
                break
            found.append((first, last, total))
    return np.array(found, dtype=np.int64).reshape(len(found), 3)


@dataclass(frozen=True, slots=True, eq=False)
class ShownExample:
    """A question to fit to: of its n pieces the features (n, 15), words and blocks (n,).

    The answer `stands` in some (n,); among those, `right` are the ones where it stands for what the question asks.
    """

    document: str
    features: FloatArray
    words: IntArray
    blocks: IntArray
    stands: FloatArray
    right: FloatArray


def fit_pieces(examples: Sequence[ShownExample]) -> Logistic:
    """Return the logistic of the pieces that prove the answer; raise FitError where nothing can be fitted."""
    if not examples:
        raise FitError("no question has an answer that can be looked up in what was read; take more documents")
    features = np.concatenate([one.features for one in examples])
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    plain = fit_logistic((features - mean) / spread, np.concatenate([one.right for one in examples]), strength=STRENGTH)
    weights = np.array(plain.weights) / spread
    return Logistic(float(f"{plain.bias - weights @ mean:.6g}"), tuple(float(f"{weight:.6g}") for weight in weights))


def shown_out_of_fold(
    examples: Sequence[ShownExample], *, most_words: int, longest: int, folds: int, seeds: Collection[int]
) -> FloatArray:
    """Return how often the answer stands in what is shown, and in the first run, (2, q): the mean over seeds.

    Each question is weighed by a fit that did not see its document; raise FitError where there is one document only.
    """
    documents, found = [one.document for one in examples], np.zeros((2, len(examples)))
    if len(set(documents)) < 2:
        raise FitError("all answers that can be looked up stand in one document, and what holds there may hold nowhere else")
    for seed in seeds:
        places = folds_by_document(documents, folds=folds, seed=seed)
        for fold in sorted(set(places.tolist())):
            seen = [one for one, place in zip(examples, places, strict=True) if place != fold]
            fit = fit_pieces(seen)
            for number in np.flatnonzero(places == fold).tolist():
                one = examples[number]
                held = worth_showing(one.features, fit)[np.newaxis]
                runs = choose_runs(held=held, words=one.words, blocks=one.blocks, most_words=most_words, longest=longest)
                stands = [bool(one.stands[run.start : run.stop].any()) for run in runs]
                found[:, number] += [any(stands), any(stands[:1])]
    return found / len(seeds)
