"""The catalog's file, its published snapshots, what is noted of removals, and who keeps writers out."""

import os
import time

import duckdb
import pytest

from storage.catalog import catalog, current
from storage.catalog.current import CurrentDamagedError, drop_snapshot, forget_asked, held, hold, snapshot_numbers, snapshot_path
from storage.catalog.in_use import in_use, quiet
from storage.catalog.removals import Removals, note_removals, noted_removals
from storage.memo import asked_steps
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
    with held(corpus_in(tmp_path)) as nothing:
        assert nothing is None


def test_a_pinned_snapshot_is_not_dropped(place):
    for number in (1, 2):
        asked_steps(place, number).artifacts.put(b"words of an answer")
    with held(place) as pinned:
        assert not drop_snapshot(place, pinned.snapshot)
    assert drop_snapshot(place, 1)
    assert snapshot_numbers(place) == [2]
    assert [path.name for path in place.asked.iterdir()] == ["2"], "what was asked goes with its snapshot"


def test_what_was_asked_long_ago_goes_and_the_rest_stays(place):
    old, young = (asked_steps(place, 2).artifacts.put(words) for words in (b"asked long ago", b"asked today"))
    os.utime(asked_steps(place, 2).artifacts.path(old), (1.0, 1.0))
    forget_asked(place.asked, before=2.0)
    assert [path.name for path in place.asked.rglob("*") if path.is_file()] == [young]


def test_a_reader_that_loses_the_race_with_clean_up_looks_again(place, monkeypatch):
    real, attempts = current.hold, []

    def late(path):
        attempts.append(path)
        return real(path) if len(attempts) > 1 else None

    monkeypatch.setattr(current, "hold", late)
    with held(place) as pinned:
        assert (pinned.snapshot, len(attempts)) == (2, 2)


def test_a_file_that_went_between_open_and_lock_is_not_held(place, monkeypatch):
    path = snapshot_path(place, 1)
    real = current.fcntl.flock

    def flock(descriptor, how):
        path.unlink()
        real(descriptor, how)

    monkeypatch.setattr(current.fcntl, "flock", flock)
    assert hold(path) is None


def test_a_snapshot_that_stays_missing_is_an_error(place):
    snapshot_path(place, 2).unlink()
    with pytest.raises(CurrentDamagedError, match="missing or altered"), held(place):
        pass


def test_a_catalog_whose_log_was_not_folded_in_is_never_published(place):
    before = place.current.read_bytes()
    place.catalog.with_name("catalog.duckdb.wal").write_bytes(b"rows that the file does not have")
    with pytest.raises(DiskFullError, match="disk full at"):
        current.release(place, 9)
    assert place.current.read_bytes() == before and snapshot_numbers(place) == [1, 2]


REPORT, PAPER = "a" * 64, "b" * 64


def test_removals_are_noted_with_all_their_paths_and_a_later_one_does_not_change_since_when(location):
    assert noted_removals(location) == Removals(0.0, {})
    before = time.time()
    note_removals(location, {REPORT: ["/in/report.pdf"]})
    first = noted_removals(location)
    assert before <= first.since <= time.time()
    note_removals(location, {PAPER: (), REPORT: ["/in/a\nb\x85\u2028.pdf", "/in/\udcff.pdf"]})
    paths = {REPORT: ("/in/\\udcff.pdf", "/in/a\nb\x85\u2028.pdf", "/in/report.pdf"), PAPER: ()}
    assert noted_removals(location) == Removals(first.since, paths)


@pytest.mark.parametrize("said", [b"", b"\xff\x00", b'{"since": 3}'])
def test_a_damaged_note_names_no_document_and_is_due(location, said):
    location.folder.mkdir(parents=True)
    location.purge_due.write_bytes(said)
    assert noted_removals(location) == Removals(0.0, {})
    note_removals(location, {REPORT: ()})
    assert noted_removals(location) == Removals(0.0, {REPORT: ()}), "no removal puts it off"


def test_a_corpus_is_quiet_unless_it_is_written_and_stays_so(tmp_path):
    place = corpus_in(tmp_path)
    with writing(place) as corpus, quiet(place) as alone:
        assert not alone
        publish(corpus, graph("report"))
    with quiet(place) as alone, quiet(place) as second:
        assert (alone, second) == (True, False)
    assert in_use([place])[0] == {graph("report").document_id}
