"""The arcs of a graph as arrays: what they say, how they are kept in files, and the candidates of a question."""

import os
import shutil
import stat
import time
from dataclasses import fields, replace
from datetime import timedelta

import numpy as np
import pytest

from storage.corpus.snapshot import open_for_reading
from storage.graph.adjacency import AGAINST, SYMMETRIC, Adjacency, derive, hexadecimal, label_code
from storage.graph.adjacency_files import (
    CHECKSUMS,
    NAMES,
    adjacency_of,
    drop_old,
    keep_adjacency,
    load,
    place_of,
    save,
)
from storage.graph.candidates import EDGE_KINDS, MODALITIES, NODE_KINDS, arcs_among, assemble
from storage.graph.store import GraphDamagedError, create_graph, open_graph
from storage.graph.tables import TableName, graph_tables
from storage.records.documents import EdgeKind, Modality, NodeKind
from tasks.algorithms.text.words import count_words
from tests.storage.graph_worlds import ALL_EDGES, ALL_NODES, GRAPHS, published
from tests.storage.worlds import EMBEDDER, graph, publish, writing

SUMMARIES = ("", "one two, three.", "研究の結果 was good", "tab\there\n\nline", "1,234.5 — a-b")


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


def test_an_id_is_found_and_a_strange_one_is_named(adjacency):
    ids = sorted(ALL_NODES)[::-7]
    assert adjacency.hex_ids(adjacency.positions_of(ids)) == ids
    assert adjacency.positions_of([]).tolist() == []
    for strange in ("f" * 64, "0" * 64, "", "xyz", "A" * 64, ids[0] + "00"):
        with pytest.raises(LookupError, match=f"node '{strange[:12]}' is not in this snapshot"):
            adjacency.positions_of([ids[0], strange])


def test_of_some_ids_those_that_are_there_are_found(adjacency):
    there = sorted(ALL_NODES)[5]
    (place,) = adjacency.positions_of([there]).tolist()
    assert adjacency.find(["", there, "f" * 64, there, "A" * 64]).tolist() == [-1, place, -1, place, -1]
    assert adjacency.find([]).tolist() == []


def test_a_corpus_of_nothing_has_no_arcs(tmp_path):
    empty = derive(create_graph(tmp_path, EMBEDDER))
    assert (len(empty.ids), len(empty.heads), empty.starts.tolist()) == (0, 0, [0])
    with pytest.raises(LookupError):
        empty.positions_of(["a" * 64])


def test_loose_arcs_are_left_out(tmp_path):
    store = create_graph(tmp_path, EMBEDDER)
    batch = graph_tables([graph("report")], [], EMBEDDER)
    store.replace(frozenset(), batch | {TableName.NODES: batch[TableName.NODES].slice(0, 0)})
    assert len(derive(store).heads) == 0
    store.replace(frozenset(), batch | {TableName.NODES: batch[TableName.NODES].slice(0, 3)})
    assert len(derive(store).heads) == 4  # two `next` arcs, each listed at both ends


def test_summaries_are_counted_as_lengths_are(tmp_path):
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


def same(one: Adjacency, other: Adjacency) -> bool:
    return all(np.array_equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(Adjacency))


def test_what_is_saved_is_loaded_mapped(adjacency, tmp_path):
    save(adjacency, tmp_path / "a" / "place")
    loaded = load(tmp_path / "a" / "place")
    assert same(adjacency, loaded)
    assert isinstance(loaded.heads, np.memmap)


def test_an_empty_corpus_is_saved_and_loaded(tmp_path):
    nothing = derive(create_graph(tmp_path / "lance", EMBEDDER))
    save(nothing, tmp_path / "place")
    assert same(nothing, load(tmp_path / "place"))


def test_what_is_missing_cut_or_of_another_place_is_not_loaded(adjacency, tmp_path):
    assert load(tmp_path / "nowhere") is None
    for name, keep in (("heads", 100), ("ids", 0), ("kinds", None), ("starts", "shorter"), ("weights", "shorter")):
        place = tmp_path / name
        save(adjacency, place)
        path = place / f"{name}.npy"
        if keep is None:
            path.unlink()
        elif keep == "shorter":
            np.save(path, getattr(adjacency, name)[:-1])
        else:
            path.write_bytes(path.read_bytes()[:keep])
        assert load(place) is None
        save(adjacency, place)
        assert same(adjacency, load(place))


