"""The numbers of the readers that find their own way, each with the paper's beside it where that is another."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from tasks.settings.base import Settings


class WalkSettings(Settings):
    """`walk`: a beam over the graph of pages (MoLoRAG)."""

    seeds: int = 3  # w: pages that the walk begins from, and pages that each hop goes on from
    hops: int = 4  # hops after the first pages
    theta: float = 0.4  # least cosine of two pages that are joined
    neighbours: int = 5  # nearest pages that a page is joined with; the paper has no bound, its code this one
    # similar: by cosine, and pages of two documents that an arc joins; all: also the page before and after, and by any arc
    arcs: Literal["similar", "all"] = "similar"
    # what is near: score, the page's h; cosine: the paper
    near: Literal["score", "cosine"] = "score"
    alpha: float = 0.5  # weight of how near a page is, the rest is its rating's
    keep_above: float = 0.3  # pages worth less are not read, but for the best; 0: the paper's text, its code has this
    pages: int = 3  # K: pages that are read, at most
    rated: int = 40  # pages that are rated, at most
    everything: bool = False  # every page is rated and none walked to: an ablation
    documents: int = 5  # documents of a large corpus to walk the pages of, at most


WALK_ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "rating alone": {"ask.walk.alpha": 0.0},
    "nearness alone": {"ask.walk.alpha": 1.0},
    "near by cosine": {"ask.walk.near": "cosine"},
    "every page rated": {"ask.walk.everything": True},
    "all arcs": {"ask.walk.arcs": "all"},
    "keep every page": {"ask.walk.keep_above": 0.0},
    **{f"{hops} hops": {"ask.walk.hops": hops} for hops in (0, 1, 2, 6)},
    **{f"{seeds} seeds": {"ask.walk.seeds": seeds} for seeds in (1, 5)},
    **{f"theta {theta}": {"ask.walk.theta": theta} for theta in (0.2, 0.6)},
    **{f"{pages} pages": {"ask.walk.pages": pages} for pages in (1, 5)},
}


class MapSettings(Settings):
    """`map`: three ways to pages, by sections, by text and by figures, and a look around where a part stays open (DMAP)."""

    located: int = 4  # pages by sections, at most; the paper has no bound
    k: int = 4  # pages by their text, and as many by their figures and tables; the paper: 1 and 4
    # structure: by sections; without it there is no map, and nothing to look around in
    paths: tuple[Literal["structure", "text", "visual"], ...] = ("structure", "text", "visual")
    rounds: int = 1  # times that it is asked whether a part is open; not given in the paper, its code has this
    documents: int = 3  # documents that are mapped, at most; the paper has one
    widen_pages: int = 10  # pages around that are read in a round, at most; not given in the paper, its code has this


MAP_ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "one page a path": {"ask.map.located": 1, "ask.map.k": 1},
    "without sections": {"ask.map.paths": ("text", "visual")},
    "without text": {"ask.map.paths": ("structure", "visual")},
    "without figures and tables": {"ask.map.paths": ("structure", "text")},
    "without reflection": {"ask.map.rounds": 0},
}


class PlanSettings(Settings):
    """`plan`: a question as several, and those mended (G2-Reader)."""

    rounds: int = 3  # R: how often the plan is mended, at most
    subquestions: int = 4  # S: questions that one is taken apart into, at most; the paper gives no number
    nodes: int = 30  # N: evidence of a sub-question; the number is missing from the paper
    neighbours: int = 5  # that follow a node as its evidence, at most; the paper takes all
    # what evidence begins with: score, the best h; cosine: the paper
    rank: Literal["score", "cosine"] = "score"


PLAN_ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    **{f"rounds {rounds}": {"ask.plan.rounds": rounds} for rounds in (0, 1, 2, 4, 5)},
    "without a plan": {"ask.plan.subquestions": 1, "ask.plan.rounds": 0},
    "without neighbours": {"ask.plan.neighbours": 0},
    "without a graph": {"ask.plan.neighbours": 0, "ask.plan.rank": "cosine"},
    "evidence by cosine": {"ask.plan.rank": "cosine"},
    **{f"{nodes} nodes": {"ask.plan.nodes": nodes} for nodes in (5, 10, 20, 50, 100)},
}


class AgentSettings(Settings):
    """`agent`: search, query and context on the graph of the layout (LAD-RAG); of the numbers the paper gives the turns alone."""

    steps: int = 20  # turns of a model, at most; the paper's number
    search_nodes: int = 10  # passages that a search of a model shows
    # without one a tool is not used: an ablation of the paper's
    tools: tuple[Literal["query", "context"], ...] = ("query", "context")
    search_share: float = 0.7  # of the best h: what the best node of a page must have to be kept
    search_pages: int = 8  # pages that are kept by search, at most
    query_pages: int = 12  # pages that are kept by a query, at most
    context_seeds: int = 3  # kept nodes to look at the context of
    context_nodes: int = 40  # of it, at most
    context_share: float = 0.5  # of the best h: what a member of the context must have to be kept
    # what makes a community: layout, arcs of the layout; all: also likeness; not given in the paper
    communities: Literal["layout", "all"] = "layout"
    resolution: float = Field(1.0, gt=0)  # of communities: the greater, the smaller they are
    seed: int = 0  # of communities
    documents: int = 5  # documents of a large corpus that are searched, at most
    paths: int = 3  # documents that are read, at most


AGENT_ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "without queries": {"ask.agent.tools": ("context",)},
    "without context": {"ask.agent.tools": ("query",)},
    "search alone": {"ask.agent.tools": ()},
    "communities by likeness, too": {"ask.agent.communities": "all"},
}


READER_ABLATIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "plan": PLAN_ABLATIONS,
    "agent": AGENT_ABLATIONS,
    "map": MAP_ABLATIONS,
    "walk": WALK_ABLATIONS,
}
"""What each reader that finds its own way is measured without; `flow` and `top-k` share the ablations of the scores."""
