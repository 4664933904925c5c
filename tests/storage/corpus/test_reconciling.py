import json
import shutil
import subprocess
import sys
from dataclasses import replace

import duckdb
import pytest

from storage.catalog import catalog
from storage.catalog.catalog import CatalogBusyError, StoreVersionError
from storage.catalog.current import snapshot_path
from storage.corpus import reconciling
from storage.corpus.doctor import examine
from storage.corpus.reconciling import NO_CHANGE
from storage.corpus.snapshot import CurrentDamagedError, UnknownCorpusError, open_for_reading
from storage.graph.tables import TableName
from storage.records.documents import DocumentState
from tests.storage.worlds import corpus_in, failed, graph, publish, writing

REPORT, LETTER = graph("report"), graph("letter")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus with a snapshot of the report and one of the report and the letter."""
    location = corpus_in(tmp_path_factory.mktemp("made"))
    with writing(location) as corpus:
        publish(corpus, REPORT)
        publish(corpus, LETTER)
    return location


@pytest.fixture
def place(made, tmp_path):
    location = corpus_in(tmp_path)
    shutil.copytree(made.folder, location.folder)
    return location


def names(place):
    with open_for_reading(place) as snapshot:
        return {document.title for document in snapshot.documents() if snapshot.nodes(document.id)}


def mend(place):
    """Open for writing twice: the first mends and says so, the second finds nothing; return the words."""
    with writing(place) as corpus:
        words = " | ".join(corpus.messages)
    with writing(place) as corpus:
        assert corpus.messages == ()
    assert examine(place) == []
    return words


def damaged_wal(place, damage):
    """Leave the catalog with a write-ahead log, as a kill does, and damage that."""
    wal = place.catalog.with_name("catalog.duckdb.wal")
    copy = place.catalog.with_name("copy")
    connection = duckdb.connect(str(place.catalog))
    connection.execute("UPDATE corpus SET snapshot = snapshot")
    connection.execute("CREATE TABLE more AS SELECT range AS a FROM range(3000)")
    shutil.copy(wal, copy)
    connection.close()
    copy.rename(wal)
    data = bytearray(wal.read_bytes())
    wal.write_bytes(damage(data))


def flipped(data):
    data[len(data) // 2] ^= 255
    return data


@pytest.mark.parametrize(
    "damage", [flipped, lambda data: data[: len(data) // 2], lambda data: b"junk" * 99], ids=["flip", "cut", "junk"]
)
def test_a_damaged_write_ahead_log_is_survived(place, damage):
    damaged_wal(place, damage)
    mend(place)
    assert names(place) == {"report", "letter"}


def executed(place, statement):
    with duckdb.connect(str(place.catalog)) as connection:
        connection.execute(statement)


CATALOGS = {
    "empty": (lambda place: place.catalog.write_bytes(b""), "the catalog is damaged"),
    "garbage": (lambda place: place.catalog.write_bytes(b"x" * 5000), "cannot be opened"),
    "missing": (lambda place: place.catalog.unlink(), "is missing"),
    "without its last writes": (
        lambda place: shutil.copy(snapshot_path(place, 2), place.catalog),
        "holds snapshot 2, published is 3",
    ),
    "without its row": (lambda place: executed(place, "DELETE FROM corpus"), "is empty"),
    "another database": (lambda place: executed(place, "DROP TABLE corpus"), "cannot be read"),
}


@pytest.mark.parametrize("how", CATALOGS)
def test_a_damaged_catalog_is_set_aside_and_restored(place, how):
    damage, said = CATALOGS[how]
    damage(place)
    words = mend(place)
    assert said in words and "restored from snapshot 3" in words
    assert ("set aside as catalog.duckdb.damaged-1" in words) == (how != "missing")
    assert names(place) == {"report", "letter"}


@pytest.mark.parametrize("content", [b"", b"{}", b"[]"])
def test_a_damaged_current_is_written_again(place, content):
    place.current.write_bytes(content)
    with pytest.raises(CurrentDamagedError, match="is damaged"):
        names(place)
    assert [finding.check for finding in examine(place)] == ["published snapshot"]
    assert "written again from the catalog" in mend(place)
    assert names(place) == {"report", "letter"}


def test_a_catalog_ahead_of_current_is_rolled_forward(place):
    before = place.current.read_bytes()
    with writing(place) as corpus:
        publish(corpus, graph("third"))
    place.current.write_bytes(before)
    snapshot_path(place, 4).unlink()
    assert names(place) == {"report", "letter"}
    assert "not yet the published one" in mend(place)
    assert names(place) == {"report", "letter", "third"}


@pytest.mark.parametrize("how", ["missing", "altered"])
def test_a_damaged_snapshot_is_copied_from_the_catalog_again(place, how):
    if how == "missing":
        snapshot_path(place, 3).unlink()
    else:
        snapshot_path(place, 3).write_bytes(flipped(bytearray(snapshot_path(place, 3).read_bytes())))
    with pytest.raises(CurrentDamagedError, match="missing or altered"):
        names(place)
    assert "published now" in mend(place)
    assert names(place) == {"report", "letter"}


def test_without_catalog_and_published_snapshot_the_one_before_is_taken(place):
    place.catalog.unlink()
    snapshot_path(place, 3).unlink()
    words = mend(place)
    assert "published snapshot 3 is missing" in words
    assert "restored from snapshot 2" in words
    assert names(place) == {"report"}
    with writing(place) as corpus:
        assert corpus.snapshot > 3
        publish(corpus, LETTER)
    assert names(place) == {"report", "letter"}


def test_where_nothing_usable_is_left_the_corpus_begins_anew(place):
    place.catalog.write_bytes(b"x")
    place.catalog.with_name("catalog.duckdb.damaged-1").touch()
    for number in (1, 2, 3):
        snapshot_path(place, number).write_bytes(b"x")
    words = mend(place)
    assert "set aside as catalog.duckdb.damaged-2" in words and "no snapshot is usable; the corpus begins anew" in words
    assert names(place) == set()
    with writing(place) as corpus:
        publish(corpus, REPORT)
    assert names(place) == {"report"}


def test_where_a_table_of_the_graph_is_gone_the_corpus_begins_anew(place):
    shutil.rmtree(place.lance / "edges.lance")
    assert [finding.check for finding in examine(place)] == ["graph tables"]
    (place.damage_report).touch()
    assert "the corpus begins anew" in mend(place)
    assert not place.damage_report.exists()
    with writing(place) as corpus:
        assert {record.name for record in corpus.lost()} == {"report.pdf", "letter.pdf"}
        assert all(record.state is DocumentState.FAILED and "ingest its file again" in record.reason for record in corpus.lost())
        publish(corpus, REPORT)
        assert {record.name for record in corpus.lost()} == {"letter.pdf"}


def test_a_failed_document_stays_as_it_was_when_the_graph_is_lost(place):
    bad = failed(graph("bad"))
    with writing(place) as corpus:
        corpus.publish(records=[bad])
    shutil.rmtree(place.lance)
    mend(place)
    with writing(place) as corpus:
        assert bad in corpus.documents() and bad not in corpus.lost()


def test_torn_data_is_found_where_doctor_left_word(place):
    for path in (place.lance / "nodes.lance" / "data").iterdir():
        path.write_bytes(path.read_bytes()[:64])
    assert [finding.check for finding in examine(place)] == ["graph tables"]
    assert place.damage_report.exists()
    assert "table nodes of the graph cannot be read" in mend(place)


def test_rows_of_an_interrupted_publish_are_taken_back(place, monkeypatch):
    with writing(place) as corpus:
        monkeypatch.setattr(catalog, "commit", lambda *arguments, **named: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            publish(corpus, graph("third"))
        monkeypatch.undo()
    assert names(place) == {"report", "letter"}
    assert "unpublished rows of nodes, rows, edges, pages were taken back" in mend(place)


def test_half_written_files_are_dropped(place):
    leftovers = [place.folder / ".partial-a", place.snapshots / ".partial-b", place.runs / ".partial-c"]
    for leftover in leftovers:
        leftover.write_bytes(b"x")
    mend(place)
    assert not any(leftover.exists() for leftover in leftovers)


@pytest.mark.parametrize(("version", "remedy"), [(4, "install the newer FlowReader"), (2, "flowreader ingest FOLDER --corpus")])
@pytest.mark.parametrize("where", ["current", "catalog"])
def test_a_store_of_another_version_is_refused_and_left_alone(place, where, version, remedy):
    if where == "current":
        place.current.write_text(json.dumps({"schema_version": version, "what": "nobody knows"}))
    else:
        executed(place, f"UPDATE corpus SET schema_version = {version}")
    before = {path: path.read_bytes() for path in place.folder.rglob("*") if path.is_file() and path != place.lock}
    said = rf"has schema version {version}, this FlowReader knows 3; nothing was changed.*{remedy}"
    with pytest.raises(StoreVersionError, match=said), writing(place):
        pass
    after = {path: path.read_bytes() for path in place.folder.rglob("*") if path.is_file() and path != place.lock}
    assert after == before
    if where == "current":
        with pytest.raises(StoreVersionError):
            names(place)


def test_a_corpus_from_before_pages_had_lines_is_read_without_and_takes_them_with_what_comes(place):
    with writing(place) as corpus:
        corpus.graph_store.tables[TableName.PAGES].drop_columns(["lines"])
        corpus._commit(NO_CHANGE, corpus.graph_store.versions())
    first, second = ((document.document_id, 1) for document in (REPORT, LETTER))
    with open_for_reading(place) as snapshot:
        assert snapshot.pages(REPORT.document_id) == [replace(page, lines="") for page in REPORT.pages]
        assert snapshot.view.page_lines({first, second}) == {}
    assert mend(place) == ""
    with writing(place) as corpus:
        publish(corpus, LETTER)
    with open_for_reading(place) as snapshot:
        assert snapshot.view.page_lines({first, second}) == {first: "", second: LETTER.pages[0].lines}


def test_a_creation_that_was_killed_leaves_no_corpus_and_is_done_again(tmp_path, monkeypatch):
    place = corpus_in(tmp_path)
    monkeypatch.setattr(reconciling, "release", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError), writing(place):
        pass
    monkeypatch.undo()
    with pytest.raises(UnknownCorpusError, match="make it with `flowreader ingest"):
        names(place)
    place.catalog.unlink()
    (place.folder / ".partial-catalog.duckdb").write_bytes(b"x")
    with writing(place) as corpus:
        assert corpus.messages == ()


def test_a_kill_while_the_corpus_begins_anew_forgets_no_document(place, monkeypatch):
    shutil.rmtree(place.lance)
    with monkeypatch.context() as killed:
        killed.setattr(reconciling, "release", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError), writing(place):
            pass
    with writing(place) as corpus:
        assert {record.name for record in corpus.lost()} == {"report.pdf", "letter.pdf"}


def test_a_catalog_that_another_program_has_open_is_not_damaged(place):
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    call = [sys.executable, "-c", code, str(place.catalog)]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as viewer:
        assert viewer.stdout.readline() == "open\n"
        with pytest.raises(CatalogBusyError, match="close it and run the command again"), writing(place):
            pass
        viewer.kill()
    assert mend(place) == ""
