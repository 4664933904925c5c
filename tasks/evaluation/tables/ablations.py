"""What an evaluation takes away from a method, or exchanges: one table for all readers, by the dotted name of the setting."""

from collections.abc import Mapping
from typing import Any

from tasks.models.reranker import name_of_reranker
from tasks.settings.ask import AllSettings
from tasks.settings.base import change_settings

Changes = Mapping[str, Mapping[str, Any]]

K = {1: "one page", 3: "3 pages", 5: "5 pages", 10: "10 pages"}
"""The numbers of pages that the papers print tables for, each as its arm is named."""

PLAN_ABLATIONS: Changes = {
    **{f"rounds {rounds}": {"ask.plan.rounds": rounds} for rounds in (0, 1, 2, 4, 5)},
    "without a plan": {"ask.plan.subquestions": 1, "ask.plan.rounds": 0},
    "without neighbours": {"ask.plan.neighbours": 0},
    "without a graph": {"ask.plan.neighbours": 0, "ask.plan.rank": "cosine"},
    "evidence by cosine": {"ask.plan.rank": "cosine"},
    **{f"{nodes} nodes": {"ask.plan.nodes": nodes} for nodes in (5, 10, 20, 50, 100)},
}

AGENT_ABLATIONS: Changes = {
    "without queries": {"ask.agent.tools": ("context",)},
    "without context": {"ask.agent.tools": ("query",)},
    "search alone": {"ask.agent.tools": ()},
    "communities by likeness, too": {"ask.agent.communities": "all"},
    **{name: {"ask.agent.pages": pages} for pages, name in K.items()},
}

MAP_ABLATIONS: Changes = {
    **{f"{name} a path": {"ask.map.located": pages, "ask.map.k": pages} for pages, name in K.items()},
    "without sections": {"ask.map.paths": ("text", "visual")},
    "without text": {"ask.map.paths": ("structure", "visual")},
    "without figures and tables": {"ask.map.paths": ("structure", "text")},
    "without reflection": {"ask.map.rounds": 0},
}

WALK_ABLATIONS: Changes = {
    "rating alone": {"ask.walk.alpha": 0.0},
    "nearness alone": {"ask.walk.alpha": 1.0},
    "near by cosine": {"ask.walk.near": "cosine"},
    "every page rated": {"ask.walk.everything": True},
    "all arcs": {"ask.walk.arcs": "all"},
    "keep every page": {"ask.walk.keep_above": 0.0},
    **{f"{hops} hops": {"ask.walk.hops": hops} for hops in (0, 1, 2, 6)},
    **{f"{seeds} seeds": {"ask.walk.seeds": seeds} for seeds in (1, 5)},
    **{f"theta {theta}": {"ask.walk.theta": theta} for theta in (0.2, 0.6)},
    **{name: {"ask.walk.pages": pages} for pages, name in K.items()},
}

PAGES_ABLATIONS: Changes = {
    "as pictures": {"ask.reading.model.path_characters": 0},
    **{name: {"ask.pages.pages": pages} for pages, name in K.items()},
}

