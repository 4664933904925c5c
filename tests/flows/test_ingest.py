"""The ingest flow: what comes of a folder, document by document, and what stays when things change."""

import json

import pytest

from flows.cli import run
from flows.ingest import ingest_context
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.documents import EdgeKind
from tasks.ingest.request import IngestRequest
from tasks.models.embedding import embedder
from tasks.models.embedding.vectors import EmbeddingError
from tests.openings import openings
from tests.program import flowreader


def ingest(folder, home, check=0, *more):
    return json.loads(flowreader("ingest", folder, "--json", *more, home=home, check=check).stdout)


def names(report):
    return {document["name"]: document["state"] for document in report["documents"]}


def test_the_graph_has_what_the_layout_and_the_vectors_say(in_library):
    with open_for_reading(corpus_location("small")) as snapshot:
        kinds = {edge.kind for record in snapshot.documents() for edge in snapshot.edges(record.id)}
        across = [
            edge
            for record in snapshot.documents()
            for edge in snapshot.edges(record.id)
            if edge.source_document != edge.target_document
        ]
        manual = snapshot.find("maintenance_manual.docx")
        nodes = snapshot.nodes(manual.id)
    assert {EdgeKind.NEXT, EdgeKind.PART_OF, EdgeKind.WINDOW, EdgeKind.SEMANTIC} <= kinds
    assert {(edge.target, edge.source) for edge in across} == {(edge.source, edge.target) for edge in across}
    assert all(node.summary and node.search_text for node in nodes if not node.meaningless)


def test_a_bad_document_has_its_reason_and_the_others_are_ready(home, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.html").write_text("<h1>Tides</h1><p>The tide turns twice a day and never asks why.</p>")
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "link.pdf").symlink_to(folder / "good.html")
    report = ingest(folder, home, 1)
    assert names(report) == {"good.html": "ready", "empty.pdf": "failed"}
    assert all(document["reason"] for document in report["documents"] if document["state"] == "failed")
    (skipped,) = report["skipped"]
    assert skipped["path"].endswith("link.pdf") and "symbolic link" in skipped["reason"]
    # Again: the same bytes fail the same way, so no run is made, and the exit code still tells.
    assert ingest(folder, home, 1)["snapshot"] == report["snapshot"]


def test_an_embedder_that_cannot_be_had_leaves_no_corpus(own_home, tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_EMBED_MODEL", str(tmp_path / "nowhere"))
    request = IngestRequest(paths=(str(tmp_path),), corpus="new")
    with pytest.raises(EmbeddingError, match="nowhere"), ingest_context(request, "run"):
        pass
    assert not corpus_location("new").folder.exists()


def test_an_ingest_opens_the_pointer_once_and_carries_what_it_read_of_the_catalog(own_home, tmp_path, monkeypatch):
    def counted(request):
        with openings() as opened:
            done = real(request)
        counts.update(opened)
        return done

    (tmp_path / "tides.html").write_text("<h1>Tides</h1><p>The tide turns twice a day and never asks why.</p>")
    real, counts = run.run_ingest, {}
    monkeypatch.setattr(run, "run_ingest", counted)
    ingest(tmp_path / "tides.html", own_home, 0, "--corpus", "small")
    assert counts["CURRENT"] == 1, "under the lock"
    assert counts["DuckDB catalog.duckdb"] <= 5, "its row, its documents before and after, and two commits"
    snapshots = [counts[f"DuckDB {path.name}"] for path in corpus_location("small").snapshots.glob("*.duckdb")]
    assert len(snapshots) >= 3 and max(snapshots) <= 3


def test_changed_content_replaces_renamed_stays_and_vanished_is_reported(home, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.html").write_text("<h1>First</h1><p>Some words about the sea and its salt.</p>")
    (folder / "b.html").write_text("<h1>Second</h1><p>Some words about the wind and its ways.</p>")
    first = flowreader("ingest", folder, "--json", home=home, check=0)
    assert not any(word in first.stderr for word in ("WARN", "EventsWorker", "lance")), first.stderr
    before = json.loads(first.stdout)
    (folder / "a.html").write_text("<h1>Third</h1><p>Other words, about the land and its stones.</p>")
    (folder / "b.html").rename(folder / "c.html")
    after = ingest(folder, home)
    assert set(names(after)) == {"a.html", "c.html"}
    ids = {document["name"]: document["id"] for document in before["documents"] + after["documents"]}
    assert ids["b.html"] == ids["c.html"]
    (folder / "c.html").unlink()
    gone = ingest(folder, home)
    assert set(names(gone)) == {"a.html", "c.html"}
    assert any("documents remove" in item["reason"] for item in gone["skipped"])
    assert flowreader("doctor", home=home, check=0)


@pytest.mark.torture
def test_a_graph_whose_files_are_torn_comes_back_from_the_artifacts_and_no_model_is_loaded(own_home, cheap_documents, monkeypatch):
    monkeypatch.setattr(embedder, "_opened", {})
    export = flowreader("documents", "export", "--corpus", "small", home=own_home, check=0).stdout
    for path in (own_home / "corpora" / "small" / "lance" / "nodes.lance" / "data").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    told = flowreader("doctor", "--corpus", "small", home=own_home, check=1)
    assert "cannot be read" in told.stdout and "flowreader ingest" in told.stdout
    # Only one of the documents is named: the others come back too.
    mended = flowreader("ingest", cheap_documents / "budget.xlsx", "--corpus", "small", home=own_home, check=0)
    assert "published again from their artifacts" in mended.stderr
    assert flowreader("documents", "export", "--corpus", "small", home=own_home, check=0).stdout == export
    assert flowreader("doctor", "--corpus", "small", home=own_home, check=0)
    flowreader("ingest", cheap_documents, "--corpus", "another", home=own_home, check=0)
    assert embedder._opened == {}
