"""The artifact that lineage names and the published graph tell the same places."""

import shutil
from dataclasses import replace

import pytest

from storage.answer_records import NamedDocument
from storage.locations import artifacts_folder, corpus_location
from storage.records import WHOLE_PAGE
from storage.snapshot import open_for_reading
from tasks.lineage_documents import documents_told
from tasks.lineage_names import Shelf
from tasks.lineage_places import places_of
from tests.asking_worlds import Passage, published, written


@pytest.fixture
def shelf(own_home):
    with open_for_reading(corpus_location("small")) as snapshot:
        yield Shelf(snapshot)


def told(shelf):
    return documents_told(shelf, [NamedDocument(record.id, record.name) for record in shelf.records.values()])[0]


def nodes_of(shelf):
    return {node.id: node for record in shelf.records for node in shelf.snapshot.nodes(record)}


def test_the_artifact_and_the_graph_tell_the_same(shelf):
    documents, nodes = told(shelf), nodes_of(shelf)
    kept = places_of(shelf, documents, [])
    assert set(kept.nodes) == set(nodes) and len(kept.readers) == sum(record.pages for record in shelf.records.values())
    shutil.rmtree(artifacts_folder())
    graph = places_of(shelf, documents, list(nodes))
    assert graph.nodes == kept.nodes and sorted(graph.readers) == sorted(kept.readers)
    assert all((place.page, place.kind) == (nodes[name].page, nodes[name].kind.value) for name, place in kept.nodes.items())
    assert all(place.box is None for name, place in kept.nodes.items() if nodes[name].box == WHOLE_PAGE)


def test_a_spoilt_artifact_is_not_believed(shelf):
    documents = told(shelf)
    expected = places_of(shelf, documents, [])
    for path in artifacts_folder().glob("??/*"):
        path.write_bytes(b"{}")
    assert places_of(shelf, documents, list(expected.nodes)) == replace(expected, readers=tuple(sorted(expected.readers)))


def test_where_no_run_is_kept_the_graph_is_asked_and_what_is_not_there_is_left_out(tmp_path, home):
    location = published(tmp_path, written("harbour", Passage("The harbour is 20 metres deep.", page=2)))
    with open_for_reading(location) as snapshot:
        shelf = Shelf(snapshot)
        (node,) = nodes_of(shelf).values()
        found = places_of(shelf, told(shelf), [node.id, "e" * 64])
        assert {name: (place.page, place.kind) for name, place in found.nodes.items()} == {node.id: (2, "paragraph")}
        assert [(number, parser) for _document, number, parser, _note in found.readers] == [(1, "mineru"), (2, "mineru")]
        assert places_of(shelf, [], []).nodes == {}
