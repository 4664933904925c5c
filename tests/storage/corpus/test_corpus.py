import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from storage.catalog import catalog
from storage.corpus import writer as corpus
from storage.corpus.doctor import examine
from storage.corpus.export import export_document
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import ExpectedError
from storage.graph.checks import GraphError
from storage.lock import LockLostError
from storage.records.documents import DocumentState
from storage.system import DiskFullError
from tests.storage.worlds import DIMENSION, EMBEDDER, corpus_in, exports, failed, graph, link, publish, record, writing

REPORT, LETTER = graph("report"), graph("letter")


def test_a_new_corpus_is_published_empty_without_a_word(place):
    with writing(place) as corpus:
        assert (corpus.messages, corpus.documents()) == ((), [])
    with open_for_reading(place) as snapshot:
        assert snapshot.documents() == []


def test_the_order_of_arrival_does_not_show(tmp_path):
    one, two = corpus_in(tmp_path, "one"), corpus_in(tmp_path, "two")
    with writing(one) as corpus:
        publish(corpus, REPORT, LETTER, cross_edges=link(REPORT, LETTER))
    with writing(two) as corpus:
        publish(corpus, graph("other"), LETTER)
        publish(corpus, REPORT, cross_edges=link(LETTER, REPORT))
        corpus.publish(removed=[graph("other").document_id])
        corpus.index()
    assert exports(one) == exports(two)


def test_publishing_again_changes_nothing_that_is_exported(place):
    with writing(place) as corpus:
        publish(corpus, REPORT, LETTER, cross_edges=link(REPORT, LETTER))
        before = exports(place)
        publish(corpus, REPORT, cross_edges=link(REPORT, LETTER))
        assert exports(place) == before
    assert examine(place) == []


def test_a_reader_keeps_the_snapshot_it_began_with(place):
    with writing(place) as corpus:
        publish(corpus, REPORT)
        with open_for_reading(place) as old:
            publish(corpus, graph("report", settings="b"), LETTER)
            corpus.publish(removed=[LETTER.document_id])
            assert [document.id for document in old.documents()] == [REPORT.document_id]
            assert old.nodes(REPORT.document_id) == list(REPORT.nodes)
        with open_for_reading(place) as new:
            assert new.nodes(REPORT.document_id) == list(graph("report", settings="b").nodes)
            assert new.nodes(LETTER.document_id) == []


def test_a_document_can_fail_and_lose_its_graph(place):
    with writing(place) as corpus:
        publish(corpus, REPORT, LETTER, cross_edges=link(REPORT, LETTER))
        corpus.publish(records=[failed(REPORT, "'\udcff.pdf' is odd")])
        assert {document.state for document in corpus.documents()} == {DocumentState.FAILED, DocumentState.READY}
    with open_for_reading(place) as snapshot:
        assert snapshot.find(REPORT.document_id).reason == "'\\udcff.pdf' is odd"
        assert snapshot.nodes(REPORT.document_id) == []
        assert snapshot.edges(LETTER.document_id) == sorted(LETTER.edges, key=lambda edge: (edge.source, edge.target))
        assert snapshot.counts(LETTER.document_id).edges == 5
        assert snapshot.counts().table_rows == 3
    assert examine(place) == []


def test_a_new_path_keeps_the_graph(place):
    odd = "/files/\udcff\n' OR true.pdf"
    with writing(place) as corpus:
        publish(corpus, REPORT)
        corpus.publish(records=[record(REPORT, "/a.pdf", odd)])
    with open_for_reading(place) as snapshot:
        assert snapshot.find(REPORT.document_id[:8]).paths == ("/a.pdf", odd)
        assert snapshot.nodes(REPORT.document_id) == list(REPORT.nodes)
        assert snapshot.counts().table_rows == 3
        assert b"udcff" in export_document(snapshot, REPORT.document_id)


