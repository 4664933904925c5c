import os
from dataclasses import replace

import numpy as np
import pytest

from storage.catalog.catalog import Change
from storage.catalog.current import release
from storage.corpus.doctor import examine
from storage.corpus.reconciling import NO_CHANGE
from storage.corpus.snapshot import open_for_reading
from storage.graph.adjacency_files import load, place_of
from storage.graph.tables import TableName, graph_tables
from storage.memo import home_memo
from tests.storage.worlds import EMBEDDER, document_id, graph, publish, record, writing


@pytest.fixture
def memo(tmp_path):
    return home_memo(tmp_path)


@pytest.fixture
def report(memo):
    return graph("report", picture=memo.artifacts.put(b"picture"))


def smuggle(corpus, *, add=None, delete=None):
    """Change the graph behind the catalog's back and publish that, as a bug would."""
    for name, rows in (add or {}).items():
        corpus.graph_store.tables[name].add(rows)
    for name, where in (delete or {}).items():
        corpus.graph_store.tables[name].delete(where)
    corpus._commit(NO_CHANGE, corpus.graph_store.versions())


def checks(place):
    found = examine(place)
    assert all(finding.what and finding.remedy for finding in found)
    return {finding.check for finding in found}


def test_a_sound_corpus_has_no_findings_also_while_it_is_written(place, report):
    with writing(place) as corpus:
        publish(corpus, report)
        assert examine(place) == []


def test_ids_that_stand_twice_are_found(place, report):
    with writing(place) as corpus:
        publish(corpus, report)
        smuggle(corpus, add={TableName.ROWS: graph_tables([report], [], EMBEDDER)[TableName.ROWS]})
    assert checks(place) == {"unique ids", "counts"}


def test_rows_of_what_is_not_published_are_found(place, report):
    stranger = graph_tables([graph("stranger")], [], EMBEDDER)
    with writing(place) as corpus:
        publish(corpus, report)
        smuggle(corpus, add={TableName.NODES: stranger[TableName.NODES]})
    assert checks(place) == {"orphan rows"}


def test_lost_rows_and_loose_edges_are_found(place, report):
    with writing(place) as corpus:
        publish(corpus, report)
        smuggle(corpus, delete={TableName.NODES: "ordinal = 2"})
    assert checks(place) == {"counts", "edges' ends"}


def test_bad_vectors_are_found(place, report):
    half = replace(report, vectors=report.vectors / 2, page_vectors=np.zeros_like(report.page_vectors))
    with writing(place) as corpus:
        publish(corpus, report)
        corpus.graph_store.replace(frozenset([report.document_id]), graph_tables([half], [], EMBEDDER))
        smuggle(corpus)
    assert checks(place) == {"vectors"}


def test_altered_arcs_are_found_and_left_to_the_next_ingest(place, report):
    with writing(place) as corpus:
        publish(corpus, report)
        corpus.index()
        with open_for_reading(place) as snapshot:
            kept = place_of(place.lance, snapshot.graph_store.versions())
        assert examine(place) == []
        path = kept / "pages.npy"
        path.write_bytes(path.read_bytes()[:-4] + b"\x07\x00\x00\x00")
        assert checks(place) == {"adjacency"} and place.index_due.exists()
        corpus.index()
    assert load(kept) is not None and examine(place) == []


@pytest.mark.parametrize("damage", [None, b"", b"other"])
def test_a_picture_that_is_gone_or_altered_is_found(place, memo, report, damage):
    with writing(place) as corpus:
        publish(corpus, report)
    path = memo.artifacts.path(report.nodes[1].picture)
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert checks(place) == {"artifacts"}


def test_documents_without_sections_are_published_too(place):
    bare = replace(graph("bare"), sections=(), rows=())
    with writing(place) as corpus:
        publish(corpus, bare)
        assert Change(frozenset(), (record(bare),), (bare,), ()).replaced == {bare.document_id}
    assert examine(place) == []


def test_a_published_file_that_is_no_catalog_is_a_finding(place, report):
    with writing(place) as corpus:
        publish(corpus, report)
        whole = place.catalog.read_bytes()
        place.catalog.write_bytes(b"x" * 9000)
        release(place, corpus.snapshot + 1)
        place.catalog.write_bytes(whole)
    assert checks(place) == {"published snapshot"}


def test_what_a_document_was_made_from_is_checked_too(place, memo, report):
    with writing(place) as corpus:
        publish(corpus, report)
    parsed = memo.artifacts.put(b"parsed")
    memo.remember(report.document_id, "parse", document_id("key"), {"0": parsed})
    assert examine(place) == []
    memo.artifacts.path(parsed).write_bytes(b"torn")
    assert checks(place) == {"artifacts"}


def test_old_artifacts_that_nothing_names_are_found_and_left_to_the_next_ingest(place, memo, report):
    with writing(place) as corpus:
        publish(corpus, report)
    orphan = memo.artifacts.path(memo.artifacts.put(b"orphan"))
    assert examine(place) == []
    os.utime(orphan, (0, 0))
    assert checks(place) == {"orphan artifacts"}
    assert place.index_due.exists() and orphan.exists()
