"""A second look at what scores best: by the corpus's second embedder, and by a model that reads the question with each passage."""

from dataclasses import replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.graph.tables import SECOND_VECTOR
from tasks.algorithms.arrays import best_of_pages, pages_of_nodes, strongest
from tasks.algorithms.page_ranks import best_pages, with_second_opinion
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question
from tasks.models.embedding.embedder import wrongs_of_second
from tasks.models.reranker import open_reranker

RERANKED = 30
"""Nodes that a reranker reads: each costs it as long as a passage takes to embed."""


async def look_again(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> NodeScores:
    """Return the scores after a second look, where the corpus or the user has a model for one; else as they are."""
    if context.second and context.settings.second.weight:
        scores = await second_look.submit(question, graph, scores, context)
    if context.settings.rerank:
        scores = await rerank.submit(question, graph, scores, context)
    return scores


@question_step("second-look", lambda scores: {"scores": hash_bytes(scores.combined.tobytes())})
def second_look(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> NodeScores:
    """Weigh the best pages by the best cosine that the second embedder finds on each."""
    assert context.second is not None
    settings, identity = context.settings.second, context.second.identity
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    best = best_pages(scores=scores.combined, pages=pages, count=settings.pages)
    near = np.flatnonzero(np.isin(pages, best))
    with wrongs_of_second(identity.named):
        vector = context.second.embed_query(question.text)[0]
    view = context.snapshot.view
    vectors = view.columns.take(view.adjacency.positions_of([graph.ids[place] for place in near]), [SECOND_VECTOR])[SECOND_VECTOR]
    cosines = best_of_pages(values=np.vecdot(vectors, vector).astype(np.float64), pages=pages[near])
    combined = with_second_opinion(scores=scores.combined, pages=pages, best=best, cosines=cosines[best], weight=settings.weight)
    return replace(scores, combined=combined)


@question_step("rerank", lambda scores: {"scores": hash_bytes(scores.combined.tobytes())})
def rerank(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> NodeScores:
    """Hand the best nodes' scores out anew, the highest to the one that the reranker puts first.

    Its own scores are logits or sums of cosines, of another scale with each model. The scores that are there stay what they are, in
    [0, 1]: what is compared with them, the pages that were not read among them, keeps its meaning.
    """
    best = strongest(scores=scores.combined, count=RERANKED)
    passages = [str(graph.columns["search_text"][place]) for place in best]
    order = open_reranker(context.settings.rerank).order(question.text, passages)
    combined = scores.combined.copy()
    combined[best[order]] = scores.combined[best]
    return replace(scores, combined=combined)
