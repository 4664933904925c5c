"""Who may take a lease, and when, on a real socket."""

import os
import signal
import threading
import time

import pytest

from storage import lease
from storage.lease_terms import NAME, Terms
from storage.lock import CorpusBusyError, signature
from storage.object_store import ObjectStore
from tests.storage.lease_worlds import GOOD, held, held_elsewhere, take


@pytest.fixture
def store(shared, monkeypatch):
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD)
    return ObjectStore(shared.below("corpora/shared"))


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
    with held_elsewhere(good_seconds=60) as child:
        child.send_signal(signal.SIGKILL)
        child.wait()
        began = time.monotonic()
        take(store, dead=held(store).holder).release()
    assert time.monotonic() - began < 30


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


def test_who_is_overtaken_between_look_and_step_looks_again_and_comes_after(store, monkeypatch):
    put, faster = ObjectStore.put, []

    def overtaken(self, name, data, *, over):
        if not faster:
            faster.append(put(self, name, Terms(signature(1), GOOD).written(), over=over))
        return put(self, name, data, over=over)

    monkeypatch.setattr(ObjectStore, "put", overtaken)
    taken = take(store)
    assert (len(faster), taken.terms.holder.fence) == (1, 2)
    taken.release()


def test_a_second_writer_can_wait_until_the_first_lets_go(store):
    first = take(store)
    threading.Timer(GOOD, first.release).start()
    second = take(store, wait_seconds=30)
    assert second.terms.holder.fence == first.terms.holder.fence + 1
    second.release()


@pytest.mark.parametrize("content", [b"", b"[]", b'{"holder": {}}', b'{"holder": {"pid": 3}', b"\xff"])
def test_an_object_that_is_no_lease_still_gives_a_fence_above_the_known_one(store, content):
    store.put(NAME, content, over=None)
    taken = take(store, known_fence=lambda: 41)
    assert taken.terms.holder.fence == 42
    taken.release()


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
