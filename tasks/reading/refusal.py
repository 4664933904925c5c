"""Refusing: the probability that nothing in the scope answers the question, where no model reads."""

import numpy as np

from storage.graph.candidates import CandidateGraph
from storage.records.answers import Refusal
from tasks.algorithms.arrays import BoolArray
from tasks.algorithms.probability import probabilities
from tasks.algorithms.questions.kinds import surveys
from tasks.algorithms.refusal import FEATURES, refusal_features
from tasks.algorithms.text.counting import count_stems
from tasks.asking.candidates import page_ranking
from tasks.asking.question import AskContext, scope_weights
from tasks.asking.records import NodeScores, Question
from tasks.asking.relevance import read_texts
from tasks.asking.weights import RefusalWeights, shipped_weights, weights_with
from tasks.reading.paths import is_narrowed, present_anchors, titled_anchors

BEST_PAGES = 5
"""The best pages that are searched for one that holds all names of the question."""


def doubt(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Refusal:
    """Return how probable it is that nothing answers; not known where the weights are of other models."""
    anchors, present = question.terms.anchors, present_anchors(question, scores, graph, context)
    features = refusal_features(
        rarity=np.array([scores.rarity[anchor] for anchor in anchors]),
        present=np.array([anchor in present for anchor in anchors], dtype=np.bool_),
        held=_held(question, graph, scores, context),
        surveys=surveys(question.text),
        nearest=scores.nearest,
    )
    named, weights = dict(zip(FEATURES, features.tolist(), strict=True)), refusal_weights(context, scores)
    if weights is None:
        return Refusal(named)
    probability = probabilities(features[np.newaxis], weights.logistic)[0]
    return Refusal(named, round(float(probability), 6), weights.threshold)


def refusal_weights(context: AskContext, scores: NodeScores) -> RefusalWeights | None:
    """Return the weights of a user's file, or those shipped where it has none; None where these are of other models."""
    embedder, tokens = context.snapshot.embedder, scores.tokens
    known = (weights_with(context.weights, tokens=tokens), shipped_weights(tokens=tokens))
    usable = [weights for weights in known if weights.holds_for(embedder, scores.reranker, tokens=tokens)]
    found = (scope_weights(weights, context).refusal for weights in usable)
    return next((refusal for refusal in found if refusal is not None), None)


def _held(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> BoolArray:
    """Return which anchors of the question stand on each of the best pages, the title of its document included (P, a)."""
    anchors = question.terms.anchors
    if is_narrowed(context.scope):
        return np.ones((1, len(anchors)), dtype=np.bool_)
    ranked = page_ranking(graph, scores)[:BEST_PAGES]
    titled = titled_anchors(question, {document for (document, _page), _score in ranked}, context)
    rows = []
    for (document, page), _score in ranked:
        nodes = np.flatnonzero((graph.documents == graph.document_ids.index(document)) & (graph.pages == page)).tolist()
        texts = read_texts(context.snapshot).code_nodes(
            "content", [graph.ids[node] for node in nodes], graph.columns["search_text"][nodes].tolist()
        )
        held = count_stems(texts, anchors).any(axis=0)
        rows.append(held | np.array([anchor in titled[document] for anchor in anchors], dtype=np.bool_))
    return np.array(rows, dtype=np.bool_).reshape(len(rows), len(anchors))
