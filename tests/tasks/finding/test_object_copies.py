"""Copies of objects are found and forgotten in all mirrors, also while an ingest or a clean-up takes some away."""

import os
import shutil
import threading
from dataclasses import replace

import pytest

from storage.catalog.current import snapshot_path
from storage.catalog.in_use import KEEP_SECONDS
from storage.corpus.writer import open_for_writing
from storage.forgetting import LOCK, copies_unused, forget_copies
from storage.locations import mirrors_folder
from storage.object_address import StoreAddress
from tasks.finding.copies import (
    copies_in_use,
    copy_in_mirrors,
    copy_name,
    forget_mirrors,
    mirror_of,
    mirrors,
    modified_at,
    updating,
)
from tasks.ingest.publishing import clean_up
from tasks.ingest.removing import remove_corpus, remove_document
from tasks.progress import StoppedError, forget_stop, request_stop
from tests.storage import worlds
from tests.tasks.finding.test_object_mirror import copies, found

REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")
LONG_AGO = (1e9, 1e9)
IN, ALL, OTHER = (StoreAddress("data", key) for key in ("in/", "", "other/"))


def mirrored(address, *keys):
    """A mirror with a copy of each object, last looked at long ago."""
    folder = mirror_of(address)
    folder.mkdir(parents=True)
    for key in keys:
        (folder / copy_name(StoreAddress("data", key), "tag")).write_bytes(b"what it says")
    (folder / LOCK).touch()
    os.utime(folder / LOCK, LONG_AGO)


def reading(home, name, **graphs):
    """A corpus of that name, in which each graph is an object's."""
    place = worlds.corpus_in(home, name)
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        records = [replace(worlds.record(graph), paths=(f"s3://data/{key}",)) for key, graph in graphs.values()]
        corpus.publish(graphs=[graph for _, graph in graphs.values()], records=records)
    return place


@pytest.fixture
def places(home):
    """Two corpora that read one document, of which the second reads another one too; and the mirrors."""
    mirrored(IN, "in/report.pdf")
    mirrored(ALL, "in/report.pdf", "paper.pdf")
    mirrored(OTHER)
    return [
        reading(home, "one", report=("in/report.pdf", REPORT)),
        reading(home, "two", report=("in/report.pdf", REPORT), paper=("paper.pdf", PAPER)),
    ]


def left():
    return {address.shown for address in (IN, ALL, OTHER) if mirror_of(address) in mirrors()}


def test_a_mirror_goes_with_the_last_corpus_that_shows_what_it_holds(places):
    remove_corpus(places[0])
    assert left() == {"s3://data/in/", "s3://data"}, "the other corpus shows the report too"
    remove_corpus(places[1])
    assert left() == set()


def test_what_an_ingest_at_work_reads_stays(places):
    with copies_in_use(["s3://data/new/"]):
        for place in places:
            remove_corpus(place)
    assert left() == {"s3://data/in/", "s3://data", "s3://data/other/"}
    forget_mirrors(keep_seconds=0)
    assert left() == set()


