from dataclasses import replace

import numpy as np
import pytest

from storage import catalog
from storage.artifacts import ArtifactStore
from storage.catalog import Change
from storage.corpus import open_for_writing
from storage.current import release
from storage.doctor import examine
from storage.reconciling import NO_CHANGE
from storage.tables import TableName, graph_tables
from tests.storage.worlds import DIMENSION, EMBEDDER, corpus_in, graph, publish, record


@pytest.fixture
def artifacts(tmp_path):
    return ArtifactStore(tmp_path / "artifacts")


@pytest.fixture
def place(tmp_path, artifacts):
    return corpus_in(tmp_path)


@pytest.fixture
def report(artifacts):
    return graph("report", picture=artifacts.put(b"picture"))


def writing(place):
    return open_for_writing(place, embedder=EMBEDDER, wait_seconds=0)


def smuggle(place, corpus, *, add=None, delete=None):
    """Change the graph behind the catalog's back and publish that, as a bug would."""
    for name, rows in (add or {}).items():
        corpus._graph.tables[name].add(rows)
    for name, where in (delete or {}).items():
        corpus._graph.tables[name].delete(where)
    number = corpus.snapshot + 1
    versions = corpus._graph.versions()
    catalog.commit(place.catalog, NO_CHANGE, fence=corpus._lock.fence, snapshot=number, lance_versions=versions)
    release(place, number)
    corpus.snapshot = number


def checks(place, artifacts):
    found = examine(place, artifacts)
    assert all(finding.what and finding.remedy for finding in found)
    return {finding.check for finding in found}


def test_a_sound_corpus_has_no_findings_also_while_it_is_written(place, artifacts, report):
    with writing(place) as corpus:
        publish(corpus, report)
        assert examine(place, artifacts) == []


def test_ids_that_stand_twice_are_found(place, artifacts, report):
    with writing(place) as corpus:
        publish(corpus, report)
        smuggle(place, corpus, add={TableName.ROWS: graph_tables([report], [], DIMENSION)[TableName.ROWS]})
    assert checks(place, artifacts) == {"unique ids", "counts"}


def test_rows_of_what_is_not_published_are_found(place, artifacts, report):
    stranger = graph_tables([graph("stranger")], [], DIMENSION)
    with writing(place) as corpus:
        publish(corpus, report)
        smuggle(place, corpus, add={TableName.NODES: stranger[TableName.NODES]})
    assert checks(place, artifacts) == {"orphan rows"}


def test_lost_rows_and_loose_edges_are_found(place, artifacts, report):
    with writing(place) as corpus:
        publish(corpus, report)
        smuggle(place, corpus, delete={TableName.NODES: "ordinal = 2"})
    assert checks(place, artifacts) == {"counts", "edges' ends"}


def test_bad_vectors_are_found(place, artifacts, report):
    half = replace(report, vectors=report.vectors / 2, page_vectors=np.zeros_like(report.page_vectors))
    with writing(place) as corpus:
        publish(corpus, report)
        corpus._graph.replace(frozenset([report.document_id]), graph_tables([half], [], DIMENSION))
        smuggle(place, corpus)
    assert checks(place, artifacts) == {"vectors"}


@pytest.mark.parametrize("damage", [None, b"", b"other"])
def test_a_picture_that_is_gone_or_altered_is_found(place, artifacts, report, damage):
    with writing(place) as corpus:
        publish(corpus, report)
    path = artifacts.path(report.nodes[1].picture)
    path.unlink()
    if damage is not None:
        path.write_bytes(damage)
    assert checks(place, artifacts) == {"artifacts"}


def test_documents_without_sections_are_published_too(place, artifacts):
    bare = replace(graph("bare"), sections=(), rows=())
    with writing(place) as corpus:
        publish(corpus, bare)
        assert Change(frozenset(), (record(bare),), (bare,), ()).replaced == {bare.document_id}
    assert examine(place, artifacts) == []


def test_a_published_file_that_is_no_catalog_is_a_finding(place, artifacts, report):
    with writing(place) as corpus:
        publish(corpus, report)
        whole = place.catalog.read_bytes()
        place.catalog.write_bytes(b"x" * 9000)
        release(place, corpus.snapshot + 1)
        place.catalog.write_bytes(whole)
    assert checks(place, artifacts) == {"published snapshot"}
