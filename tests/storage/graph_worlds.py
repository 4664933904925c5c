"""A published corpus for the tests of search: documents of drawn edges and vectors, small enough to check by hand."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from storage.corpus.writer import open_for_writing
from storage.locations import CorpusLocation
from storage.records.documents import DocumentGraph, Edge, EdgeKind, Modality, NodeKind
from tests.kept_worlds import kept_world
from tests.storage.worlds import EMBEDDER, corpus_in, graph, link, record

MAKERS = (Path(__file__), Path(__file__).with_name("worlds.py"))
NAMES = ("report", "letter", "minutes")
NODES = 40
KINDS = (EdgeKind.WINDOW, EdgeKind.SEMANTIC, EdgeKind.PART_OF, EdgeKind.REFERS_TO)


def drawn(name: str) -> DocumentGraph:
    """A document of NODES nodes, with a figure and three drawn edges a node."""
    plain = graph(name, nodes=NODES)
    random = np.random.default_rng(int(plain.version[:8], 16))
    nodes = list(plain.nodes)
    nodes[3] = replace(nodes[3], kind=NodeKind.FIGURE, modality=Modality.FIGURE, summary="one two three", label="Figure 1")
    edges = {}
    for tail in range(NODES):
        for head in random.choice([other for other in range(NODES) if other != tail], 3, replace=False):
            kind = KINDS[int(random.integers(0, len(KINDS)))]
            document, weight = plain.document_id, round(float(random.random()), 1)
            edge = Edge(nodes[tail].id, nodes[int(head)].id, document, document, kind, weight)
            edges[edge.source, edge.target, edge.kind] = edge
    return replace(plain, nodes=tuple(nodes), edges=tuple(edges.values()))


GRAPHS = tuple(drawn(name) for name in NAMES)
LINKS = [*link(GRAPHS[0], GRAPHS[1]), *link(GRAPHS[1], GRAPHS[2])]
ALL_NODES = {node.id: node for each in GRAPHS for node in each.nodes}
ALL_EDGES = [*(edge for each in GRAPHS for edge in each.edges), *LINKS]
VECTORS = {node.id: vector for each in GRAPHS for node, vector in zip(each.nodes, each.vectors, strict=True)}


def published(folder: Path, *, indexed: bool = True) -> CorpusLocation:
    """The corpus of the three documents, a copy that may be changed."""
    kept = kept_world("graphs-indexed" if indexed else "graphs", lambda kept: publish_in(kept, indexed=indexed), *MAKERS)
    shutil.copytree(kept / "corpora", folder / "corpora")
    return corpus_in(folder)


def publish_in(folder: Path, *, indexed: bool) -> None:
    with open_for_writing(corpus_in(folder), embedder=EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=GRAPHS, records=[record(each) for each in GRAPHS], cross_edges=LINKS)
        if indexed:
            corpus.index()
