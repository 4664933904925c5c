"""Retrieval: the part of the graph that a question works on, and how much each node of it matters (section 3.3)."""

from dataclasses import replace
from typing import Literal

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import EDGE_KINDS, CandidateGraph
from storage.graph.search import each_once, find_nodes, find_seeds, load_around, load_scope, nodes_in_scope
from storage.records.documents import EdgeKind
from tasks.algorithms.arrays import FloatArray, best_of_pages, pages_of_nodes, pair_cosines, strongest
from tasks.algorithms.scores import (
    combined_score,
    personalized_pagerank,
    propagate,
    propagation_weights,
    scaled_by_maximum,
)
from tasks.algorithms.text.leaning import lean_by_words
from tasks.asking.named_places import find_named_nodes
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question
from tasks.asking.relevance import weigh_relevance
from tasks.asking.request import nothing_in
from tasks.settings.ask import ScoreSettings

FEWEST = 2
"""Documents among which one can be meant."""
SIMILARITY_CODES = [EDGE_KINDS.index(kind) for kind in (EdgeKind.WINDOW, EdgeKind.SEMANTIC)]
"""Kinds of arcs whose weight is a cosine; the layout's own relations have the weight of their kind."""


@question_step("candidates", lambda graph: {"nodes": hash_bytes("".join(graph.ids).encode())})
def find_candidates(question: Question, context: AskContext) -> CandidateGraph:
    """Take the whole scope where it is small, else what the question names, what the answer before it cites, and the best by vector
    and text, with what is linked.

    Raise QuestionError where it is empty: nothing found in nothing is no answer.
    """
    if not nodes_in_scope(context.snapshot.view, context.scope):
        raise nothing_in(context.scope)
    settings, initial = context.settings.candidates, context.settings.relevance.vectors == "initial"
    view, scope, columns = context.snapshot.view, context.scope, columns_for(question, context)
    if not is_large(context):
        return lay_out_arcs(load_scope(view, scope, columns=columns, initial_vectors=initial), settings.arcs)
    best = find_seeds(
        view,
        scope,
        vector=question.vector,
        words=question.terms.words,
        by_vector=settings.by_vector,
        by_text=settings.by_text,
    )
    seeds = each_once(np.concatenate([find_named_nodes(question, best, context), find_nodes(view, scope, question.cited), best]))
    found = load_around(view, scope, seeds, hops=settings.hops, limit=settings.limit, columns=columns, initial_vectors=initial)
    return lay_out_arcs(found, settings.arcs)


def lay_out_arcs(graph: CandidateGraph, arcs: Literal["all", "paper"]) -> CandidateGraph:
    """Return the graph with the arcs of the method."""
    if arcs == "all":
        return graph
    kept = np.isin(graph.arc_kinds, SIMILARITY_CODES)
    return replace(
        graph,
        tails=graph.tails[kept],
        heads=graph.heads[kept],
        weights=graph.weights[kept],
        arc_kinds=graph.arc_kinds[kept],
    )


def is_large(context: AskContext) -> bool:
    """Say whether the scope holds so much that a question works on a part of it."""
    return nodes_in_scope(context.snapshot.view, context.scope) > context.settings.candidates.whole_limit


def columns_for(question: Question, context: AskContext) -> list[str]:
    """Return which of the nodes' columns a question needs; each costs milliseconds, so a large scope has no titles."""
    texts = ["search_text"] if context.settings.relevance.text == "content" else ["search_text", "summary", "keywords"]
    return [*texts, *(["label", "section_id", "section_path"] if question.places or not is_large(context) else [])]


@question_step("score", lambda scores: {"scores": hash_bytes(scores.combined.tobytes())})
def score(question: Question, graph: CandidateGraph, context: AskContext) -> NodeScores:
    """Weigh every node: relevance, what flows to it along the arcs, and how often a walker from the best comes by."""
    settings = context.settings.score
    scores = weigh_relevance(question, graph, context)
    weights = propagation_weights(arc_cosines(graph))
    propagated = propagate(
        relevance=scores.relevance,
        tails=graph.tails,
        heads=graph.heads,
        weights=weights,
        anchor=settings.anchor,
        tolerance=settings.propagation_tolerance,
        max_steps=settings.steps,
        keep_unreached=settings.keep_unreached,
    )
    combined = combined_score(
        relevance=scores.relevance,
        propagated=propagated,
        diffused=_diffuse(scores.relevance, graph, graph.weights if settings.diffusion_weights == "edges" else weights, settings),
        weights=np.array([settings.relevance, settings.propagation, settings.diffusion]),
    )
    return replace(scores, propagated=propagated, combined=lean_to_documents(question, graph, combined, context))


def arc_cosines(graph: CandidateGraph) -> FloatArray:
    """Return the cosine of each arc (m,): its weight where that is one, else that of the two evolved vectors."""
    cosines = graph.weights.copy()
    other = np.flatnonzero(~np.isin(graph.arc_kinds, SIMILARITY_CODES))
    tails, heads = graph.tails[other], graph.heads[other]
    cosines[other] = np.clip(pair_cosines(vectors=graph.vectors, first=tails, second=heads), 0.0, 1.0)
    return cosines


def _diffuse(relevance: FloatArray, graph: CandidateGraph, weights: FloatArray, settings: ScoreSettings) -> FloatArray:
    seeds = strongest(scores=relevance, count=settings.seeds)
    visits = personalized_pagerank(
        nodes=len(relevance),
        tails=graph.tails,
        heads=graph.heads,
        weights=weights,
        seeds=seeds,
        seed_weights=relevance[seeds],
        damping=settings.damping,
        tolerance=settings.diffusion_tolerance,
        max_steps=settings.steps,
    )
    return scaled_by_maximum(visits) if settings.scale_diffusion else visits


@question_step("relevance", lambda scores: {"scores": hash_bytes(scores.combined.tobytes())})
def score_by_relevance(question: Question, graph: CandidateGraph, context: AskContext) -> NodeScores:
    scores = weigh_relevance(question, graph, context)
    return replace(scores, combined=lean_to_documents(question, graph, scores.combined, context))


def lean_to_documents(question: Question, graph: CandidateGraph, combined: FloatArray, context: AskContext) -> FloatArray:
    """Return the scores h (n,) times exp(w t), t how much the question leans to the document, where it is asked of several.

    Where one of them was read in before words were kept it leans to none: those that came later would be before it for that alone.
    """
    weight, documents, words = context.settings.named.document, context.documents, context.snapshot.words
    if not weight or len(documents) < FEWEST or not words.documents.issuperset(documents):
        return combined
    leaning = lean_by_words(words.shares(question.terms.stems), documents)
    found = dict(zip(documents, leaning.tolist(), strict=True))
    lifted = combined * np.exp(weight * np.array([found[name] for name in graph.document_ids]))[graph.documents]
    return np.asarray(lifted / max(1.0, float(lifted.max(initial=0.0))))


def page_ranking(graph: CandidateGraph, scores: NodeScores) -> list[tuple[tuple[str, int], float]]:
    """Return each (document id, page) with its score, that of its best node: the best first, equal ones by document and page."""
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    _numbers, firsts = np.unique(pages, return_index=True)
    best = best_of_pages(values=scores.combined, pages=pages)
    owners, places = graph.documents[firsts].tolist(), graph.pages[firsts].tolist()
    found = [((graph.document_ids[owner], place), value) for owner, place, value in zip(owners, places, best.tolist(), strict=True)]
    return sorted(found, key=lambda item: (-item[1], item[0]))
