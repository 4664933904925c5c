"""CURRENT in the store, without a corpus behind it; what publishes move it is in test_shared_snapshots.py."""

import json

import pytest

from storage.current import Current, CurrentDamagedError
from storage.lock import FencedError
from storage.object_store import ObjectStore
from storage.shared_current import NAME, NOTHING, claim, last_fence, move, read_published, shared_corpora
from tests.storage.shared_worlds import exports, machine, refused

SECOND = Current(schema_version=1, snapshot=2, sha256="abc")


@pytest.fixture
def store(shared):
    return ObjectStore(shared.below("corpora/default"))


def test_a_writer_claims_what_is_there_and_moves_it(store, shared):
    assert (last_fence(store), shared_corpora(shared)) == (0, [])
    assert claim("default", store, 1) == NOTHING
    move("default", store, SECOND, 1)
    move("default", store, SECOND, 1)
    assert claim("default", store, 2) == claim("default", store, 2) == SECOND
    assert (last_fence(store), shared_corpora(shared)) == (2, ["default"])


def test_who_was_overtaken_can_neither_claim_nor_move(store):
    claim("default", store, 7)
    for overtaken in (lambda: claim("default", store, 6), lambda: move("default", store, SECOND, 6)):
        with pytest.raises(FencedError, match=r"another machine took corpus 'default' over; .* run it again"):
            overtaken()
    assert read_published(store).pointer == NOTHING


def test_a_current_that_was_removed_is_not_made_again_by_a_move(store):
    with pytest.raises(FencedError):
        move("default", store, SECOND, 1)
    assert store.read(NAME) is None


def test_two_that_claim_at_once_both_go_through_and_the_higher_fence_stands(store, monkeypatch):
    put, raced = ObjectStore.put, []

    def faster(self, name, data, *, over):
        if not raced:
            raced.append(put(self, name, json.dumps(json.loads(data) | {"fence": 1}).encode(), over=over))
        return put(self, name, data, over=over)

    monkeypatch.setattr(ObjectStore, "put", faster)
    assert claim("default", store, 2) == NOTHING
    assert raced and last_fence(store) == 2


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"schema_version": 1}'])
def test_a_garbled_current_in_the_store_is_named(shared, store, tmp_path, content):
    store.put("CURRENT", content, over=None)
    for use in (exports, refused):
        with pytest.raises(CurrentDamagedError, match=r"'s3://.*/CURRENT' is damaged .* put an older version"):
            use(machine(tmp_path, shared))