PAPERS_FLOW: Changes = {
    "greedy paths": {"ask.selection.rule": "greedy"},
    "mixing 0": {"ask.selection.mixing": 0.0},
    "start by flow": {"ask.selection.start": "flow"},
    "start by flow and quality": {"ask.selection.start": "both"},
    "without diverse sources": {"ask.routing.diversity": 1.0},
}
PAPERS_ROUTING: Changes = {"paper's routing": {"ask.routing.network": "paper"}}
OF_READERS: Mapping[str, Changes] = {
    "plan": PLAN_ABLATIONS,
    "agent": AGENT_ABLATIONS,
    "map": MAP_ABLATIONS,
    "walk": WALK_ABLATIONS,
    "pages": PAGES_ABLATIONS,
}
OF_READERS_BY_MODEL: Mapping[str, Changes] = {
    "plan": {"pictures for all that a model does": {"ask.reading.model.evidence_pictures": 3}},
    "map": {"pages read as text and as pictures": {"ask.map.pictures": "pages"}},
}
ALONE = {"ask.score.relevance": 1.0, "ask.score.propagation": 0.0, "ask.score.diffusion": 0.0}
_OUTRIGHT = ("place", "ratio", "item", "title", "modality")
"""What is added for what a question names; the other settings of that group are shares of these."""
OF_SCORES: Changes = {
    "relevance only": ALONE,
    "relevance only, no BM25": ALONE | {"ask.relevance.lexical_share": 0.0},
    "without BM25": {"ask.relevance.lexical_share": 0.0},
    "BM25 only": {"ask.relevance.lexical_share": 1.0},
    "the paper's arcs only": {"ask.candidates.arcs": "paper"},
    "BM25 sees summary and keywords": {"ask.relevance.text": "paper"},
    "vectors of summary and keywords": {"reading.embedding.text": "paper"},
    "question against evolved vectors": {"ask.relevance.vectors": "evolved"},
    "without places named": {f"ask.named.{name}": 0.0 for name in _OUTRIGHT},
    "without leaning to documents": {"ask.named.document": 0.0},
    "without the glossary of statements": {"ask.named.ratio": 0.0, "ask.named.item": 0.0},
    "without the page's share": {"ask.relevance.page_share": 0.0},
    "without pairs of words": {"ask.relevance.pair_share": 0.0},
    "without keeping what no arc reaches": {"ask.score.keep_unreached": False},
    "without scaling diffusion": {"ask.score.scale_diffusion": False},
    "diffusion by the edges' weights": {"ask.score.diffusion_weights": "edges"},
    "without OCR": {"reading.ocr.enabled": False},
}
OF_GATE: Changes = {
    "pairs rated as in the paper": {"ask.gate.scorer_temperature": 0.2},
    "without the gate": {"ask.gate.enabled": False},
}
OF_MODELS: Changes = {
    "the model's keywords": {"ask.keywords": True},
    "without pictures": {"ask.reading.model.pictures": 0},
}
ROUNDS: Changes = {f"evolution rounds {rounds}": {"reading.evolution.rounds": rounds} for rounds in range(6)}


def ablations_of(settings: AllSettings, reader: str) -> Changes:
    """Return what each ablation of a reader changes, its own first; changes already in effect are left out."""
    papers, by_model = settings.ask.routing.network == "paper", settings.ask.reading.by == "model"
    own = {**OF_READERS.get(reader, {}), **(OF_READERS_BY_MODEL.get(reader, {}) if by_model else {})}
    if reader == "flow":
        own = {**(PAPERS_FLOW if papers else PAPERS_ROUTING), **(OF_GATE if papers or by_model else {})}
    signals = {f"without {signal}": _without(settings, signal) for signal in ("propagation", "diffusion")}
    scores = {} if reader in {"direct", "oracle"} else {**signals, **OF_SCORES, **_second_looks(settings)}
    found = {**own, **scores, **(OF_MODELS if by_model else {}), **ROUNDS}
    return {name: change for name, change in found.items() if change_settings(settings, change) != settings}


def _second_looks(settings: AllSettings) -> Changes:
    """Return an ablation for each second look that is taken."""
    embedding = settings.reading.embedding
    looks = {
        "without comparing tokens": ("tokens_weight", embedding.tokens),
        "without the second embedder": ("weight", embedding.second),
        "without the reranker": ("rerank_weight", name_of_reranker(settings.ask)),
    }
    return {name: {f"ask.second.{weight}": 0.0} for name, (weight, there) in looks.items() if there}


def _without(settings: AllSettings, signal: str) -> dict[str, float]:
    """Return the score's weights without one signal, the others in their proportion."""
    weights = {name: float(getattr(settings.ask.score, name)) for name in ("relevance", "propagation", "diffusion")}
    left = sum(weights.values()) - weights[signal] or 1.0
    return {f"ask.score.{name}": 0.0 if name == signal else weight / left for name, weight in weights.items()}
