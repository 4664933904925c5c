"""A lease that is held, on a real socket: it is kept while its holder lives, and a holder that lost it learns so."""

import os
import signal
import time
from dataclasses import replace

import pytest

from storage import lease
from storage.lease_terms import NAME
from storage.lock import FencedError
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from tests.storage.lease_worlds import GOOD, held, held_elsewhere, take
from tests.storage.shared_worlds import is_free


@pytest.fixture
def store(shared, monkeypatch):
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD)
    return ObjectStore(shared.below("corpora/shared"))


def test_a_zombie_that_returns_learns_that_it_lost_the_lease(store):
    zombie = take(store)
    zombie._ended.set()  # as if the machine had slept: nobody renews
    with held_elsewhere() as child:
        for _ in range(2):
            with pytest.raises(FencedError, match=rf"process {child.pid} on .* took corpus 'shared' over; .* run it again"):
                zombie.renew()
        zombie.release()
        assert held(store).holder.pid == child.pid and not is_free(store)


def test_a_stopped_process_that_goes_on_gives_up_by_itself(store):
    with held_elsewhere() as child:
        os.kill(child.pid, signal.SIGSTOP)
        taken = take(store)
        os.kill(child.pid, signal.SIGCONT)
        time.sleep(GOOD)
        assert held(store).holder == taken.terms.holder
        taken.renew()
        taken.release()


def test_a_lease_outlives_its_time_while_its_holder_lives_and_is_free_afterwards(store):
    assert is_free(store)
    with held_elsewhere():
        time.sleep(2 * GOOD)
        assert held(store).beat >= 3 and not is_free(store)
    mine = take(store)
    mine.release()
    assert is_free(store)
    mine.keep().join(timeout=5)


def test_a_renewal_whose_answer_was_lost_is_told_by_reading(store, monkeypatch):
    mine, put = take(store), ObjectStore.put
    mine._ended.set()
    lost = []

    def answer_lost(self, name, data, *, over):
        tag = put(self, name, data, over=over)
        if not lost:
            lost.append(tag)
            return None
        return tag

    monkeypatch.setattr(ObjectStore, "put", answer_lost)
    mine.renew()
    assert lost and mine._tag == lost[0]
    mine.renew()
    assert held(store).beat == 2
    lost.clear()
    mine.release()
    assert is_free(store)


def test_a_renewal_that_failed_on_the_way_and_arrived_is_gone_on_from(store):
    mine = take(store)
    mine._ended.set()
    arrived = replace(mine.terms, beat=1).written()
    store.put(NAME, arrived, over=mine._tag)
    mine.release()
    assert is_free(store)


def test_a_lease_of_a_removed_corpus_is_lost(store):
    mine = take(store)
    store.delete([NAME])
    with pytest.raises(FencedError, match="corpus 'shared' was removed"):
        mine.renew()
    mine.release()


def test_a_store_that_refuses_for_ever_is_told(store, monkeypatch):
    mine = take(store)
    mine._ended.set()
    monkeypatch.setattr(ObjectStore, "put", lambda *_arguments, **_more: None)
    with pytest.raises(StoreError, match="refused 5 times"):
        mine.renew()


def test_a_store_that_is_gone_for_a_moment_costs_no_lease(store, monkeypatch, caplog):
    def gone(*_arguments, **_more):
        raise StoreError("no answer")

    mine = take(store)
    with monkeypatch.context() as broken:
        broken.setattr(ObjectStore, "put", gone)
        time.sleep(GOOD / 2)
    mine.renew()
    assert "could not be renewed, it is tried again: no answer" in caplog.text
    monkeypatch.setattr(ObjectStore, "put", gone)
    mine.release()
    assert "could not be given back and ends by itself" in caplog.text


def test_the_renewing_thread_ends_when_the_lease_is_lost_and_says_so(store, caplog):
    mine = take(store)
    store.delete([NAME])
    mine.keep().join(timeout=10)
    assert "corpus 'shared' was removed; this ingest publishes nothing more" in caplog.text
    mine.release()
