"""A corpus with vectors of a second embedder: in a column of their own, by an identity that it keeps."""

import json
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from storage.codec import decode_graph, encode_graph
from storage.corpus.doctor import examine_vectors
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import ExpectedError
from storage.graph.checks import GraphError
from storage.graph.tables import SECOND_VECTOR, TableName, graph_tables
from storage.records.documents import EmbedderIdentity
from tests.storage.worlds import EMBEDDER, corpus_in, graph, publish, unit_vectors, writing

SECOND = EmbedderIdentity("other", "served", 5, named="hub/other")
BOTH = replace(EMBEDDER, second=SECOND)
REPORT = replace(graph("report"), second_vectors=unit_vectors(np.random.default_rng(3), 6, 5))


def opened(place, embedder=BOTH):
    return open_for_writing(place, embedder=embedder, wait_seconds=5)


@pytest.fixture
def place(tmp_path):
    with opened(corpus_in(tmp_path)) as corpus:
        publish(corpus, REPORT)
        corpus.index()
    return corpus.location


def test_a_graph_comes_back_from_its_artifacts_with_both_vectors():
    again = decode_graph(*encode_graph(REPORT))
    assert np.array_equal(again.second_vectors, REPORT.second_vectors) and np.array_equal(again.page_vectors, REPORT.page_vectors)
    assert decode_graph(*encode_graph(graph("report"))).second_vectors is None


def test_what_was_published_is_read_with_the_second_vectors_in_their_column(place):
    with open_for_reading(place) as snapshot:
        assert snapshot.embedder == BOTH and snapshot.embedder.second.named == "hub/other"
        positions = snapshot.view.adjacency.positions_of([node.id for node in REPORT.nodes])
        found = snapshot.view.columns.take(positions, ["vector", SECOND_VECTOR])
        assert np.array_equal(found[SECOND_VECTOR], REPORT.second_vectors) and np.array_equal(found["vector"], REPORT.vectors)
        assert list(examine_vectors(snapshot)) == []
    assert BOTH.key == "small/fp32/8 and other/served/5" and EMBEDDER.key == "small/fp32/8"


def test_a_corpus_is_written_by_both_its_embedders_or_not_at_all(place, tmp_path):
    moved = replace(EMBEDDER, second=replace(SECOND, named="/moved/other"))
    with opened(place, moved) as corpus:
        assert corpus.documents()
    for other in (EMBEDDER, replace(EMBEDDER, second=replace(SECOND, dimension=4))):
        with (
            pytest.raises(ExpectedError, match="was embedded by small/fp32/8 and other/served/5, this run has small"),
            opened(place, other),
        ):
            pass
    with writing(corpus_in(tmp_path, "plain")) as plain:
        publish(plain, REPORT)
    with pytest.raises(ExpectedError, match=r"by small/fp32/8, this run has .* and other/served/5"), opened(plain.location):
        pass
    with open_for_reading(plain.location) as snapshot:
        assert SECOND_VECTOR not in snapshot.graph_store.tables[TableName.NODES].schema.names


@pytest.mark.parametrize(
    ("vectors", "says"),
    [
        (None, r"second vectors: shape \(0, 8\) instead of \(6, 5\)"),
        (np.ones((6, 5), np.float32), "second vectors: row 0 has length"),
    ],
)
def test_a_document_without_sound_second_vectors_is_not_stored(tmp_path, vectors, says):
    with opened(corpus_in(tmp_path)) as corpus, pytest.raises(GraphError, match=says):
        publish(corpus, replace(REPORT, second_vectors=vectors))


def test_the_doctor_finds_second_vectors_that_are_no_unit_vectors(place):
    with opened(place) as corpus:
        batch = graph_tables([REPORT], [], BOTH)
        nodes = batch[TableName.NODES]
        doubled = pa.FixedSizeListArray.from_arrays(pa.array((2 * REPORT.second_vectors).ravel()), 5)
        at = nodes.schema.get_field_index(SECOND_VECTOR)
        spoilt = {**batch, TableName.NODES: nodes.set_column(at, nodes.schema.field(SECOND_VECTOR), doubled)}
        corpus._commit_kept(corpus.graph_store.replace(frozenset([REPORT.document_id]), spoilt))
    with open_for_reading(place) as snapshot:
        (finding,) = examine_vectors(snapshot)
    assert finding.check == "vectors" and f"{SECOND_VECTOR} of nodes: row 0 has length 2" in finding.what


def test_the_catalog_is_rewritten_with_the_second_identity(place):
    with opened(place) as corpus:
        corpus.purge(wait_seconds=0)
    with duckdb.connect(str(place.catalog), read_only=True) as connection:
        (kept,) = connection.execute("SELECT second_embedder FROM corpus").fetchone()
    assert EmbedderIdentity(**json.loads(kept)) == SECOND
