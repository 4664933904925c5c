import os

import pytest

from storage.catalog import current
from storage.catalog.current import CurrentDamagedError, drop_snapshot, forget_asked, held, hold, snapshot_numbers, snapshot_path
from storage.memo import asked_steps
from storage.system import DiskFullError
from tests.storage.worlds import corpus_in, graph, publish, writing


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
