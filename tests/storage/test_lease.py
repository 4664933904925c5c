"""Leases between processes, on a real socket; GOOD_SECONDS is a second or less here, so that deaths need little waiting."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from storage import lease
from storage.lease import NAME, is_free, read_terms, take_lease
from storage.lock import CorpusBusyError, FencedError
from storage.object_client import StoreError
from storage.object_store import ObjectStore

GOOD = 0.6


@pytest.fixture
def store(shared, monkeypatch):
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD)
    return ObjectStore(shared.below("corpora/shared"))


@contextmanager
def held_elsewhere():
    """Another process that holds the lease."""
    command = [sys.executable, "-m", "tests.storage.lease_holder", str(GOOD)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline().strip().isdigit()
        try:
            yield child
        finally:
            child.kill()


def take(store, wait_seconds=0.0, known_fence=int, dead=None):
    return take_lease(store, "shared", wait_seconds=wait_seconds, known_fence=known_fence, dead=dead)


def held(store):
    return read_terms(store.read(NAME).data)


def test_a_second_writer_is_refused_and_told_who_holds_the_corpus(store):
    with held_elsewhere() as child:
        with pytest.raises(CorpusBusyError, match=rf"'shared' is being written by process {child.pid} on .* for \d+ s \("):
            take(store)
        assert held(store).holder.pid == child.pid


def test_a_killed_holder_is_succeeded_when_its_time_is_over_with_the_fence_one_higher(store):
    with held_elsewhere() as child:
        fence = held(store).holder.fence
        child.send_signal(signal.SIGKILL)
        child.wait()
        began = time.monotonic()
        taken = take(store)
    assert time.monotonic() - began >= GOOD
    assert (taken.terms.holder.pid, taken.terms.holder.fence) == (os.getpid(), fence + 1)
    taken.release()


def test_a_holder_that_is_known_to_have_ended_is_succeeded_at_once(store):
    with held_elsewhere() as child:
        child.send_signal(signal.SIGKILL)
        child.wait()
        began = time.monotonic()
        take(store, dead=held(store).holder).release()
    assert time.monotonic() - began < GOOD


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


def test_of_many_that_find_a_dead_holder_at_once_exactly_one_wins(store):
    with held_elsewhere() as child:
        child.kill()
    taken, refused, ready = [], [], threading.Barrier(6)

    def contend():
        ready.wait()
        try:
            taken.append(take(store))
        except CorpusBusyError:
            refused.append(1)

    contenders = [threading.Thread(target=contend) for _ in range(6)]
    for each in contenders:
        each.start()
    for each in contenders:
        each.join()
    assert (len(taken), len(refused)) == (1, 5)
    assert (held(store).holder, taken[0].terms.holder.fence) == (taken[0].terms.holder, 2)
    taken[0].release()


def test_a_second_writer_can_wait_until_the_first_lets_go(store):
    first = take(store)
    threading.Timer(GOOD, first.release).start()
    second = take(store, wait_seconds=30)
    assert second.terms.holder.fence == first.terms.holder.fence + 1
    second.release()


def test_a_lease_outlives_its_time_while_its_holder_lives_and_is_free_afterwards(store):
    assert is_free(store)
    with held_elsewhere():
        time.sleep(2 * GOOD)
        assert held(store).beat >= 3 and not is_free(store)
    mine = take(store)
    mine.release()
    assert is_free(store)
    mine.keep().join(timeout=5)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"holder": {}}', b'{"holder": {"pid": 3}', b"\xff"])
def test_an_object_that_is_no_lease_still_gives_a_fence_above_the_known_one(store, content):
    store.put(NAME, content, over=None)
    taken = take(store, known_fence=lambda: 41)
    assert taken.terms.holder.fence == 42
    taken.release()


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


def test_a_lease_whose_first_answer_was_lost_is_ours(store, monkeypatch):
    put, lost = ObjectStore.put, []

    def answer_lost(self, name, data, *, over):
        tag = put(self, name, data, over=over)
        lost.append(tag)
        return None if len(lost) == 1 else tag

    monkeypatch.setattr(ObjectStore, "put", answer_lost)
    taken = take(store)
    assert (taken.terms.holder.fence, taken._tag) == (1, lost[0])
    taken.release()


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
