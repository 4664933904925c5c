import json
from dataclasses import replace

import pytest

from storage.corpus.export import export_document
from storage.corpus.snapshot import open_for_reading
from tests.storage.worlds import corpus_in, failed, graph, link, publish, record, writing

REPORT, LETTER, BROKEN = graph("report"), graph("letter"), graph("broken")


@pytest.fixture
def exported(tmp_path):
    place = corpus_in(tmp_path)
    with writing(place) as corpus:
        records = [
            replace(record(REPORT, "/secret/b.pdf", "/a.pdf", "/x/a.pdf"), attempt="limits", notes=("took 3 s",)),
            record(LETTER),
            failed(BROKEN),
        ]
        corpus.publish(graphs=[REPORT, LETTER], records=records, cross_edges=link(REPORT, LETTER))
    with open_for_reading(place) as snapshot:
        return {each.title: export_document(snapshot, each.document_id) for each in (REPORT, LETTER, BROKEN)}


def test_an_export_is_canonical(exported):
    said = json.loads(exported["report"])
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    assert exported["report"] == text


def test_an_export_holds_the_graph_in_order(exported):
    said = json.loads(exported["report"])
    assert [node["id"] for node in said["nodes"]] == [node.id for node in REPORT.nodes]
    assert [row["id"] for row in said["rows"]] == [row.id for row in REPORT.rows]
    assert len({node["vector"] for node in said["nodes"]} | {node["initial_vector"] for node in said["nodes"]}) == 12
    ends = [(edge["source"], edge["target"]) for edge in said["edges"]]
    assert ends == sorted([*((edge.source, edge.target) for edge in REPORT.edges), (REPORT.nodes[0].id, LETTER.nodes[0].id)])
    assert len(said["sections"]) == 1
    assert [page["number"] for page in said["pages"]] == [1, 2]


def test_an_export_holds_what_a_model_says_of_a_section_and_nothing_where_none_did(exported, tmp_path):
    assert all("summary" not in section for section in json.loads(exported["report"])["sections"])
    place = corpus_in(tmp_path / "other")
    with writing(place) as corpus:
        publish(corpus, replace(REPORT, sections=(replace(REPORT.sections[0], summary="It counts."),)))
    with open_for_reading(place) as snapshot:
        assert json.loads(export_document(snapshot, REPORT.document_id))["sections"][0]["summary"] == "It counts."


def test_an_export_says_nothing_of_where_and_when(exported):
    said = json.loads(exported["report"])
    assert said["document"]["names"] == ["a.pdf", "b.pdf"]
    for word in (b"secret", b"took 3 s", b"limits", b"snapshot"):
        assert word not in exported["report"]


def test_a_document_that_failed_is_exported_empty(exported):
    said = json.loads(exported["broken"])
    assert said["document"]["state"] == "failed"
    assert [said[part] for part in ("pages", "sections", "nodes", "rows", "edges")] == [[]] * 5
