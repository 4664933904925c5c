"""The presets: what each paper does otherwise than the default, by the dotted name of the setting.

A paper that searches by vectors alone has no BM25, and its relevance is its score.
"""

from collections.abc import Mapping
from typing import Any

from tasks.settings.readers import Preset

NO_PAPER_HAS: dict[str, Any] = {
    "ask.relevance.page_share": 0.0,
    "ask.relevance.pair_share": 0.0,
    "ask.named.place": 0.0,
    "ask.named.ratio": 0.0,
    "ask.named.item": 0.0,
    "ask.named.title": 0.0,
    "ask.named.modality": 0.0,
    "ask.named.document": 0.0,
    "ask.second.tokens_weight": 0.0,
}
BY_VECTORS: dict[str, Any] = NO_PAPER_HAS | {
    "ask.relevance.lexical_share": 0.0,
    "ask.score.relevance": 1.0,
    "ask.score.propagation": 0.0,
    "ask.score.diffusion": 0.0,
}
EVOLVED: dict[str, Any] = {
    "reading.analysis.model.nodes_per_call": 1,
    "reading.analysis.model.pictures": "all",
    "reading.embedding.text": "paper",
    "reading.evolution.model.nodes_per_call": 1,
    "reading.evolution.model.content_characters": 4000,
    "reading.evolution.model.directed": True,
    "ask.candidates.arcs": "paper",
    "ask.relevance.vectors": "evolved",
}

G2: dict[str, Any] = (
    BY_VECTORS
    | EVOLVED
    | {
        "reading.evolution.model.summary": "enriched",
        "ask.plan.neighbours": 1000,
        "ask.plan.rank": "cosine",
        "ask.reading.model.evidence_pictures": 3,
    }
)
LAD: dict[str, Any] = BY_VECTORS | {
    "reading.embedding.text": "paper",
    "reading.evolution.rounds": 0,
    "ask.reading.model.pictures": 16,
}
DMAP: dict[str, Any] = BY_VECTORS | {"reading.evolution.rounds": 0, "ask.map.pictures": "pages"}
MOLORAG: dict[str, Any] = BY_VECTORS | {
    "reading.evolution.rounds": 0,
    "ask.walk.near": "cosine",
    "ask.walk.keep_above": 0.0,
}
FLOWREADER: dict[str, Any] = (
    NO_PAPER_HAS
    | EVOLVED
    | {
        "ask.keywords": True,
        "ask.relevance.text": "paper",
        "ask.score.keep_unreached": False,
        "ask.score.diffusion_weights": "edges",
        "ask.score.scale_diffusion": False,
        "ask.routing.network": "paper",
        "ask.gate.scorer_temperature": 0.2,
    }
)

DIFFERENCES: Mapping[Preset, Mapping[str, Any]] = {
    "default": {},
    "paper": FLOWREADER,
    "flowreader": FLOWREADER,
    "g2": G2,
    "lad": LAD,
    "dmap": DMAP,
    "molorag": MOLORAG,
}