def test_the_initial_vectors_of_what_is_published_are_given(place):
    with writing(place) as corpus:
        publish(corpus, REPORT, LETTER)
        found = corpus.initial_vectors([REPORT.document_id])
        order = dict(zip(found["id"].to_pylist(), found["initial_vector"].to_pylist(), strict=True))
        assert np.array_equal([order[node.id] for node in REPORT.nodes], REPORT.initial_vectors)
        assert sum(found["meaningless"].to_pylist()) == 1 and corpus.initial_vectors([]).num_rows == 0


REFUSED = {
    "a graph twice": ({"graphs": [REPORT, REPORT], "records": [record(REPORT)]}, "twice in one batch"),
    "a record twice": ({"graphs": [REPORT], "records": [record(REPORT), record(REPORT)]}, "twice in one batch"),
    "a graph without a record": ({"graphs": [REPORT]}, "has no record"),
    "a graph with a failed record": ({"graphs": [REPORT], "records": [failed(REPORT)]}, "has no record"),
    "a graph that is removed too": (
        {"graphs": [REPORT], "records": [record(REPORT)], "removed": [REPORT.document_id]},
        "removed too",
    ),
    "a ready record without a graph": ({"records": [record(REPORT)]}, "has no graph"),
    "another version of what is published": ({"records": [record(graph("kept", settings="b"))]}, "has no graph"),
    "a cross edge within a document": (
        {"graphs": [REPORT], "records": [record(REPORT)], "cross_edges": [REPORT.edges[0]]},
        "does not join",
    ),
    "a cross edge beside the batch": ({"cross_edges": link(REPORT, LETTER)}, "does not join"),
    "a cross edge to nobody": (
        {"graphs": [REPORT], "records": [record(REPORT)], "cross_edges": link(REPORT, LETTER)},
        "not published",
    ),
    "a cross edge to no node": (
        {
            "graphs": [REPORT],
            "records": [record(REPORT)],
            "cross_edges": [replace(link(graph("kept"), REPORT)[0], target="f" * 64)],
        },
        "not published",
    ),
    "a graph of another dimension": (
        {"graphs": [graph("report", dimension=4)], "records": [record(REPORT)]},
        "shape",
    ),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    place = corpus_in(tmp_path_factory.mktemp("kept"))
    with writing(place) as corpus:
        publish(corpus, graph("kept"))
        yield corpus


@pytest.mark.parametrize("name", REFUSED)
def test_a_batch_that_contradicts_itself_is_refused_before_writing(kept, name):
    batch, words = REFUSED[name]
    before = kept.graph_store.versions(), kept.snapshot
    with pytest.raises(GraphError, match=words):
        kept.publish(**batch)
    assert (kept.graph_store.versions(), kept.snapshot) == before


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (replace(EMBEDDER, precision="bf16"), "was embedded by small/fp32/8, this run has small/bf16/8"),
        (replace(EMBEDDER, texts="paper"), "was read in by the preset 'default'; ingest with --preset default"),
    ],
)
def test_another_embedder_or_preset_is_refused(place, other, words):
    with writing(place) as corpus:
        publish(corpus, REPORT)
    with pytest.raises(ExpectedError, match=words), open_for_writing(place, embedder=other, wait_seconds=0):
        pass
    with writing(place) as corpus:
        assert (corpus.messages, len(corpus.documents())) == ((), 1)


def test_a_writer_may_choose_its_embedder_by_that_of_the_corpus_even_where_no_reader_can_open_it(place):
    found = []
    for _ in range(2):
        with open_for_writing(place, embedder=lambda held: found.append(held) or EMBEDDER, wait_seconds=0) as corpus:
            assert corpus.embedder == EMBEDDER
        place.current.write_bytes(b"garbage")
    assert found == [None, EMBEDDER]