def test_maintenance_deletes_a_mirror_that_was_not_looked_at_for_long(places, home):
    (mirror_of(OTHER) / LOCK).touch()
    with open_for_writing(places[0], embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        clean_up(corpus)
        assert left() == {"s3://data/in/", "s3://data", "s3://data/other/"}
        os.utime(mirror_of(OTHER) / LOCK, LONG_AGO)
        clean_up(corpus)
    assert left() == {"s3://data/in/", "s3://data"}


def test_a_mirror_of_documents_that_were_removed_goes_when_no_snapshot_shows_them(places):
    remove_document(places[1], "paper.pdf", now=True)
    assert left() == {"s3://data/in/", "s3://data"}
    for place in places:
        remove_document(place, "report.pdf", now=True)
    assert left() == set()


def test_nothing_goes_where_a_corpus_cannot_be_asked_what_it_shows(places):
    os.truncate(snapshot_path(places[1], 1), 100)
    forget_mirrors(keep_seconds=0)
    assert "s3://data/other/" in left()


ADDRESSES = ["/some/folder", "s3://data/in/"]


def unused():
    with copies_unused(mirrors_folder().parent) as free:
        return free


def test_copies_are_in_use_while_any_reader_is_in(home):
    with copies_in_use(ADDRESSES):
        with copies_in_use(ADDRESSES):
            assert not unused()
        assert not unused()
    assert unused()


def test_a_reader_waits_for_a_clean_up(home):
    began = threading.Event()

    def read():
        with copies_in_use(ADDRESSES):
            began.set()

    with copies_unused(mirrors_folder().parent):
        reader = threading.Thread(target=read)
        reader.start()
        assert not began.wait(0.3)
    assert began.wait(10)
    reader.join()


def test_an_ingest_that_waits_for_a_mirror_may_stop(home):
    address = StoreAddress("data", "in/")
    with updating(address) as folder, updating(StoreAddress("data", "other/")):
        assert (folder / "lock").read_text() == "s3://data/in/\n"
        request_stop()
        try:
            with pytest.raises(StoppedError), updating(address):
                pass
        finally:
            forget_stop()
    with updating(address) as folder:
        assert folder.is_dir(), "what was stopped holds nothing"


ADDRESS = StoreAddress("data", "in/a.TXT")


def kept(address, tag, *, modified=None):
    """A copy of the object in the mirror of the address."""
    path = mirror_of(address) / copy_name(ADDRESS, tag)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    if modified is not None:
        os.utime(path, (modified, modified))
    return path


def test_copies_are_found_in_all_mirrors_and_forgotten_in_all(store, home):
    store.put("in/a.txt", b"x")
    store.put("in/b.txt", b"y")
    found(store.address(), store.address("in/"))
    shown = store.address("in/a.txt")
    assert len(copies()) == 4 and copy_in_mirrors(shown) in map(str, copies())
    forget_copies(["/in/a.txt", shown], mirrors_folder().parent)
    assert len(copies()) == 2 and copy_in_mirrors(shown) is None


def test_the_youngest_copy_counts(home):
    kept(StoreAddress("data", ""), "1", modified=1000)
    young = kept(StoreAddress("data", "in/"), "2", modified=2000)
    kept(StoreAddress("data", "in"), "3", modified=1500)
    assert copy_in_mirrors(ADDRESS.shown) == str(young)


def test_a_copy_that_goes_while_it_is_looked_at_is_none(home):
    """What went between the listing of a folder and the look at the file is as a link to nothing: listed, and not there."""
    whole, going = kept(StoreAddress("data", ""), "1"), kept(StoreAddress("data", "in/"), "2")
    going.unlink()
    going.symlink_to("nothing")
    assert modified_at(going) is None and copy_in_mirrors(ADDRESS.shown) == str(whole)
    whole.unlink()
    assert copy_in_mirrors(ADDRESS.shown) is None
    forget_copies([ADDRESS.shown], mirrors_folder().parent)
    assert not going.is_symlink()


def test_a_mirror_that_goes_while_it_is_looked_at_holds_nothing(home, monkeypatch):
    kept(StoreAddress("data", ""), "1")
    going = kept(StoreAddress("data", "in/"), "2").parent
    listed = mirrors()
    shutil.rmtree(going)
    monkeypatch.setattr("tasks.finding.copies.mirrors", lambda: listed)
    assert copy_in_mirrors(ADDRESS.shown) is not None
    forget_copies([ADDRESS.shown], mirrors_folder().parent)
    assert copy_in_mirrors(ADDRESS.shown) is None


def test_an_ingest_without_objects_makes_no_mirrors(home):
    forget_mirrors(keep_seconds=KEEP_SECONDS)
    with copies_in_use(["/some/folder"]):
        assert not home.exists()
    assert copy_in_mirrors(ADDRESS.shown) is None and mirrors() == [] and not mirrors_folder().exists()
