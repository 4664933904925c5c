"""Snapshots as objects of the store: they are checked, and go when their time is over."""

import pytest

from storage.current import CurrentDamagedError, read_current
from storage.shared_removals import read_removals
from storage.shared_snapshots import drop_unkept, remove_shared, snapshot_name
from storage.snapshot import UnknownCorpusError
from tests.storage.shared_worlds import exports, refused, writing
from tests.storage.worlds import graph, publish

REPORT, LETTER = graph("report"), graph("letter")


def test_a_published_snapshot_that_is_truncated_or_gone_in_the_store_is_noticed(machines, corpus_store):
    name = snapshot_name(read_current(machines[0]))
    whole = corpus_store.read(name)
    corpus_store.put(name, whole.data[:-100], over=whole.tag)
    with pytest.raises(CurrentDamagedError, match=r"snapshots/2-.*duckdb', the published snapshot, is missing or altered"):
        exports(machines[1])
    corpus_store.delete([name])
    with pytest.raises(CurrentDamagedError, match="put it back"):
        refused(machines[1])
    assert list(exports(machines[0])) == [REPORT.document_id]


def test_old_snapshots_go_from_the_store_too_when_their_time_is_over(machines, corpus_store):
    with writing(machines[0]) as corpus:
        publish(corpus, LETTER)
        corpus_store.put("snapshots/2-zombie.duckdb", b"never published", over=None)
        drop_unkept(machines[0], machines[0].store)
        assert [name.split("/")[1][:2] for name in corpus_store.names("snapshots/")] == ["1-", "2-", "3-"]
        corpus.tidy(keep_seconds=0)
    assert list(corpus_store.names("snapshots/")) == [snapshot_name(read_current(machines[0]))]
    assert len(exports(machines[1])) == 2


def test_a_removed_corpus_is_gone_but_for_its_lease_and_the_word_that_it_was_removed(machines, corpus_store):
    remove_shared(machines[0].store, [])
    assert list(corpus_store.names("")) == ["lease", "removals"]
    assert read_removals(corpus_store).whole == 1
    with pytest.raises(UnknownCorpusError, match=r"FLOWREADER_STORE 's3://.*' holds none"):
        exports(machines[1])
