"""Copies go with the last corpus that shows a document of their address: never while one is shown, or somebody reads them."""

import os
from dataclasses import replace

import pytest

from storage.corpus import open_for_writing
from storage.current import snapshot_path
from storage.in_use import KEEP_SECONDS
from storage.mirrored_copies import LOCK
from storage.object_address import StoreAddress
from tasks.mirror_locks import copies_in_use
from tasks.object_copies import copy_name, forget_mirrors, mirror_of, mirrors
from tasks.publishing import clean_up
from tasks.removing import remove_corpus, remove_document
from tests.storage import worlds

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


def test_upkeep_deletes_a_mirror_that_was_not_looked_at_for_long(places, home):
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


def test_without_mirrors_none_is_made(home):
    forget_mirrors(keep_seconds=KEEP_SECONDS)
    assert not home.exists()
