"""What could have been shown of a question's pages: the weights that choose, and how often what they choose holds the answer."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl

from storage.records.documents import PageKey
from storage.records.evaluations import SCORED, Asked, BenchmarkQuestion
from tasks.algorithms.evidence import ShownExample, fit_pieces, shown_out_of_fold, speaks_of_it
from tasks.algorithms.probability import FitError
from tasks.algorithms.text.standing import find_words
from tasks.asking.weights import PieceWeights
from tasks.evaluation.refusals import FOLDS, OUT_OF_FOLD, SEEDS
from tasks.evaluation.scoring import SHOWN, SHOWN_FIRST, document_of
from tasks.reading.evidence import LONGEST_RUN, Weighed

FITTED_FORMATS = frozenset({"", "Str", "Int", "Float"})
"""Of answers that stand in one piece where they stand; a list is spread over several."""
FEATURE_DIGITS = 4


def piece_rows(question: BenchmarkQuestion, pages: Collection[PageKey], seen: Sequence[Weighed]) -> tuple[tuple[float, ...], ...]:
    """Return what a fit needs of the pieces that were seen last; nothing where the answer, or its pages, cannot be looked up.

    Where the answer stands on no page of its evidence, or beside no word of the question, it does by chance.
    """
    if not seen or not question.evidence or not question.answers or question.answer_format not in FITTED_FORMATS:
        return ()
    pieces, features = seen[-1].pieces, seen[-1].features
    rows = []
    for piece, row, speaks in zip(pieces, features.round(FEATURE_DIGITS).tolist(), speaks_of_it(features).tolist(), strict=True):
        stands = any(find_words(piece.text, answer) is not None for answer in question.answers)
        proves = stands and speaks and (piece.node.document_id, piece.node.page) in pages
        rows.append((float(stands), float(proves), float(len(piece.text.split())), float(piece.block), *row))
    return tuple(rows)


def _examples(questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked]) -> dict[str, ShownExample]:
    found = {question: np.array(asked[question.id].pieces) for question in questions if asked[question.id].pieces}
    return {
        question.id: ShownExample(
            document=document_of(question),
            features=table[:, 4:],
            words=table[:, 2].astype(np.int64),
            blocks=table[:, 3].astype(np.int64),
            stands=table[:, 0],
            right=table[:, 1],
        )
        for question, table in found.items()
    }


def fitted_pieces(questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked]) -> PieceWeights | None:
    """Return the weights by which quotes are chosen; None where no answer can be looked up: those shipped hold on."""
    examples = list(_examples(questions, asked).values())
    try:
        fitted = fit_pieces(examples)
    except FitError:
        return None
    return PieceWeights(bias=fitted.bias, weights=fitted.weights)


def score_pieces(
    arm: str, questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked], *, most_words: int
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return how often the answer stands in what is shown by fits without the question's document, and why it is not known."""
    examples = _examples(questions, asked)
    try:
        found = shown_out_of_fold(
            list(examples.values()), most_words=most_words, longest=LONGEST_RUN, folds=FOLDS, seeds=range(SEEDS)
        )
    except FitError as error:
        return pl.DataFrame(schema=SCORED), (f"no quotes out of fold for {arm}: {error}",)
    rows = [
        (arm, name, example.document, metric + OUT_OF_FOLD, float(value))
        for metric, values in zip((SHOWN, SHOWN_FIRST), found, strict=True)
        for (name, example), value in zip(examples.items(), values, strict=True)
    ]
    return pl.DataFrame(rows, schema=SCORED, orient="row"), ()
