import pytest

from storage.graph.filters import Column, between
from storage.graph.store import GraphDamagedError, create_graph, open_graph
from storage.graph.tables import TableName, graph_tables, nodes_of
from storage.lock import LockLostError
from tests.storage.worlds import EMBEDDER, graph, link

NOBODY: frozenset[str] = frozenset()


@pytest.fixture
def store(tmp_path):
    return create_graph(tmp_path, EMBEDDER)


def put(store, *graphs, edges=()):
    return store.replace(frozenset(each.document_id for each in graphs), graph_tables(graphs, edges, EMBEDDER))


def ids(store, name=TableName.NODES):
    return sorted(store.read(name, columns=["id"])["id"].to_pylist())


def test_the_same_batch_twice_is_there_once(store):
    report = graph("report")
    put(store, report)
    once = ids(store)
    put(store, report)
    assert ids(store) == once == sorted(node.id for node in report.nodes)


def test_rows_without_a_document_to_replace_are_put_once_too(store):
    batch = graph_tables([graph("report")], [], EMBEDDER)
    store.replace(NOBODY, batch)
    store.replace(NOBODY, batch)
    assert len(ids(store)) == 6


def test_a_new_version_takes_the_place_of_the_old(store):
    put(store, graph("report"))
    put(store, graph("report", settings="b"))
    assert ids(store) == sorted(node.id for node in graph("report", settings="b").nodes)


def test_a_document_that_goes_takes_the_edges_that_end_in_it(store):
    report, letter = graph("report"), graph("letter")
    put(store, report, letter, edges=link(report, letter))
    store.replace(frozenset([letter.document_id]), graph_tables([], [], EMBEDDER))
    assert ids(store, TableName.EDGES) == sorted(edge.id for edge in report.edges)


def test_readers_of_a_version_see_only_that(store, tmp_path):
    pinned = put(store, graph("report"))
    put(store, graph("letter"))
    reader = open_graph(tmp_path, pinned)
    assert nodes_of(reader.read(TableName.NODES)) == list(graph("report").nodes)
    assert reader.versions() == pinned


def test_restoring_makes_the_old_version_the_newest(store, tmp_path):
    pinned = put(store, graph("report"))
    assert store.restore(pinned) == []
    put(store, graph("letter"))
    assert set(store.restore(pinned)) == set(TableName)
    assert len(ids(open_graph(tmp_path))) == 6


def test_a_write_by_another_process_is_noticed(store, tmp_path):
    class Meddling:
        """A table that another writer appends to right before our commit."""

        def __init__(self, table):
            self._table = table

        def __getattr__(self, name):
            return getattr(self._table, name)

        def delete(self, where):
            put(open_graph(tmp_path), graph("zombie"))
            return self._table.delete(where)

    store.tables[TableName.NODES] = Meddling(store.tables[TableName.NODES])
    with pytest.raises(LockLostError, match="written by another process"):
        put(store, graph("report"))


def test_filters_choose_rows_in_reads_and_streams(store):
    put(store, graph("report"))
    where = between(Column.PAGE, 2, 9)
    assert store.read(TableName.NODES, where).num_rows == 3
    assert sum(part.num_rows for part in store.stream(TableName.NODES, ["id"], where)) == 3
    assert sum(part.num_rows for part in store.stream(TableName.NODES, ["id"])) == 6


def test_a_missing_table_and_a_missing_version_are_named(store, tmp_path):
    with pytest.raises(GraphDamagedError, match="table nodes version 99"):
        open_graph(tmp_path, store.versions() | {"nodes": 99})
    with pytest.raises(GraphDamagedError, match=r"table nodes in .* cannot be opened"):
        open_graph(tmp_path / "elsewhere")
    with pytest.raises(GraphDamagedError, match="table rows version None"):
        open_graph(tmp_path, {"nodes": 2})


def test_reading_through_meets_damage_wherever_it_is(store, tmp_path):
    put(store, graph("report"))
    store.read_through()
    for path in (tmp_path / "pages.lance" / "data").iterdir():
        path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(GraphDamagedError, match="table pages of the graph cannot be read"):
        open_graph(tmp_path).read_through()
