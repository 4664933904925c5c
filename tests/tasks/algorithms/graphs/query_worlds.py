"""Small graphs to query, as plain records and as the index of them; an interpreter of queries that walks over networkx."""

import random
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from storage.records.documents import EdgeKind, Modality, NodeKind
from tasks.algorithms.graphs.graph_query import GraphIndex, WordField
from tasks.algorithms.graphs.query_form import EDGES, POSITIONS, Condition, GraphQuery, Walk
from tasks.algorithms.text.counting import CodedTexts, Vocabulary, code_texts
from tasks.algorithms.text.stems import stems_in

PATHS = ((), ("Results",), ("Results", "Latinos in surveys"), ("Method",), ("Method", "Results"))
DOCUMENTS = ("annual report", "survey of Latinos")


@dataclass(frozen=True)
class World:
    """Nodes as attributes in words, and arcs (tail, head, kind, weight, relation)."""

    nodes: tuple[SimpleNamespace, ...]
    arcs: tuple[tuple[int, int, EdgeKind, float, str], ...] = ()


def node(page=1, **known):
    """Return a paragraph without words on a page of the first document; what stands in `known` is otherwise."""
    plain = {"document": 0, "ordinal": 0, "kind": "paragraph", "modality": "text", "position": None, "path": (), "caption": "",
             "text": "", "keywords": (), "label": "", "printed": "", "score": 0.0}  # fmt: skip
    return SimpleNamespace(**{**plain, "page": page, **known})


def coded(texts):
    vocabulary = Vocabulary()
    return CodedTexts.of(code_texts(texts, vocabulary), vocabulary)


def index_of(world):
    """Return what `run_query` takes; a section is a path of titles in a document."""
    nodes = world.nodes
    sections = sorted({(each.document, each.path) for each in nodes if each.path})
    labels = sorted({each.label for each in nodes if each.label})

    def column(values):
        return np.array(list(values), dtype=np.int64)

    degrees = Counter(end for arc in world.arcs for end in arc[:2])
    every = np.arange(len(nodes))
    columns = {
        "document": column(each.document for each in nodes),
        "ordinal": column(each.ordinal for each in nodes),
        "page": column(each.page for each in nodes),
        "kind": column(list(NodeKind).index(each.kind) for each in nodes),
        "modality": column(list(Modality).index(each.modality) for each in nodes),
        "position": column(-1 if each.position is None else POSITIONS.index(each.position) for each in nodes),
        "section": column(sections.index((each.document, each.path)) if each.path else -1 for each in nodes),
        "section_level": column(len(each.path) for each in nodes),
        "label": column(labels.index(each.label) if each.label else -1 for each in nodes),
        "degree": column(degrees[place] for place in range(len(nodes))),
    }
    tails, heads, kinds, weights, relations = zip(*world.arcs, strict=True) if world.arcs else [()] * 5
    return GraphIndex(
        columns=columns,
        names={"document": DOCUMENTS, "section": [path[-1] for _, path in sections], "label": labels},
        words={
            "section": WordField.of([path for _, path in sections], columns["section"], coded),
            "document": WordField.of([(name,) for name in DOCUMENTS], columns["document"], coded),
            "label": WordField.of([(name,) for name in labels], columns["label"], coded),
            "caption": WordField.of([(each.caption,) for each in nodes], every, coded),
            "text": WordField(coded([each.text for each in nodes]), every, every),
            "keyword": WordField.of([each.keywords for each in nodes], every, coded),
            "printed": WordField.of([(each.printed,) for each in nodes], every, coded),
        },
        scores=np.array([each.score for each in nodes], dtype=float),
        tails=column(tails),
        heads=column(heads),
        arc_kinds=column(list(EdgeKind).index(kind) for kind in kinds),
        weights=np.array(weights, dtype=float),
        relations={arc: name for arc, name in enumerate(relations) if name},
    )


FORWARD = {"next": "next", "title": "part_of", "target": "refers_to", "captioned": "caption_of", "continuation": "continues"}
BACKWARD = {"previous": "next", "members": "part_of", "referrer": "refers_to", "caption": "caption_of", "continued": "continues"}
EITHER = {"similar": "semantic", "near": "window"}


def holds(world, place, condition):
    """Say whether a node passes a condition, by its words."""
    each, field, op, value = world.nodes[place], condition.field, condition.op, condition.value
    if op == "is_not":
        return not holds(world, place, Condition(field, "is", value))
    if field in ("kind", "modality", "position"):
        return getattr(each, field) in value.split("|")
    if field in ("page", "section_level", "degree"):
        degree = sum((tail == place) + (head == place) for tail, head, *_ in world.arcs)
        number = {"page": each.page, "section_level": len(each.path), "degree": degree}[field]
        return {"is": number == int(value), "from": number >= int(value), "to": number <= int(value)}[op]
    texts = {"section": each.path, "keyword": each.keywords, "document": (DOCUMENTS[each.document],)}.get(field)
    known = [stems_in(text) for text in (texts if texts is not None else (getattr(each, field),))]
    asked = stems_in(value)
    return {
        "is": any(stems == asked for stems in known),
        "has": any(stems >= asked for stems in known),
        "lacks": not any(stems & asked for stems in known),
    }[op]


def led_to(world, graph, place, walk):
    """Yield the nodes that one step leads to."""
    here, edge = world.nodes[place], walk.edge
    for other, there in enumerate(world.nodes):
        same = here.document == there.document
        if (
            (edge == "same_page" and other != place and same and here.page == there.page)
            or (edge == "same_section" and other != place and same and here.path and here.path == there.path)
            or (edge == "next_page" and same and there.page == here.page + 1)
            or (edge == "previous_page" and same and there.page == here.page - 1)
        ):
            yield other
    for _, other, arc in graph.out_edges(place, data=True):
        fits = arc["kind"] in (FORWARD.get(edge), EITHER.get(edge)) or edge == "any"
        if fits and walk.relation in ("", arc["relation"]):
            yield other
    for other, _, arc in graph.in_edges(place, data=True):
        fits = arc["kind"] in (BACKWARD.get(edge), EITHER.get(edge)) or edge == "any"
        if fits and walk.relation in ("", arc["relation"]):
            yield other