def flip(path, place, bit=0):
    """Turn one bit of the file over, as a disk may."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


@pytest.mark.parametrize("name", [*(f"{name}.npy" for name in NAMES), CHECKSUMS])
def test_a_bit_that_turned_over_anywhere_is_found(adjacency, tmp_path, name):
    save(adjacency, tmp_path)
    for place in (0, 8, 60, -3):
        flip(tmp_path / name, place, bit=4)
        assert load(tmp_path) is None
        flip(tmp_path / name, place, bit=4)
    assert same(adjacency, load(tmp_path))


def test_a_question_over_altered_files_sees_what_the_tables_say(tmp_path):
    location = published(tmp_path)
    store = open_graph(location.lance)
    place = place_of(location.lance, store.versions())
    flip(place / "heads.npy", -1, bit=6)
    assert same(adjacency_of(store), derive(store))


def test_what_is_written_has_the_read_permissions_of_its_folder(adjacency, tmp_path):
    for mode in (0o755, 0o700, 0o2750):
        folder = tmp_path / oct(mode)
        folder.mkdir()
        folder.chmod(mode)
        save(adjacency, folder / "place")
        assert stat.S_IMODE((folder / "place").stat().st_mode) == mode


def test_a_failed_write_leaves_nothing(adjacency, tmp_path, monkeypatch):
    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="No space left"):
        save(adjacency, tmp_path / "place")
    assert list(tmp_path.iterdir()) == []


def test_an_indexed_corpus_has_its_own_and_after_cleaning_no_other(tmp_path):
    location = published(tmp_path)
    with writing(location) as corpus:
        publish(corpus, graph("later"))
        with open_for_reading(location) as snapshot:
            assert not place_of(location.lance, snapshot.graph_store.versions()).exists()
            derived = adjacency_of(snapshot.graph_store)
        corpus.index()
        corpus.tidy(keep_seconds=0)
    with open_for_reading(location) as snapshot:
        place = place_of(location.lance, snapshot.graph_store.versions())
        loaded = adjacency_of(snapshot.graph_store)
    assert list(place.parent.iterdir()) == [place]
    assert sorted(loaded.ids) == sorted(derived.ids)


def test_one_goes_when_neither_table_has_a_reader_of_that_age(tmp_path):
    store = open_graph(published(tmp_path).lance)
    place, earlier = (place_of(store.folder, versions) for versions in (store.versions(), {"nodes": 1, "edges": 1}))
    shutil.copytree(place, earlier)
    os.utime(earlier, (time.time() - 100, time.time() - 100))
    at_once, hour = timedelta(milliseconds=1), timedelta(hours=1)
    for pinned in (TableName.NODES, TableName.EDGES):
        drop_old(store, {name: hour if name is pinned else at_once for name in TableName})
        assert earlier.exists()
    young = earlier.with_name("young")
    shutil.copytree(earlier, young)
    os.utime(young)
    drop_old(store, dict.fromkeys(TableName, timedelta(seconds=50)))
    assert sorted(place.parent.iterdir()) == sorted((place, young))


def test_an_altered_one_is_written_again_by_the_next_indexing(tmp_path):
    store = open_graph(published(tmp_path).lance)
    place = place_of(store.folder, store.versions())
    flip(place / "pages.npy", -4)
    assert load(place) is None
    keep_adjacency(store)
    assert load(place) is not None


def test_some_nodes_keep_the_arcs_among_them_in_order(adjacency):
    names = sorted(ALL_NODES)[::2]
    tails, heads, kinds, weights = arcs_among(adjacency, adjacency.positions_of(names))
    found = [
        (names[tail], names[head], EDGE_KINDS[kind], float(weight))
        for tail, head, kind, weight in zip(tails, heads, kinds, weights, strict=True)
    ]
    inside = [edge for edge in ALL_EDGES if edge.source in names and edge.target in names]
    inside.sort(key=lambda edge: (edge.source, edge.target, EDGE_KINDS.index(edge.kind)))
    assert found == [(edge.source, edge.target, edge.kind, edge.weight) for edge in inside]


def test_the_columns_are_those_of_the_records(adjacency):
    names = sorted(ALL_NODES)[3:60]
    positions = adjacency.positions_of(names)
    vectors, texts = np.ones((len(names), 2), np.float32), np.array(["text"] * len(names), object)
    graph = assemble(adjacency, positions, {"search_text": texts, "vector": vectors})
    nodes = [ALL_NODES[name] for name in names]
    assert list(graph.ids) == names
    assert len(graph) == len(names)
    assert list(graph.document_ids) == sorted({node.document_id for node in nodes})
    assert [graph.document_ids[document] for document in graph.documents] == [node.document_id for node in nodes]
    assert graph.pages.tolist() == [node.page for node in nodes]
    assert [NODE_KINDS[code] for code in graph.kinds] == [node.kind for node in nodes]
    assert [MODALITIES[code] for code in graph.modalities] == [node.modality for node in nodes]
    assert graph.meaningless.tolist() == [node.meaningless for node in nodes]
    assert graph.summary_words.tolist() == [len(node.summary.split()) for node in nodes]
    assert graph.vectors is vectors
    assert (graph.initial_vectors, set(graph.columns)) == (None, {"search_text"})
