import os
import time

import pytest

from storage import lease, shared_lock
from storage.lease_terms import NAME, read_terms
from storage.lock import CorpusBusyError, WriterLock, read_holder
from storage.object_store import ObjectStore
from storage.shared_lock import SharedLock, lock_for_writing, wait_until_writable
from tests.storage.shared_worlds import GOOD_SECONDS, is_free, machine
from tests.storage.worlds import corpus_in


@pytest.fixture
def machines(shared, tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
    places = [machine(tmp_path / name, shared) for name in ("one", "two")]
    for place in places:
        place.folder.mkdir(parents=True)
    return places


def lock(place, wait_seconds=0.0):
    return lock_for_writing(place, wait_seconds=wait_seconds, known_fence=int)


def test_a_corpus_of_one_machine_has_the_lock_alone(tmp_path):
    place = corpus_in(tmp_path)
    place.folder.mkdir(parents=True)
    held = lock(place)
    assert isinstance(held, WriterLock)
    held.release()


def test_the_lock_of_the_machine_is_signed_as_the_lease_is(machines):
    held = lock(machines[0])
    terms = read_terms(ObjectStore(machines[0].store).read(NAME).data)
    assert isinstance(held, SharedLock) and read_holder(machines[0].lock) == terms.holder
    assert held.fence == terms.holder.fence == 1
    held.require_held()
    held.release()


def test_each_writer_has_the_fence_one_higher_on_whatever_machine(machines):
    fences = []
    for place in (machines[0], machines[1], machines[1], machines[0]):
        held = lock(place)
        fences.append(held.fence)
        held.release()
    assert fences == [1, 2, 3, 4]


def test_a_second_writer_is_refused_on_this_machine_at_once_and_on_another_after_a_look(machines):
    held = lock(machines[0])
    began = time.monotonic()
    for place in machines:
        with pytest.raises(CorpusBusyError, match=f"is being written by process {os.getpid()} on "):
            lock(place)
    assert time.monotonic() - began < 30
    held.release()
    lock(machines[1]).release()


def test_who_is_refused_the_lease_lets_this_machines_lock_go(machines):
    held = lock(machines[0])
    with pytest.raises(CorpusBusyError):
        lock(machines[1])
    held.release()
    lock(machines[1]).release()


def test_a_lease_whose_holder_this_machine_knows_to_be_dead_is_not_waited_for(machines, monkeypatch):
    dead = lock(machines[0])
    dead.lease._ended.set()
    dead.local.release()  # as its death does
    monkeypatch.setattr(lease.time, "sleep", lambda _seconds: pytest.fail("it was waited for"))
    held = lock(machines[0])
    assert held.fence == dead.fence + 1
    held.release()


def test_a_lock_file_that_cannot_be_signed_gives_both_back(machines, monkeypatch):
    def fail(_descriptor, _holder):
        raise OSError("disk")

    with monkeypatch.context() as broken:
        broken.setattr(shared_lock, "announce", fail)
        with pytest.raises(OSError, match="disk"):
            lock(machines[0])
    assert is_free(ObjectStore(machines[0].store))
    lock(machines[0]).release()


def test_who_may_be_refused_is_told_before_anything_else(machines, tmp_path):
    for place in (machines[0], machines[1], corpus_in(tmp_path / "alone")):
        wait_until_writable(place, wait_seconds=0)
    held = lock(machines[0])
    for place in machines:
        with pytest.raises(CorpusBusyError, match=f"process {os.getpid()}"):
            wait_until_writable(place, wait_seconds=0)
    held.release()
    wait_until_writable(machines[1], wait_seconds=0)


def test_a_dead_holder_that_was_waited_for_once_is_not_waited_for_again(machines, monkeypatch):
    dead = lock(machines[0])
    dead.lease._ended.set()
    wait_until_writable(machines[1], wait_seconds=0)
    monkeypatch.setattr(lease.time, "sleep", lambda _seconds: pytest.fail("it was waited for again"))
    lock(machines[1]).release()
    dead.release()
