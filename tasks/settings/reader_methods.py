"""The numbers of the readers that find their own way, each with the paper's beside it where that is another."""

from collections.abc import Mapping
from typing import Any, Literal

from tasks.settings.base import Settings


class WalkSettings(Settings):
    """`walk`: a beam over the graph of pages (MoLoRAG)."""

    seeds: int = 3  # w: pages that the walk begins from, and pages that each hop goes on from
    hops: int = 4  # hops after the first pages
    theta: float = 0.4  # least cosine of two pages that are joined
    neighbours: int = 5  # nearest pages that a page is joined with; the paper has no bound, its code this one
    # similar: by cosine; all: also the page before and after, and pages that an arc of the layout joins
    arcs: Literal["similar", "all"] = "similar"
    # what is near: score, the page's h; cosine: the paper
    near: Literal["score", "cosine"] = "score"
    alpha: float = 0.5  # weight of how near a page is, the rest is its rating's
    keep_above: float = 0.3  # pages worth less are not read, but for the best; 0: the paper's text, its code has this
    pages: int = 3  # K: pages that are read, at most
    rated: int = 40  # pages that are rated, at most
    everything: bool = False  # every page is rated and none walked to: an ablation
    documents: int = 5  # documents of a large corpus whose pages are walked, at most


class PlanSettings(Settings):
    """`plan`: a question as several, and those mended (G2-Reader)."""

    rounds: int = 3  # R: how often the plan is mended, at most
    subquestions: int = 4  # S: questions that one is taken apart into, at most; the paper gives no number
    nodes: int = 30  # N: evidence of a sub-question; the number is missing from the paper
    neighbours: int = 5  # that follow a node as its evidence, at most; the paper takes all
    # what evidence begins with: score, the best h; cosine: the paper
    rank: Literal["score", "cosine"] = "score"


PLAN_ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    **{f"rounds {rounds}": {"ask.plan.rounds": rounds} for rounds in range(6)},
    "without a plan": {"ask.plan.subquestions": 1, "ask.plan.rounds": 0},
    "without neighbours": {"ask.plan.neighbours": 0},
    "without a graph": {"ask.plan.neighbours": 0, "ask.plan.rank": "cosine"},
    "evidence by cosine": {"ask.plan.rank": "cosine"},
    **{f"{nodes} nodes": {"ask.plan.nodes": nodes} for nodes in (5, 10, 20, 50, 100)},
}
"""What the ablations of `plan` change."""