def interpreted(world, query):
    """Return nodes, rows, total and what each step left, node by node and arc by arc."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(len(world.nodes)))
    for tail, head, kind, weight, relation in world.arcs:
        graph.add_edge(tail, head, kind=kind, weight=weight, relation=relation)
    left = []

    def filtered(found, conditions):
        for condition in conditions:
            found = {place for place in found if holds(world, place, condition)}
            left.append(len(found))
        return found

    start = found = filtered(set(graph), query.where)
    for walk in query.walk:
        reached, frontier = set(), found
        for _ in range(walk.steps):
            frontier = {other for place in frontier for other in led_to(world, graph, place, walk)}
            reached |= frontier
        found = reached
        left.append(len(found))
    found = filtered(found | start if query.with_start else found, query.then)

    def read_as(place):
        each = world.nodes[place]
        return (-each.score if query.order == "score" else 0, each.document, each.ordinal)

    ordered = sorted(found, key=read_as)
    rows = [] if query.count_by == "none" else counted(world, ordered, query.count_by)
    return [] if rows else ordered[: query.limit], rows[: query.limit], len(ordered), left


def counted(world, ordered, by):
    groups = {}
    for place in ordered:
        each = world.nodes[place]
        held = {
            "page": each.page,
            "section": each.path,
            "kind": each.kind,
            "label": each.label,
            "document": DOCUMENTS[each.document],
        }
        groups.setdefault((each.document, held[by]), []).append(each.page)
    rows = []
    for (document, held), pages in groups.items():
        key = (held[-1] if held else "") if by == "section" else str(held)
        rows.append((document, key, len(pages), min(pages), max(pages)))
    return rows


TEXTS = ("", "share of Latinos", "Latino surveys", "costs of a survey", "(a+)+$", "収入高", "COVID-19 costs")
SAID = ("latino", "Latinos' share", "survey", "results", "cost", "(a+)+$", "収入", "covid", "' OR 1=1 --")
WORDED, COMPARED = ("is", "is_not", "has", "lacks"), ("is", "is_not", "from", "to")
CONDITIONS = {
    "kind": (("is", "is_not"), ("figure", "figure|table", "paragraph|title|list")),
    "modality": (("is", "is_not"), ("text", "figure|table")),
    "position": (("is", "is_not"), ("top-left", "top-left|bottom-right", "middle-left")),
    "page": (COMPARED, ("1", "2", "3")),
    "section_level": (COMPARED, ("0", "1", "2")),
    "degree": (COMPARED, ("0", "1", "3")),
    **dict.fromkeys(("section", "caption", "text", "keyword", "document"), (WORDED, SAID)),
    "label": (("is", "is_not"), ("figure 5", "Table 2", "Table")),
    "printed": (("is", "is_not"), ("IV", "12")),
}
SEEDS = st.integers(0, 2**32 - 1).map(random.Random)
"""Where graphs and queries come from: to have Hypothesis draw each of their hundred words takes ten times as long."""


def draw_world(rng):
    """Return up to 9 nodes of two documents with few different words, pages and sections, and arcs of all kinds."""
    nodes = []
    for place in range(rng.randint(0, 9)):
        kind = rng.choice(("paragraph", "title", "figure", "table"))
        nodes.append(
            node(
                document=rng.randint(0, 1),
                ordinal=-place,
                page=rng.randint(1, 4),
                kind=kind,
                modality=kind if kind in ("figure", "table") else "text",
                position=rng.choice((None, "top-left", "middle-center", "bottom-right")),
                path=rng.choice(PATHS),
                caption=rng.choice(TEXTS),
                text=rng.choice(TEXTS),
                keywords=tuple(rng.choices(TEXTS, k=rng.randint(0, 2))),
                label=rng.choice(("", "Figure 5", "Table 2")),
                printed=rng.choice(("", "iv", "12")),
                score=rng.randint(0, 2) / 2,
            )
        )
    ends = [rng.sample(range(len(nodes)), 2) for _ in range(rng.randint(0, 14))] if len(nodes) > 1 else []
    return World(
        tuple(nodes),
        tuple((*pair, rng.choice(tuple(EdgeKind)), rng.choice((0.0, 0.5)), rng.choice(("", "", "cause", "part"))) for pair in ends),
    )


def draw_condition(rng):
    field = rng.choice(tuple(CONDITIONS))
    ops, values = CONDITIONS[field]
    return Condition(field, rng.choice(ops), rng.choice(values))


def draw_query(rng, world):
    named = sorted({relation for *_, relation in world.arcs})

    def walk():
        edge = rng.choice(EDGES)
        return Walk(edge, rng.choice(named) if edge in (*FORWARD, *BACKWARD, *EITHER, "any") and named else "", rng.randint(1, 3))

    return GraphQuery(
        where=tuple(draw_condition(rng) for _ in range(rng.randint(0, 2))),
        walk=tuple(walk() for _ in range(rng.randint(0, 3))),
        with_start=rng.random() < 0.5,
        then=tuple(draw_condition(rng) for _ in range(rng.randint(0, 2))),
        count_by=rng.choice(("none", "none", "page", "section", "kind", "label", "document")),
        order=rng.choice(("reading", "score")),
        limit=rng.choice((1, 3, 50)),
    )
