import numpy as np
import pytest

from storage.graph.adjacency import AGAINST, SYMMETRIC, UnknownNodeError, derive, digests, hexadecimal, label_code
from storage.graph.store import GraphDamagedError, create_graph, open_graph
from storage.graph.tables import TableName, graph_tables
from storage.records.documents import EdgeKind, Modality, NodeKind
from tasks.algorithms.text.words import count_words
from tests.storage.graph_worlds import ALL_EDGES, ALL_NODES, GRAPHS, published
from tests.storage.worlds import EMBEDDER, graph

SUMMARIES = ("", "one two, three.", "研究の結果 was good", "tab\there\n\nline", "1,234.5 — a-b")


@pytest.fixture(scope="module")
def adjacency(tmp_path_factory):
    return derive(open_graph(published(tmp_path_factory.mktemp("home")).lance))


def test_every_node_is_there_with_what_its_record_says(adjacency):
    nodes = [ALL_NODES[name] for name in adjacency.hex_ids(np.arange(len(ALL_NODES)))]
    assert len({node.id for node in nodes}) == len(ALL_NODES)
    assert [node.page for node in nodes] == adjacency.pages.tolist()
    assert [node.ordinal for node in nodes] == adjacency.ordinals.tolist()
    assert [node.kind for node in nodes] == [list(NodeKind)[code] for code in adjacency.kinds]
    assert [node.modality for node in nodes] == [list(Modality)[code] for code in adjacency.modalities]
    assert [label_code(node.label) for node in nodes] == adjacency.labels.tolist()
    assert label_code("Figure 1") == label_code("FIGURE 1") in adjacency.labels and label_code("") == 0
    assert [node.meaningless for node in nodes] == adjacency.meaningless.tolist()
    assert [node.document_id for node in nodes] == hexadecimal(adjacency.document_ids[adjacency.documents])
    assert [count_words(node.summary) for node in nodes] == adjacency.summary_words.tolist()


def test_rows_ascend_and_ids_are_listed_in_order(adjacency):
    assert (np.diff(adjacency.rows.astype(np.int64)) > 0).all()
    assert adjacency.hex_ids(adjacency.by_id) == sorted(ALL_NODES)
    assert hexadecimal(adjacency.document_ids) == sorted(each.document_id for each in GRAPHS)
    assert adjacency.positions_of_rows(adjacency.rows[[5, 2]]).tolist() == [5, 2]


def test_the_arcs_are_the_edges_and_one_way_kinds_are_listed_at_their_heads_too(adjacency):
    everything = np.arange(len(ALL_NODES))
    ids = adjacency.hex_ids(everything)
    owners, listed = adjacency.arcs_of(everything)
    codes = adjacency.arc_kinds[listed]
    found = {
        (ids[owner], ids[head], int(code), float(weight))
        for owner, head, code, weight in zip(owners, adjacency.heads[listed], codes, adjacency.weights[listed], strict=True)
    }
    kinds = list(EdgeKind)
    along = {(edge.source, edge.target, kinds.index(edge.kind), edge.weight) for edge in ALL_EDGES}
    against = {
        (edge.target, edge.source, kinds.index(edge.kind) + AGAINST, edge.weight)
        for edge in ALL_EDGES
        if edge.kind not in SYMMETRIC
    }
    assert found == along | against
    assert len(listed) == len(along) + len(against)


def test_arcs_come_for_the_nodes_asked_in_their_order(adjacency):
    owners, listed = adjacency.arcs_of(np.array([7, 3]))
    seven, three = (np.arange(adjacency.starts[place], adjacency.starts[place + 1]) for place in (7, 3))
    assert listed.tolist() == [*seven, *three]
    assert owners.tolist() == [0] * len(seven) + [1] * len(three)


def test_an_id_is_found_and_a_strange_one_is_named(adjacency):
    ids = sorted(ALL_NODES)[::-7]
    assert adjacency.hex_ids(adjacency.positions_of(ids)) == ids
    assert adjacency.positions_of([]).tolist() == []
    for strange in ("f" * 64, "0" * 64, "", "xyz", "A" * 64, ids[0] + "00"):
        with pytest.raises(UnknownNodeError, match=f"node '{strange[:12]}' is not in this snapshot"):
            adjacency.positions_of([ids[0], strange])


def test_of_some_ids_those_that_are_there_are_found(adjacency):
    there = sorted(ALL_NODES)[5]
    (place,) = adjacency.positions_of([there]).tolist()
    assert adjacency.find(["", there, "f" * 64, there, "A" * 64]).tolist() == [-1, place, -1, place, -1]
    assert adjacency.find([]).tolist() == []


def test_digests_keep_every_byte():
    ids = ["00" * 32, "ab" * 31 + "00", "00" + "ff" * 31]
    assert hexadecimal(digests(ids)) == ids


def test_a_corpus_of_nothing_has_no_arcs(tmp_path):
    empty = derive(create_graph(tmp_path, EMBEDDER))
    assert (len(empty.ids), len(empty.heads), empty.starts.tolist()) == (0, 0, [0])
    with pytest.raises(UnknownNodeError):
        empty.positions_of(["a" * 64])


def test_loose_arcs_are_left_out(tmp_path):
    store = create_graph(tmp_path, EMBEDDER)
    batch = graph_tables([graph("report")], [], EMBEDDER)
    store.replace(frozenset(), batch | {TableName.NODES: batch[TableName.NODES].slice(0, 0)})
    assert len(derive(store).heads) == 0
    store.replace(frozenset(), batch | {TableName.NODES: batch[TableName.NODES].slice(0, 3)})
    assert len(derive(store).heads) == 4  # two `next` arcs, each listed at both ends


def test_summaries_are_counted_as_lengths_are(tmp_path):
    from dataclasses import replace

    report = graph("report", nodes=len(SUMMARIES))
    nodes = tuple(replace(node, summary=text) for node, text in zip(report.nodes, SUMMARIES, strict=True))
    store = create_graph(tmp_path, EMBEDDER)
    store.replace(frozenset(), graph_tables([replace(report, nodes=nodes)], [], EMBEDDER))
    found = derive(store)
    assert found.summary_words[np.argsort(found.ordinals)].tolist() == [count_words(text) for text in SUMMARIES]


@pytest.mark.parametrize("name", ["nodes", "edges"])
def test_unreadable_tables_are_named(tmp_path, name):
    location = published(tmp_path)
    for path in (location.lance / f"{name}.lance" / "data").iterdir():
        path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(GraphDamagedError, match=f"table {name} of the graph cannot be read"):
        derive(open_graph(location.lance))
