"""A small hand-made graph to route over: pages of three passages each, and contexts that hold nothing but settings."""

from dataclasses import fields

import numpy as np

from storage.graph.candidates import EDGE_KINDS, MODALITIES, NODE_KINDS, CandidateGraph
from storage.records.documents import Modality, NodeKind
from tasks.asking.question import AskContext
from tasks.asking.records import NodeScores, Question
from tasks.settings.ask import AskSettings

PAGES = 5
ON_EACH = 3
COUNT = PAGES * ON_EACH


def asked(text="Why did the pump fail?"):
    return Question(**{**dict.fromkeys(field.name for field in fields(Question)), "id": "q", "text": text})


def at_context(**settings):
    """Return a context with nothing in it but settings: routing looks at no more."""
    return AskContext(**{**dict.fromkeys(field.name for field in fields(AskContext)), "settings": AskSettings(**settings)})


def a_graph(edges=()):
    """Return a document of five pages; edges are (tail, head, kind, weight)."""
    vectors = np.random.default_rng(5).normal(size=(COUNT, 8)).astype(np.float32)
    texts = np.full(COUNT, MODALITIES.index(Modality.TEXT))
    return CandidateGraph(
        ids=tuple(f"{place:04x}" for place in range(COUNT)),
        document_ids=("d",),
        documents=np.zeros(COUNT, dtype=np.int64),
        pages=1 + np.arange(COUNT) // ON_EACH,
        kinds=np.full(COUNT, NODE_KINDS.index(NodeKind.PARAGRAPH)),
        modalities=texts,
        meaningless=np.zeros(COUNT, dtype=np.bool_),
        summary_words=np.full(COUNT, 20),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        initial_vectors=None,
        columns={},
        tails=np.array([edge[0] for edge in edges], dtype=np.int64),
        heads=np.array([edge[1] for edge in edges], dtype=np.int64),
        arc_kinds=np.array([EDGE_KINDS.index(edge[2]) for edge in edges], dtype=np.int64),
        weights=np.array([edge[3] for edge in edges], dtype=np.float64),
    )


def scored(**best):
    """Return scores of 0.05 but for the nodes named, as n3=0.8."""
    values = np.full(COUNT, 0.05)
    for name, value in best.items():
        values[int(name[1:])] = value
    return NodeScores(relevance=values, propagated=values, combined=values, rarity={}, present=frozenset(), named=frozenset())
