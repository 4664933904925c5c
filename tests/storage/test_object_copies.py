"""Copies of objects stay as long as a corpus shows the object or an ingest reads, and are found by how it is shown."""

import os
import threading
from dataclasses import replace

import pytest

from storage.catalog.current import snapshot_path
from storage.cleaning.garbage import collect
from storage.cleaning.removing import clean_up, remove_corpus, remove_document
from storage.locations import mirrors_folder
from storage.object_address import StoreAddress
from storage.object_copies import copy_name, copy_sign, exclude_readers, forget_copies, newest_copy
from tasks.finding.mirror import copies_in_use
from tasks.progress import StoppedError, forget_stop, request_stop
from tests.storage import worlds

REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")
LONG_AGO = 1e9
SOURCES = ["/some/folder", "s3://data/in/"]


def kept(key, tag="1", *, modified=LONG_AGO):
    """A copy of an object, of long ago."""
    path = mirrors_folder() / copy_name(StoreAddress("data", key), tag)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"what it says")
    if modified is not None:
        os.utime(path, (modified, modified))
    return path


def reading(home, name, **graphs):
    """A corpus of that name, in which each graph is an object's."""
    place = worlds.corpus_in(home, name)
    with worlds.writing(place) as corpus:
        records = [replace(worlds.record(graph), paths=(f"s3://data/{key}",)) for key, graph in graphs.values()]
        corpus.publish(graphs=[graph for _, graph in graphs.values()], records=records)
    return place


@pytest.fixture
def places(home):
    """Two corpora that read one document, of which the second reads another one too; and copies of these and of a third object."""
    for key in ("in/report.pdf", "paper.pdf", "other.pdf"):
        kept(key)
    return [
        reading(home, "one", report=("in/report.pdf", REPORT)),
        reading(home, "two", report=("in/report.pdf", REPORT), paper=("paper.pdf", PAPER)),
    ]


def left():
    return {key for key in ("in/report.pdf", "paper.pdf", "other.pdf") if newest_copy(f"s3://data/{key}", mirrors_folder().parent)}


def test_a_copy_goes_with_the_last_corpus_that_shows_it_and_not_while_an_ingest_reads(places):
    with copies_in_use(SOURCES):
        collect(places[0], keep_seconds=0)
        assert left() == {"in/report.pdf", "paper.pdf", "other.pdf"}
    remove_corpus(places[0])
    assert left() == {"in/report.pdf", "paper.pdf"}, "the other corpus shows the report too"
    remove_corpus(places[1])
    assert left() == set()


@pytest.mark.torture
def test_clean_up_deletes_what_nothing_shows_and_a_kill_left_when_they_are_old(places):
    young, partial, lock = kept("new.pdf", modified=None), kept("x"), kept("y")
    partial, lock = (path.rename(path.with_name(name)) for path, name in ((partial, ".partial-x"), (lock, "lock-address")))
    with worlds.writing(places[0]) as corpus:
        clean_up(corpus)
    assert left() == {"in/report.pdf", "paper.pdf"} and young.exists() and not partial.exists() and not lock.exists()


@pytest.mark.torture
def test_a_copy_goes_with_its_document_when_no_snapshot_shows_it(places):
    remove_document(places[1], "paper.pdf", now=True)
    assert left() == {"in/report.pdf"}


def test_nothing_goes_where_a_corpus_cannot_be_asked_what_it_shows(places):
    os.truncate(snapshot_path(places[1], 1), 100)
    collect(places[0], keep_seconds=0)
    assert "other.pdf" in left()


def unused():
    with exclude_readers(mirrors_folder().parent) as free:
        return free


def test_copies_are_in_use_while_any_reader_is_in(home):
    with copies_in_use(SOURCES):
        with copies_in_use(SOURCES):
            assert not unused()
        assert not unused()
    assert unused()


def test_a_reader_waits_for_a_clean_up_and_may_be_stopped_while_it_does(home):
    began = threading.Event()

    def read():
        with copies_in_use(SOURCES):
            began.set()

    with exclude_readers(home):
        request_stop()
        try:
            with pytest.raises(StoppedError), copies_in_use(SOURCES):
                pass
        finally:
            forget_stop()
        reader = threading.Thread(target=read)
        reader.start()
        assert not began.wait(0.3)
    assert began.wait(10)
    reader.join()


def test_the_youngest_copy_counts_and_one_that_went_meanwhile_is_none(home):
    """What went between the listing of a folder and the look at the file is as a link to nothing: listed, and not there."""
    kept("in/a.TXT", "1", modified=1000)
    young, going = kept("in/a.TXT", "2", modified=2000), kept("in/a.TXT", "3", modified=3000)
    going.unlink()
    going.symlink_to("nothing")
    assert newest_copy("s3://data/in/a.TXT", home) == young and young.suffix == ".txt"
    forget_copies(["s3://data/in/a.TXT"], home)
    assert not going.is_symlink() and newest_copy("s3://data/in/a.TXT", home) is None


def test_copies_are_forgotten_by_how_they_are_shown_whatever_that_is(home):
    odd = "s3://in/\udcff\ud800.pdf"
    paths = [mirrors_folder() / f"{copy_sign(shown)}-1.pdf" for shown in (odd, "s3://in/other.pdf")]
    forget_copies([odd], home)
    mirrors_folder().mkdir(parents=True)
    for path in paths:
        path.touch()
    forget_copies([odd, "/in/other.pdf"], home)
    assert [path.exists() for path in paths] == [False, True] and len(copy_sign(odd)) == 40


def test_an_ingest_without_objects_makes_no_copies(home):
    with copies_in_use(["/some/folder"]):
        assert not home.exists()
    with worlds.writing(worlds.corpus_in(home)) as corpus:
        clean_up(corpus)
    assert newest_copy("s3://data/a", home) is None and not mirrors_folder().exists()
