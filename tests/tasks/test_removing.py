"""Removing unpublishes at once, and leaves nothing when it is asked to."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.corpus import open_for_writing
from storage.snapshot import UnknownCorpusError, UnknownDocumentError, open_for_reading
from tasks.removing import remove_corpus, remove_document
from tests.storage import worlds

REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")


@pytest.fixture
def location(home):
    place = worlds.corpus_in(home)
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, REPORT, PAPER, cross_edges=worlds.link(REPORT, PAPER))
        corpus.index()
    return place


def everything_in(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_now_leaves_no_word_of_the_document(location):
    assert b"of paper" in everything_in(location.folder)
    receipt = remove_document(location, "paper.pdf", now=True)
    assert (receipt.name, receipt.gone["nodes"]) == ("paper.pdf", 6) and "nothing" in receipt.later
    assert b"of paper" not in everything_in(location.folder) and not location.purge_due.exists()
    with open_for_reading(location) as snapshot:
        assert [record.id for record in snapshot.documents()] == [REPORT.document_id]
        assert all(edge.target_document == REPORT.document_id for edge in snapshot.edges(REPORT.document_id))


def test_without_now_readers_keep_what_they_pinned_and_the_rest_goes_later(location):
    with open_for_reading(location) as before:
        receipt = remove_document(location, PAPER.document_id[:8], now=False)
        assert len(before.documents()) == 2 and len(before.nodes(PAPER.document_id)) == 6
    assert "--now" in receipt.later and location.purge_due.exists()
    with open_for_reading(location) as after, pytest.raises(UnknownDocumentError):
        after.find("paper.pdf")


def test_now_says_who_is_still_reading(location, monkeypatch):
    monkeypatch.setattr("tasks.removing.WAIT_SECONDS", 0.2)
    with open_for_reading(location):
        assert "still being read" in remove_document(location, "paper.pdf", now=True).later
    assert location.purge_due.exists()


def test_a_corpus_is_removed_whole(location):
    assert remove_corpus(location).documents == 2
    assert not location.folder.exists()
    with pytest.raises(UnknownCorpusError):
        remove_corpus(location)


def test_what_is_not_there_is_not_removed(location):
    with pytest.raises(UnknownDocumentError, match=r"absent\.pdf"):
        remove_document(location, "absent.pdf", now=True)
    with open_for_reading(location) as snapshot:
        assert len(snapshot.documents()) == 2


@pytest.mark.parametrize("harm", ["current", "catalog", "lance", "snapshots"])
def test_a_damaged_or_half_removed_corpus_is_removed_too(location, harm):
    part = getattr(location, harm)
    shutil.rmtree(part) if part.is_dir() else part.unlink()
    remove_corpus(location)
    assert not location.folder.exists()


def test_who_reads_a_corpus_is_waited_for_before_it_goes(location):
    with ThreadPoolExecutor() as pool, open_for_reading(location) as snapshot:
        removing = pool.submit(remove_corpus, location)
        with pytest.raises(TimeoutError):
            removing.result(0.5)
        with pytest.raises(UnknownCorpusError):
            open_for_reading(location).__enter__()
        assert len(snapshot.nodes(REPORT.document_id)) == 6
    assert removing.result(20).documents == 2
