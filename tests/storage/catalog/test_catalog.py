"""The catalog's file, its published snapshots, what is noted of removals, and who keeps writers out."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pkgutil import resolve_name
from threading import Event

import duckdb
import pytest

from storage.catalog import catalog, current
from storage.catalog.current import CurrentDamagedError, delete_question_files, drop_snapshot, snapshot_numbers, snapshot_path
from storage.catalog.in_use import in_use, without_writers
from storage.catalog.removals import Removals, note_removals, read_removals
from storage.corpus.reconciling import NO_CHANGE
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.lock import LockLostError
from storage.memo import question_memo
from storage.system import DiskFullError
from tests.storage import worlds
from tests.storage.worlds import corpus_in, graph, publish, writing

VERSIONS = {"nodes": 1, "rows": 1, "edges": 1, "pages": 1}


@pytest.fixture
def catalog_path(tmp_path):
    made = tmp_path / "catalog.duckdb"
    catalog.create(made, worlds.EMBEDDER, VERSIONS, 1)
    return made


def test_a_moment_without_memory_is_no_damage(catalog_path, monkeypatch):
    def no_memory(*_, **__):
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate")

    with monkeypatch.context() as short:
        short.setattr(duckdb, "connect", no_memory)
        with pytest.raises(duckdb.OutOfMemoryException):
            catalog.head(catalog_path)
    assert catalog.head(catalog_path).snapshot == 1


def test_a_reader_that_is_left_behind_ends_in_its_own_time(catalog_path):
    reading, go_on = Event(), Event()

    def take_long() -> int:
        reading.set()
        return int(go_on.wait(60))

    with ThreadPoolExecutor(1) as beside:
        with catalog.open_database(catalog_path, read_only=True) as connection:
            own = connection.cursor()
            own.create_function("take_long", take_long, [], "BIGINT", side_effects=True)
            found = beside.submit(lambda: own.execute("SELECT take_long()").fetchall())
            assert reading.wait(60)
        go_on.set()
        assert found.result() == [(1,)]


@pytest.fixture
def place(tmp_path):
    location = corpus_in(tmp_path)
    with writing(location) as corpus:
        publish(corpus, graph("report"))
    return location


def test_only_snapshots_are_counted(place):
    (place.snapshots / "x.duckdb").write_bytes(b"")
    (place.snapshots / "3.duckdb.wal").write_bytes(b"")
    assert snapshot_numbers(place) == [1, 2]


def test_a_corpus_that_is_not_there_has_no_snapshots(tmp_path):
    assert snapshot_numbers(corpus_in(tmp_path)) == []
    with pytest.raises(UnknownCorpusError), open_for_reading(corpus_in(tmp_path)):
        pass


def test_a_pinned_snapshot_is_not_dropped(place):
    for number in (1, 2):
        question_memo(place, number).artifacts.put(b"words of an answer")
    with open_for_reading(place) as snapshot:
        assert not drop_snapshot(place, snapshot.number)
    assert drop_snapshot(place, 1)
    assert snapshot_numbers(place) == [2]
    assert [path.name for path in place.asked.iterdir()] == ["2"], "what was asked goes with its snapshot"


def test_what_was_asked_long_ago_goes_and_the_rest_stays(place):
    old, young = (question_memo(place, 2).artifacts.put(words) for words in (b"asked long ago", b"asked today"))
    os.utime(question_memo(place, 2).artifacts.path(old), (1.0, 1.0))
    delete_question_files(place.asked, before=2.0)
    assert [path.name for path in place.asked.rglob("*") if path.is_file()] == [young]


@pytest.mark.parametrize("moment", ["corpus.snapshot.snapshot_path", "catalog.current.fcntl.flock"])
def test_a_reader_that_loses_the_race_with_clean_up_looks_again(place, monkeypatch, moment):
    path = snapshot_path(place, 2)
    real = resolve_name(f"storage.{moment}")

    def overtaken(*arguments):
        if path.exists():
            path.unlink()
            current.release(place, 3)
        return real(*arguments)

    monkeypatch.setattr(f"storage.{moment}", overtaken)
    with open_for_reading(place) as snapshot:
        assert snapshot.current.snapshot == 3 and snapshot.is_published()


def test_a_snapshot_is_published_until_the_next_one_is_or_it_is_closed(place):
    with open_for_reading(place) as snapshot:
        assert snapshot.is_published()
        current.release(place, 3)
        assert not snapshot.is_published()
    with open_for_reading(place) as snapshot:
        pass
    assert not snapshot.is_published(), "nobody can say"


def test_a_snapshot_that_stays_missing_is_an_error(place):
    snapshot_path(place, 2).unlink()
    with pytest.raises(CurrentDamagedError, match="missing or altered"), open_for_reading(place):
        pass


def test_a_catalog_whose_log_was_not_folded_in_is_never_published(place):
    before = place.current.read_bytes()
    place.catalog.with_name("catalog.duckdb.wal").write_bytes(b"rows that the file does not have")
    with pytest.raises(DiskFullError, match="disk full at"):
        current.release(place, 9)
    assert place.current.read_bytes() == before and snapshot_numbers(place) == [1, 2]


def test_a_catalog_that_another_writer_took_as_far_is_not_written(catalog_path):
    before = catalog.head(catalog_path)
    for number in (0, 1):
        with pytest.raises(LockLostError, match="was written by another process"):
            catalog.commit(catalog_path, NO_CHANGE, snapshot=number, lance_versions={})
    assert catalog.head(catalog_path) == before


REPORT, PAPER = "a" * 64, "b" * 64


def test_removals_are_noted_with_all_their_paths_and_a_later_one_does_not_change_since_when(location):
    assert read_removals(location) == Removals(0.0, {})
    before = time.time()
    note_removals(location, {REPORT: ["/in/report.pdf"]})
    first = read_removals(location)
    assert before <= first.since <= time.time()
    note_removals(location, {PAPER: (), REPORT: ["/in/a\nb\x85\u2028.pdf", "/in/\udcff.pdf"]})
    paths = {REPORT: ("/in/\\udcff.pdf", "/in/a\nb\x85\u2028.pdf", "/in/report.pdf"), PAPER: ()}
    assert read_removals(location) == Removals(first.since, paths)


@pytest.mark.parametrize("said", [b"", b"\xff\x00", b'{"since": 3}'])
def test_a_damaged_note_names_no_document_and_is_due(location, said):
    location.folder.mkdir(parents=True)
    location.purge_due.write_bytes(said)
    assert read_removals(location) == Removals(0.0, {})
    note_removals(location, {REPORT: ()})
    assert read_removals(location) == Removals(0.0, {REPORT: ()}), "no removal puts it off"


def test_writers_are_kept_out_unless_one_is_in(tmp_path):
    place = corpus_in(tmp_path)
    with writing(place) as corpus, without_writers(place) as alone:
        assert not alone
        publish(corpus, graph("report"))
    with without_writers(place) as alone, without_writers(place) as second:
        assert (alone, second) == (True, False)
    assert in_use([place])[0] == {graph("report").document_id}
