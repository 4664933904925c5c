"""One corpus, two machines: what the one publishes the other reads."""

import json

import pytest

from storage.current import read_current, snapshot_numbers, snapshot_path
from storage.doctor import examine
from storage.object_store import ObjectStore
from storage.shared_current import NOTHING
from storage.shared_fetch import fetch
from storage.shared_snapshots import remove_shared
from storage.snapshot import UnknownCorpusError, open_for_reading
from tests.storage.shared_worlds import exports, writing
from tests.storage.worlds import corpus_in, graph, link, memo_in, publish

REPORT, LETTER = graph("report"), graph("letter")
NOTHING_SAID = {"schema_version": NOTHING.schema_version, "snapshot": 0, "sha256": ""}


def test_what_one_machine_publishes_the_other_reads(machines, tmp_path):
    with writing(machines[0]) as corpus:
        publish(corpus, LETTER, cross_edges=link(REPORT, LETTER))
    alone = corpus_in(tmp_path / "alone")
    with writing(alone) as corpus:
        publish(corpus, REPORT, LETTER, cross_edges=link(REPORT, LETTER))
    assert exports(machines[1]) == exports(machines[0]) == exports(alone)
    assert examine(machines[1], memo_in(machines[1].home)) == []
    assert not (machines[0].lance / "nodes.lance").exists()


def test_a_reader_keeps_the_snapshot_it_began_with_and_the_next_sees_the_new_one(machines):
    with writing(machines[0]) as corpus, open_for_reading(machines[1]) as old:
        publish(corpus, LETTER)
        assert [document.id for document in old.documents()] == [REPORT.document_id]
        assert old.nodes(REPORT.document_id) == list(REPORT.nodes)
        assert len(exports(machines[1])) == 2
        assert snapshot_numbers(machines[1]) == [2, 3]
        corpus.publish(removed=[LETTER.document_id])
    assert list(exports(machines[1])) == [REPORT.document_id]
    assert snapshot_numbers(machines[1]) == [read_current(machines[1]).snapshot] == [4]


def test_two_readers_of_one_machine_fetch_one_copy(machines):
    fetch(machines[1], machines[1].store)
    before = snapshot_path(machines[1], 2).stat().st_ino
    machines[1].current.unlink()
    fetch(machines[1], machines[1].store)
    assert snapshot_path(machines[1], 2).stat().st_ino == before


def test_a_copy_that_is_damaged_here_is_fetched_again(machines):
    snapshot_path(machines[0], 2).write_bytes(b"torn")
    with writing(machines[0]) as corpus:
        assert [record.id for record in corpus.documents()] == [REPORT.document_id]
    machines[0].current.write_bytes(b"{")
    assert list(exports(machines[0])) == [REPORT.document_id]


def test_nothing_is_made_here_for_a_corpus_that_is_nowhere_and_one_only_claimed_is_none(bare, corpus_store):
    with pytest.raises(UnknownCorpusError):
        exports(bare[0])
    assert not bare[0].folder.exists()
    corpus_store.put("CURRENT", json.dumps({**NOTHING_SAID, "fence": 1}).encode(), over=None)
    with pytest.raises(UnknownCorpusError):
        exports(bare[0])


def test_a_corpus_that_was_removed_from_the_store_goes_here_too(machines, corpus_store):
    exports(machines[1])
    corpus_store.delete(list(corpus_store.names("")))
    for place in machines:
        with pytest.raises(UnknownCorpusError):
            exports(place)
    with writing(machines[0]) as corpus:
        assert corpus.documents() == []
    assert exports(machines[1]) == {}


def overtaken(monkeypatch, place, times):
    """Have a writer publish, and delete every older snapshot, between a reader's look at CURRENT and at the snapshot."""
    read, left = ObjectStore.read, [graph(f"late {number}") for number in range(times)]

    def late(self, name):
        if name.startswith("snapshots/") and left:
            late_one = left.pop()
            with writing(place) as corpus:
                publish(corpus, late_one)
                corpus.tidy(keep_seconds=0)
        return read(self, name)

    monkeypatch.setattr(ObjectStore, "read", late)


def test_a_snapshot_that_goes_while_current_moves_is_no_damage(machines, monkeypatch):
    overtaken(monkeypatch, machines[0], times=2)
    assert len(exports(machines[1])) == 3


def test_a_corpus_that_is_removed_between_the_looks_is_none(machines, monkeypatch):
    read = ObjectStore.read

    def late(self, name):
        if name.startswith("snapshots/"):
            remove_shared(machines[0].store, [])
        return read(self, name)

    monkeypatch.setattr(ObjectStore, "read", late)
    with pytest.raises(UnknownCorpusError):
        exports(machines[1])
