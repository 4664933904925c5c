"""Writers of one corpus on two machines: each begins where the store is, and no zombie gets between."""

import json
import os

import pytest

from storage import shared_current, shared_publish
from storage.doctor import examine
from storage.graph_store import GraphDamagedError
from storage.lock import CorpusBusyError, FencedError
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from tests.storage.shared_worlds import asleep, exports, refused, writing
from tests.storage.worlds import graph, memo_in, publish

REPORT, LETTER, OTHER = graph("report"), graph("letter"), graph("other")


def test_a_second_machine_is_refused_while_the_first_writes(machines):
    who = rf"'default' is being written by process {os.getpid()} on .* wait for it, or stop it"
    with writing(machines[0]), pytest.raises(CorpusBusyError, match=who):
        refused(machines[1])


def test_a_zombie_that_passed_its_last_look_is_stopped_by_current_itself(machines, monkeypatch):
    with asleep(machines[0]) as zombie, writing(machines[1]) as successor:
        monkeypatch.setattr(type(zombie._lock), "require_held", lambda self: None)
        with pytest.raises(FencedError, match="another machine took corpus 'default' over"):
            publish(zombie, LETTER)
        assert list(exports(machines[0])) == [REPORT.document_id]
        publish(successor, OTHER)
        assert set(exports(machines[0])) == {REPORT.document_id, OTHER.document_id}
        assert examine(machines[1], memo_in(machines[1].home)) == []


def test_a_commit_whose_answer_was_lost_is_told_by_reading(machines, monkeypatch):
    put, lost = ObjectStore.put, []

    def answer_lost(self, name, data, *, over):
        tag = put(self, name, data, over=over)
        if name == shared_current.NAME and json.loads(data)["snapshot"] == 3 and not lost:
            lost.append(tag)
            return None
        return tag

    with writing(machines[0]) as corpus:
        monkeypatch.setattr(ObjectStore, "put", answer_lost)
        assert publish(corpus, LETTER) == 3
    assert lost and len(exports(machines[1])) == 2


def test_a_claim_or_a_commit_that_is_refused_for_ever_is_told_and_nothing_is_published(machines, monkeypatch):
    put = ObjectStore.put

    def never(self, name, data, *, over):
        return None if name == shared_current.NAME else put(self, name, data, over=over)

    with writing(machines[0]) as corpus:
        monkeypatch.setattr(ObjectStore, "put", never)
        with pytest.raises(StoreError, match="refused 5 times to move CURRENT of corpus 'default'"):
            publish(corpus, LETTER)
    with pytest.raises(StoreError, match="refused 5 times to move CURRENT"):
        refused(machines[1])
    assert list(exports(machines[1])) == list(exports(machines[0])) == [REPORT.document_id]


def test_a_writer_that_comes_after_a_higher_fence_is_refused_and_one_without_a_lease_goes_above_it(machines, corpus_store):
    found = corpus_store.read("CURRENT")
    corpus_store.put("CURRENT", json.dumps(json.loads(found.data) | {"fence": 99}).encode(), over=found.tag)
    with pytest.raises(FencedError, match="another machine took"):
        refused(machines[0])
    corpus_store.delete(["lease"])
    with writing(machines[0]) as corpus:
        assert corpus._lock.fence == 100


def test_a_kill_after_the_commit_and_before_this_machines_current_loses_nothing(machines, monkeypatch):
    def killed(*_arguments):
        raise KeyboardInterrupt

    with writing(machines[0]) as corpus, monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
        dying.setattr(shared_publish, "write_durably", killed)
        publish(corpus, LETTER)
    assert len(exports(machines[1])) == 2
    with writing(machines[0]) as corpus:
        assert (corpus.messages, len(corpus.documents())) == ((), 2)


def test_a_graph_that_cannot_be_opened_in_the_store_is_not_given_up(machines, corpus_store):
    kept = {name: corpus_store.read(name).data for name in corpus_store.names("lance/nodes.lance/_versions/")}
    corpus_store.delete(list(kept))
    with pytest.raises(GraphDamagedError, match=r"table nodes .* in 's3://.*/lance' cannot be opened"):
        refused(machines[1])
    for name, data in kept.items():
        corpus_store.put(name, data, over=None)
    with writing(machines[1]) as corpus:
        assert [record.id for record in corpus.documents()] == [REPORT.document_id]
