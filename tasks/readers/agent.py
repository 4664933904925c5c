"""`agent`: the three tools on the graph, search, query and context, one after the other; what fits the question is kept."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import EDGE_KINDS, CandidateGraph
from storage.records.answers import TraceKind
from storage.records.documents import EdgeKind
from storage.text import counted
from tasks.algorithms.graphs.communities import context_of
from tasks.algorithms.graphs.graph_query import Condition, GraphIndex, GraphQuery, QueryError, run_query
from tasks.algorithms.questions.kinds import collects, find_asked_elements, find_counted_noun
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question
from tasks.readers.graph_indexes import communities_in, index_of, is_layout, ordinals_in
from tasks.readers.pages import Pages, equal_paths
from tasks.routing.way import ChosenPath, Way, places_of

ONE_THING = [EDGE_KINDS.index(kind) for kind in (EdgeKind.CONTINUES, EdgeKind.CAPTION_OF)]
"""Arcs between parts of one thing: keeping one part keeps the other."""
NARROWED_BY = ("caption", "section", "text")


@dataclass(frozen=True, slots=True)
class Kept:
    """The nodes that were kept so far, each once; where a model took turns, how they `ended`."""

    nodes: tuple[int, ...]
    way: Way
    ended: str = ""

    def also(self, nodes: Iterable[int], way: Way) -> "Kept":
        return Kept(tuple(dict.fromkeys((*self.nodes, *nodes))), way)

    def hash(self) -> Mapping[str, str]:
        return {"nodes": hash_bytes(repr(self.nodes).encode())}


def best_first(nodes: Iterable[int], scores: NodeScores) -> list[int]:
    """Return the nodes by falling score, equal ones by place."""
    return sorted(nodes, key=lambda node: (-scores.combined[node], node))


@question_step("search", Kept.hash)
def keep_searched(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Kept:
    """Keep the best node of each page that comes near to the best of all."""
    near = near_best(graph, scores, context)
    return Kept((), Way()).also(near, trace_step(Way(), TraceKind.SEARCH, question.text, near, graph, context))


def near_best(graph: CandidateGraph, scores: NodeScores, context: AskContext) -> list[int]:
    """Return the best node of each page, where it comes near to the best of all."""
    settings = context.settings.agent
    best = on_best_pages(best_first(range(len(graph)), scores), graph, settings.search_pages, each=1)
    return [node for node in best if scores.combined[node] >= settings.search_share * scores.combined[best[0]]]


def on_best_pages(ranked: Iterable[int], graph: CandidateGraph, most: int, *, each: int | None = None) -> list[int]:
    """Return those of the nodes that are on the first `most` pages, in their order; of a page the first `each`, all without it."""
    pages: dict[tuple[int, int], int] = {}
    found: list[int] = []
    for node in ranked:
        page = int(graph.documents[node]), int(graph.pages[node])
        if (page in pages or len(pages) < most) and (each is None or pages.get(page, 0) < each):
            pages[page] = pages.get(page, 0) + 1
            found.append(node)
    return found


@question_step("query", Kept.hash)
def keep_queried(question: Question, graph: CandidateGraph, scores: NodeScores, kept: Kept, context: AskContext) -> Kept:
    """Keep what the question names outright, and the elements of a kind that it counts or lists."""
    most = context.settings.agent.query_pages
    named = [node for node, name in enumerate(graph.ids) if name in scores.named]
    if named:
        best = on_best_pages(best_first(named, scores), graph, most)
        asked = ", ".join(str(place) for place in question.places)
        kept = kept.also(best, trace_step(kept.way, TraceKind.QUERY, asked, best, graph, context, total=len(named)))
    if queries := tuple(element_queries(question.text)):
        index = index_of(graph, scores, context)
        for query in queries:
            kept = _keep_found(query, index, graph, kept, context)
    return kept


def element_queries(question: str) -> Iterator[GraphQuery]:
    """Yield a query for each kind of element that is counted or listed; where something else is, one for each place of its name."""
    if not collects(question):
        return
    noun = find_counted_noun(question)
    for kind in sorted(find_asked_elements(question)):
        of_kind = Condition("kind", "is", kind)
        if not noun or find_asked_elements(noun):
            yield GraphQuery((of_kind,), best_first=True)
        else:
            yield from (GraphQuery((of_kind, Condition(field, "has", noun)), best_first=True) for field in NARROWED_BY)


def in_words(query: GraphQuery) -> str:
    """Return "kind is table and caption has dams, then captioned, from 41 on"."""
    where = " and ".join(f"{one.field} {one.op} {one.value}" for one in query.where)
    return where + (f", then {query.edge}" if query.edge else "") + (f", from {query.skip + 1} on" if query.skip else "")


def _keep_found(query: GraphQuery, index: GraphIndex, graph: CandidateGraph, kept: Kept, context: AskContext) -> Kept:
    """Keep what the query shows, or the best pages of it; one that cannot be run finds nothing, and the way says why."""
    asked = in_words(query)
    try:
        result = run_query(query, index)
    except QueryError as error:
        return replace(kept, way=kept.way.then(TraceKind.QUERY, asked, str(error)))
    best = on_best_pages(result.nodes, graph, context.settings.agent.query_pages)
    return kept.also(best, trace_step(kept.way, TraceKind.QUERY, asked, best, graph, context, total=result.total))


@question_step("context", Kept.hash)
def keep_context(_question: Question, graph: CandidateGraph, scores: NodeScores, kept: Kept, context: AskContext) -> Kept:
    """Look around the best kept nodes: keep the other parts of the same thing, and good neighbours."""
    settings, before = context.settings.agent, kept.way.last
    least = settings.context_share * scores.combined.max(initial=0.0)
    for node in best_first(kept.nodes, scores)[: settings.context_seeds]:
        near, more = around(node, graph, context)
        whole = _one_thing_with(node, graph)
        new = [other for other in near if (other in whole or scores.combined[other] >= least) and other not in kept.nodes]
        of = f" of {context.names[graph.document_ids[graph.documents[node]]].name}" if len(graph.document_ids) > 1 else ""
        asked = f"what stands around the best passage of page {graph.pages[node]}{of}"
        way = trace_step(
            kept.way, TraceKind.CONTEXT, asked, new, graph, context, total=len(near) + more, needs=range(1, before + 1)
        )
        kept = kept.also(new, way)
    return kept


def around(node: int, graph: CandidateGraph, context: AskContext) -> tuple[list[int], int]:
    """Return what stands around a node by the layout, the nearest first, and how much more there is."""
    layout = is_layout(graph.arc_kinds)
    return context_of(
        node,
        communities=communities_in(int(graph.documents[node]), graph, context),
        ordinals=ordinals_in(graph, context),
        tails=graph.tails[layout],
        heads=graph.heads[layout],
        most=context.settings.agent.context_nodes,
    )


def _one_thing_with(node: int, graph: CandidateGraph) -> set[int]:
    arcs = np.isin(graph.arc_kinds, ONE_THING)
    ends = np.stack([graph.tails[arcs], graph.heads[arcs]])
    return {*ends[1, ends[0] == node].tolist(), *ends[0, ends[1] == node].tolist()}


@question_step("take-kept", lambda chosen: {"paths": hash_bytes(repr(chosen[0]).encode())}, retries=0)
def take_kept(
    _question: Question, graph: CandidateGraph, scores: NodeScores, kept: Kept, context: AskContext
) -> tuple[tuple[ChosenPath, ...], Way]:
    """Read what was kept of the best documents, of each in reading order; where K pages are read, of the best of them."""
    ranked, ordinals = best_first(kept.nodes, scores), ordinals_in(graph, context)
    taken = on_best_pages(ranked, graph, context.settings.agent.pages or len(ranked))
    documents = list(dict.fromkeys(graph.documents[taken].tolist()))[: context.settings.agent.paths]
    ordered = sorted(taken, key=lambda node: ordinals[node])
    groups = [[node for node in ordered if graph.documents[node] == document] for document in documents]
    read = [node for group in groups for node in group]
    pages = Pages.of(graph)
    best: dict[int, float] = {}
    for node in ranked:
        best.setdefault(int(pages.of_nodes[node]), float(scores.combined[node]))
    after = f"; the turns ended with {kept.ended}" if kept.ended else ""
    asked = f"{counted(len(kept.nodes), 'kept passage')} in page order{after}"
    way = trace_step(kept.way, TraceKind.READ, asked, read, graph, context, needs=range(1, kept.way.last + 1))
    counts = {
        **kept.way.counts,
        "passages kept": float(len(kept.nodes)),
        "pages kept": float(len(best)),
        "queries": float(sum(step.kind is TraceKind.QUERY for step in way.steps)),
    }
    return equal_paths(groups), replace(way, pages=tuple((pages.keys[page], value) for page, value in best.items()), counts=counts)


def trace_step(
    way: Way,
    kind: TraceKind,
    asked: str,
    nodes: Sequence[int],
    graph: CandidateGraph,
    context: AskContext,
    *,
    total: int | None = None,
    needs: Sequence[int] = (),
    said: str = "",
) -> Way:
    """Return the way with a step that found these nodes, out of `total` where given; `said` replaces the words for them."""
    places = places_of(graph, nodes, context.names)
    of_all = "" if total is None else f" of {total:,}"
    found = f"{counted(len(nodes), 'passage')}{of_all} on {counted(len(places), 'page')}"
    return way.then(kind, asked, said or found, needs=tuple(needs), nodes=[graph.ids[node] for node in nodes], pages=places)
