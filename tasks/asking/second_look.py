"""A second look at the pages that score best, by models that tell more of a passage than its first vector does."""

import logging
from dataclasses import dataclass, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.graph.tables import SECOND_VECTOR
from tasks.algorithms.arrays import FloatArray, IntArray, best_of_pages, pages_of_nodes, strongest
from tasks.algorithms.page_ranks import best_pages, with_opinions
from tasks.asking.calls import call_book
from tasks.asking.candidates import score
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question
from tasks.models.embedding.embedder import wrongs_of_second
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.reranker import open_reranker, reranker_named

LOGGER = logging.getLogger(__name__)
RERANKED = 30
"""Passages that a reranker reads: each costs it as long as one takes to embed."""


@dataclass(frozen=True, slots=True, eq=False)
class BestPages:
    """What is looked at again: the number of each candidate's page (n,), the numbers of the best (p,), the candidates on these.

    These come with their scores' rank, the best first.
    """

    pages: IntArray
    best: IntArray
    nodes: IntArray

    def opinion(self, nodes: IntArray, values: FloatArray) -> FloatArray:
        """Return the highest of the nodes' values on each of the best pages (p,); each has one of these nodes."""
        return best_of_pages(values=values, pages=self.pages[nodes])[self.best]


async def score_twice(question: Question, graph: CandidateGraph, context: AskContext) -> NodeScores:
    """Score every node, then look again at the best pages."""
    return await look_again(question, graph, await score.submit(question, graph, context), context)


async def look_again(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> NodeScores:
    """Return the scores after a second look, where the corpus or the user has a model for one; else as they are.

    The log of a page's score grows by what each model makes of the page, standardised over these pages, times its weight.
    """
    settings = context.settings.second
    looks = [
        (look, weight)
        for look, there, weight in (
            (second_look, context.second, settings.weight),
            (rerank, reranker_named(context.settings.rerank), settings.rerank_weight),
        )
        if there and weight
    ]
    if not looks:
        return scores
    near = find_best(graph, scores, settings.pages)
    opinions = [(await look.submit(question, graph, near, context), weight) for look, weight in looks]
    return replace(scores, combined=with_opinions(scores=scores.combined, pages=near.pages, best=near.best, opinions=opinions))


def find_best(graph: CandidateGraph, scores: NodeScores, count: int) -> BestPages:
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    best = best_pages(scores=scores.combined, pages=pages, count=count)
    ranked = strongest(scores=scores.combined, count=len(pages))
    return BestPages(pages, best, ranked[np.isin(pages[ranked], best)])


@question_step("second-look", lambda opinion: {"opinion": hash_bytes(opinion.tobytes())})
def second_look(question: Question, graph: CandidateGraph, near: BestPages, context: AskContext) -> FloatArray:
    """Return the best cosine that the second embedder finds on each of the best pages."""
    assert context.second is not None
    with wrongs_of_second(context.second.identity.named):
        vector = context.second.embed_query(question.text)[0]
    view = context.snapshot.view
    positions = view.adjacency.positions_of([graph.ids[place] for place in near.nodes])
    vectors = view.columns.take(positions, [SECOND_VECTOR])[SECOND_VECTOR]
    return near.opinion(near.nodes, np.vecdot(vectors, vector).astype(np.float64))


@question_step("rerank", lambda opinion: {"opinion": hash_bytes(opinion.tobytes())}, retries=0)
def rerank(question: Question, graph: CandidateGraph, near: BestPages, context: AskContext) -> FloatArray:
    """Return the best score that the reranker gives a passage of each of the best pages: of its best one, and of the best of all.

    Where it gives none it has no opinion, and the answer says so; where a model is required, as in an evaluation, that is an error.
    """
    _numbers, firsts = np.unique(near.pages[near.nodes], return_index=True)
    others = np.delete(near.nodes, firsts)
    read = np.concatenate([near.nodes[firsts], others[: max(0, RERANKED - len(firsts))]])
    reranker = open_reranker(context.settings.rerank, context.settings.models)
    try:
        return near.opinion(read, reranker.scores(question.text, [str(graph.columns["search_text"][place]) for place in read]))
    except EmbeddingError as error:
        book = call_book.get(None)
        if book and book.require_model:
            raise
        lost = f"the pages are ranked without the reranker: {error}"
        if book:
            book.notes.append(lost)
        else:
            LOGGER.warning(lost)
        return np.zeros(len(near.best))
