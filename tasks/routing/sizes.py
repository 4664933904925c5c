"""How many pages a question is worth: the probability of each, and the number after which a further page is not worth its price."""

from dataclasses import dataclass

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.records.documents import PageKey
from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.flow.sizes import WEIGHED_PAGES, completeness, most_probable, page_features, pages_worth
from tasks.algorithms.probability import probabilities
from tasks.algorithms.questions.kinds import collects
from tasks.asking.candidates import page_ranking
from tasks.asking.question import AskContext, question_step, scope_weights
from tasks.asking.records import NodeScores, Question
from tasks.asking.weights import weights_with


@dataclass(frozen=True, slots=True)
class Sized:
    """The most probable pages of a question in falling order of p (P,); the first `count` are worth their price."""

    pages: tuple[PageKey, ...]
    probabilities: FloatArray
    count: int
    calibrated: bool

    @property
    def read(self) -> tuple[PageKey, ...]:
        return self.pages[: self.count]

    @property
    def calibrated_pages(self) -> dict[PageKey, float]:
        """The probability of each page, of none where the weights are of another embedder."""
        return dict(zip(self.pages, self.probabilities.tolist(), strict=True)) if self.calibrated else {}

    @property
    def completeness(self) -> float | None:
        return float(completeness(self.probabilities)[self.count - 1]) if self.calibrated and self.count else None


def ranked_features(question: str, ranked: list[tuple[PageKey, float]]) -> FloatArray:
    """Return the features (P, 6) of the first pages of a ranking, each a page and its score, the best first."""
    weighed = ranked[:WEIGHED_PAGES]
    follows = [key == (weighed[0][0][0], weighed[0][0][1] + 1) for key, _ in weighed]
    scores = np.array([score for _, score in weighed])
    return page_features(scores=scores, follows=np.array(follows, dtype=np.bool_), collects=collects(question))


@question_step("size", lambda sized: {"pages": hash_bytes(repr((sized.read, sized.probabilities.tolist())).encode())}, retries=0)
def size(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Sized:
    """Weigh the first pages of the ranking, and read on as long as one more is worth its price."""
    ranked = [(page, score) for page, score in page_ranking(graph, scores) if score > 0]
    chosen = weights_with(context.weights, tokens=scores.tokens)
    weights = scope_weights(chosen, context)
    weighed = probabilities(ranked_features(question.text, ranked), weights.logistic)
    order = most_probable(weighed)
    return Sized(
        pages=tuple(ranked[place][0] for place in order.tolist()),
        probabilities=weighed[order],
        count=pages_worth(completeness(weighed[order]), price=weights.prices[context.settings.pages_per_answer]),
        calibrated=chosen.holds_for(context.snapshot.embedder, scores.reranker, tokens=scores.tokens),
    )
