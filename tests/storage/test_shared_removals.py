"""The list of removals in the store: numbers that rise, no word, no more than it may hold, none lost."""

import pytest

from storage import shared_removals
from storage.current import CurrentDamagedError
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from storage.removals import removal_of
from storage.shared_removals import (
    NAME,
    Listed,
    Removals,
    announce,
    announce_deleted,
    announce_purged,
    announce_whole,
    read_removals,
)
from tests.storage.worlds import graph, record

ONE, TWO = (removal_of(record(graph(name), f"/secret/{name} plans.pdf"), snapshot=3) for name in ("one", "two"))


@pytest.fixture
def store(shared):
    return ObjectStore(shared.below("corpora/default"))


def test_removals_have_numbers_that_rise_also_over_the_removal_of_all(store):
    assert read_removals(store) == Removals()
    assert [announce(store, removal) for removal in (ONE, TWO)] == [1, 2]
    assert read_removals(store) == Removals(last=2, listed=(Listed(1, ONE), Listed(2, TWO)))
    for number, purged in ((1, 1), (9, 2), (1, 2)):
        announce_purged(store, number)
        assert read_removals(store).purged == purged
    announce_whole(store, [])
    assert read_removals(store) == Removals(last=3, whole=3, purged=3)
    assert announce(store, ONE) == 4


def test_what_a_removed_corpus_leaves_is_named_until_it_is_deleted(store):
    announce(store, ONE)
    announce_purged(store, 1)
    announce(store, TWO)
    for document in ("a", "b"):
        announce_whole(store, [document])
    assert read_removals(store).left == tuple(sorted(["a", "b", TWO.document_id]))
    announce_deleted(store, ["a", TWO.document_id])
    assert read_removals(store) == Removals(last=4, whole=4, purged=4, left=("b",))


def test_the_list_holds_no_word_of_a_document(store):
    announce(store, ONE)
    assert not [word for word in (b"secret", b"plans", b"one", b"pdf") if word in store.read(NAME).data]


def test_what_is_purged_already_is_not_written_again(store, monkeypatch):
    announce_purged(store, 1)
    assert store.read(NAME) is None


def test_the_oldest_go_when_there_are_many_and_it_says_which(store, monkeypatch):
    monkeypatch.setattr(shared_removals, "KEPT", 2)
    for removal in (ONE, TWO, ONE, TWO):
        announce(store, removal)
    found = read_removals(store)
    assert ([entry.number for entry in found.listed], found.cut, found.last) == ([3, 4], 2, 4)


def test_a_full_list_is_a_third_of_a_megabyte(store):
    shared_removals._change(store, lambda _: Removals(last=9999, listed=tuple(Listed(9999, ONE) for _ in range(1000))))
    assert store.look(NAME).size_bytes < 400_000


def test_two_that_announce_at_once_lose_nothing(store, monkeypatch):
    put, between = ObjectStore.put, []

    def another_first(self, name, data, *, over):
        if not between:
            between.append(1)
            announce(store, TWO)
        return put(self, name, data, over=over)

    monkeypatch.setattr(ObjectStore, "put", another_first)
    assert announce(store, ONE) == 2
    assert [entry.removal for entry in read_removals(store).listed] == [TWO, ONE]


def test_an_announcement_whose_answer_was_lost_is_made_once(store, monkeypatch):
    put, lost = ObjectStore.put, []

    def answer_lost(self, name, data, *, over):
        lost.append(put(self, name, data, over=over))
        return

    monkeypatch.setattr(ObjectStore, "put", answer_lost)
    assert announce(store, ONE) == 1 and len(lost) == 1
    assert len(read_removals(store).listed) == 1


def test_a_store_that_refuses_for_ever_and_a_damaged_list_are_told(store, monkeypatch):
    with monkeypatch.context() as refusing, pytest.raises(StoreError, match=r"refused 5 times to change 's3://.*/removals'"):
        refusing.setattr(ObjectStore, "put", lambda *_arguments, **_more: None)
        announce(store, ONE)
    store.put(NAME, b"{", over=None)
    with pytest.raises(CurrentDamagedError, match=r"/removals' is damaged .* put an older version of that object back"):
        read_removals(store)