@pytest.mark.torture
def test_a_zombie_cannot_publish(place):
    with writing(place) as zombie:
        publish(zombie, REPORT)
        place.lock.unlink()
        with writing(place) as successor:
            with pytest.raises(LockLostError, match="was removed, and another ingest may have taken the corpus over"):
                publish(zombie, LETTER)
            assert not successor.graph_store.restore(successor._catalog_head().lance_versions), "it wrote nothing"
            publish(successor, graph("other"))
    assert set(exports(place)) == {REPORT.document_id, graph("other").document_id}
    assert examine(place) == []


def test_a_zombie_that_passed_the_catalog_stops_before_current(place, monkeypatch):
    with writing(place) as zombie:
        before = place.current.read_bytes()
        real = catalog.commit

        def overtaken(*arguments, **named):
            real(*arguments, **named)
            place.lock.unlink()

        monkeypatch.setattr(catalog, "commit", overtaken)
        with pytest.raises(LockLostError, match="the lock of corpus 'default' was removed"):
            publish(zombie, REPORT)
        assert place.current.read_bytes() == before


def test_a_disk_known_to_be_too_small_is_refused_before_writing(place, monkeypatch):
    with writing(place) as writer:
        before = writer.graph_store.versions()
        monkeypatch.setattr(corpus, "ROOM_FACTOR", 10**15)
        with pytest.raises(DiskFullError, match=r"disk full at .*, needs about \d+ MB"):
            publish(writer, REPORT)
        assert writer.graph_store.versions() == before


FILL = """
import resource, sys
from pathlib import Path
from storage.corpus.writer import open_for_writing
from storage.system import DiskFullError
from tests.storage.worlds import EMBEDDER, corpus_in, graph, publish
with open_for_writing(corpus_in(Path(sys.argv[1])), embedder=EMBEDDER, wait_seconds=0) as corpus:
    publish(corpus, graph("report"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    try:
        publish(corpus, graph("letter", nodes=1000))
    except DiskFullError as error:
        print(error)
"""


@pytest.mark.torture
@pytest.mark.parametrize("limit_bytes", [20_000, 400_000])
def test_a_disk_that_fills_up_while_publishing_keeps_the_old_snapshot_and_a_second_run_completes(place, tmp_path, limit_bytes):
    child = subprocess.run(
        [sys.executable, "-c", FILL, str(tmp_path), str(limit_bytes)], capture_output=True, text=True, check=False
    )
    assert f"disk full at {str(place.folder)!r}, needs about" in child.stdout, child.stderr
    assert set(exports(place)) == {REPORT.document_id}
    with writing(place) as writer:
        publish(writer, graph("letter", nodes=1000))
    assert examine(place) == []
    assert set(exports(place)) == {REPORT.document_id, LETTER.document_id}


def test_what_a_failed_publish_wrote_is_taken_back_by_the_next_in_the_same_process(place, monkeypatch):
    with writing(place) as writer:
        with monkeypatch.context() as broken:
            broken.setattr(catalog, "commit", lambda *arguments, **named: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                publish(writer, REPORT)
        publish(writer, LETTER)
    assert set(exports(place)) == {LETTER.document_id}
    assert examine(place) == []


def test_indexing_is_published_and_costs_nothing_the_second_time(place):
    with writing(place) as writer:
        publish(writer, REPORT)
        first = writer.index()
        assert writer.index() == first
    with open_for_reading(place) as snapshot:
        found = snapshot.graph_store.tables["nodes"].search("report", query_type="fts").limit(9).to_arrow()
        assert found.num_rows == 6
    assert snapshot.embedder.dimension == DIMENSION


def test_a_purge_leaves_no_catalog_that_was_set_aside(place):
    with writing(place) as writer:
        publish(writer, REPORT, LETTER)
        for kind in ("damaged-1", "wal.damaged-2"):
            place.catalog.with_name(f"{place.catalog.name}.{kind}").write_bytes(b"headings of the report")
        writer.publish(removed=[REPORT.document_id])
        assert len(place.set_aside) == 2
        writer.purge(wait_seconds=0)
    assert place.set_aside == []
    assert place.catalog.exists()
