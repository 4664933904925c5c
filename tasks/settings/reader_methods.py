"""The numbers of the readers that find their own way, each with the paper's beside it where that is another."""

from typing import Literal

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
