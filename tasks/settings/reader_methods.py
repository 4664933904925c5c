"""The numbers of the readers that find their own way, each with the paper's beside it where that is another."""

from typing import Literal

from pydantic import Field

from tasks.settings.base import Settings, Share


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
    alpha: Share = 0.5  # weight of how near a page is, the rest is its rating's
    keep_above: float = 0.3  # pages worth less are not read, but for the best; 0: the paper's text, its code has this
    pages: int = 3  # K: pages that are read, at most
    rated: int = 40  # pages that are rated, at most
    everything: bool = False  # every page is rated and none walked to: an ablation
    documents: int = 5  # documents of a large corpus to walk the pages of, at most


class MapSettings(Settings):
    """`map`: three ways to pages, by sections, by text and by figures, and a look around where a part stays open (DMAP)."""

    located: int = 4  # pages by sections, at most; the paper has no bound
    k: int = 4  # pages by their text, and as many by their figures and tables; the paper: 1 and 4
    # structure: by sections; without it there is no map, and nothing to look around in
    paths: tuple[Literal["structure", "text", "visual"], ...] = ("structure", "text", "visual")
    # what a model that sees is shown: figures, the best pages that have some, beside them; pages, all that are read, apart from
    # their text, which another call reads: the paper
    pictures: Literal["figures", "pages"] = "figures"
    rounds: int = 1  # times that it is asked whether a part is open; not given in the paper, its code has this
    documents: int = 3  # documents that are mapped, at most; the paper has one
    widen_pages: int = 10  # pages around that are read in a round, at most; not given in the paper, its code has this


class PlanSettings(Settings):
    """`plan`: a question as several, and those mended (G2-Reader)."""

    rounds: int = 3  # R: how often the plan is mended, at most
    subquestions: int = 4  # S: questions that one is taken apart into, at most; the paper gives no number
    nodes: int = 30  # N: evidence of a sub-question; the number is missing from the paper
    neighbours: int = 5  # that follow a node as its evidence, at most; the paper takes all
    # what evidence begins with: score, the best h; cosine: the paper
    rank: Literal["score", "cosine"] = "score"


class AgentSettings(Settings):
    """`agent`: search, query and context on the graph of the layout (LAD-RAG); of the numbers the paper gives the turns alone."""

    steps: int = 20  # turns of a model, at most; the paper's number
    search_nodes: int = 10  # passages that a search of a model shows
    # without one a tool is not used: an ablation of the paper's
    tools: tuple[Literal["query", "context"], ...] = ("query", "context")
    search_share: Share = 0.7  # of the best h: what the best node of a page must have to be kept
    search_pages: int = 8  # pages that are kept by search, at most
    query_pages: int = 12  # pages that are kept by a query, at most
    context_seeds: int = 3  # kept nodes to look at the context of
    context_nodes: int = 40  # of it, at most
    context_share: Share = 0.5  # of the best h: what a member of the context must have to be kept
    # what makes a community: layout, arcs of the layout; all: also likeness; not given in the paper
    communities: Literal["layout", "all"] = "layout"
    resolution: float = Field(1.0, gt=0)  # of communities: the greater, the smaller they are
    seed: int = 0  # of communities
    documents: int = 5  # documents of a large corpus that are searched, at most
    paths: int = 3  # documents that are read, at most
    pages: int = 0  # K: pages that are read, the best of what was kept; 0: all, as the paper has it


class PagesSettings(Settings):
    """`pages`: the best pages by the ranking (M3DocRAG); `direct`: the first ones. All are read whole, in one call.

    A model that sees is shown their pictures beside their text. Their text alone is `reading.model.pictures` = 0, their pictures
    alone, with headings and captions, `reading.model.path_characters` = 0.
    """

    pages: int = 3  # K, of the best; the papers: 1, 3 and 5 (MoLoRAG), 5 and 10 (LAD-RAG)
    first: int = 30  # of the first, as far as the model has room for them; the number of MoLoRAG's direct inference
    documents: int = 5  # documents of a large corpus whose pages are taken, at most
