import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from storage import lease, shared_garbage
from storage.artifacts import ArtifactStore, hash_bytes, shared_name
from storage.call_cache import CallCache
from storage.garbage import Garbage, collect
from storage.lease import take_lease
from storage.lease_terms import read_terms
from storage.lock import CorpusBusyError, FencedError
from storage.memo import StepMemo, shared_folder
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from storage.removals import Removal
from storage.shared_current import claim, read_published, shared_corpora
from storage.shared_garbage import forget_shared, kept_quiet
from storage.shared_removals import announce, announce_whole, read_removals
from storage.shared_snapshots import remove_shared
from tests.storage.lease_worlds import held_elsewhere
from tests.storage.shared_worlds import GOOD_SECONDS, asleep, is_free, machine, refused, writing
from tests.storage.worlds import document_id, graph, publish

REPORT, LETTER, KEY = document_id("report"), document_id("letter"), document_id("key")


@pytest.fixture
def memos(shared, tmp_path, monkeypatch):
    """The notes of two machines that share a store."""
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
    monkeypatch.setattr(shared_garbage, "WAIT_SECONDS", (0.0, 0.0))
    places = [tmp_path / name for name in ("one", "two")]
    return [StepMemo(place / "steps", ArtifactStore(place / "artifacts", ObjectStore(shared))) for place in places]


def finish(memo, document, *artifacts):
    memo.remember(document, "parse", KEY, {data: memo.artifacts.put(data.encode()) for data in artifacts})


def sweep(memo, place, gone=()):
    place.folder.mkdir(parents=True, exist_ok=True)
    return collect(place.home / "corpora", memo, CallCache(place.home / "calls"), keep_seconds=0, own=place, gone=gone)


def there(shared):
    return set(ObjectStore(shared).names(""))


def test_what_no_corpus_needs_goes_from_the_store_as_it_goes_here(memos, shared, tmp_path):
    finish(memos[0], REPORT, "own", "both")
    gone = sweep(memos[0], machine(tmp_path / "one", shared))
    assert gone.documents == (REPORT,)
    assert there(shared) == set()


def test_what_another_machine_noted_of_a_removed_document_goes_too(memos, shared, tmp_path):
    finish(memos[1], REPORT, "own", "both")
    finish(memos[0], LETTER, "both")
    own, both = (memos[1].artifacts.put(data) for data in (b"own", b"both"))
    gone = forget_shared(ObjectStore(shared), memos[0], documents=[REPORT], artifacts=[".partial-x"], named=[])
    assert there(shared) == {shared_name(both), f"{shared_folder(LETTER)}parse-{KEY}.json"}
    assert gone == {own}


def test_a_note_that_is_damaged_or_just_gone_names_nothing_and_goes(memos, shared, monkeypatch):
    store = ObjectStore(shared)
    store.put(f"{shared_folder(REPORT)}parse-{KEY}.json", b"{", over=None)
    store.put(f"{shared_folder(REPORT)}words-{KEY}.json", b"{}", over=None)
    monkeypatch.setattr(ObjectStore, "read", lambda self, name: None)
    forget_shared(store, memos[0], documents=[REPORT], artifacts=[], named=[])
    assert there(shared) == set()


def test_nothing_goes_while_another_machine_writes_another_corpus(memos, shared, tmp_path):
    other = ObjectStore(shared.below("corpora/other"))
    claim("other", other, 1)
    held = take_lease(other, "other", wait_seconds=0, known_fence=int, dead=None)
    finish(memos[0], REPORT, "own")
    place = machine(tmp_path / "one", shared)
    before = there(shared)
    assert sweep(memos[0], place, [REPORT]) == Garbage(postponed="corpus 'other' is being written on another machine")
    assert there(shared) >= {name for name in before if "lease" not in name}
    held.release()
    assert sweep(memos[0], place).documents == (REPORT,)
    assert shared_corpora(shared) == ["other"]


def test_the_own_corpus_is_not_taken_for_another(memos, shared, tmp_path):
    place = machine(tmp_path / "one", shared)
    claim(place.name, ObjectStore(place.store), 1)
    held = take_lease(ObjectStore(place.store), "default", wait_seconds=0, known_fence=int, dead=None)
    finish(memos[0], REPORT, "own")
    assert sweep(memos[0], place).documents == (REPORT,)
    held.release()


def published(place, name):
    """Have the corpus of a machine published with a document, and its graph's artifact kept by all."""
    with writing(place) as corpus:
        publish(corpus, graph(name))


def test_a_killed_writer_of_another_corpus_is_taken_over_and_no_longer_in_the_way(memos, shared, tmp_path):
    claim("shared", ObjectStore(shared.below("corpora/shared")), 0)
    finish(memos[0], REPORT, "own")
    place = machine(tmp_path / "one", shared)
    with held_elsewhere() as child:
        hindered = sweep(memos[0], place, [REPORT])
        assert hindered == Garbage(postponed="corpus 'shared' is being written on another machine")
        child.kill()
        child.wait()
        gone = sweep(memos[0], place, [REPORT])
    assert gone.documents == (REPORT,) and not [name for name in there(shared) if name.startswith(("artifacts/", "steps/"))]
    other = ObjectStore(shared.below("corpora/shared"))
    assert is_free(other) and (read_terms(other.read("lease").data).holder.fence, read_published(other).fence) == (2, 2)


def test_a_writer_that_is_slow_and_lives_is_never_robbed(memos, shared, tmp_path):
    """Its artifact is in the store and named by nothing yet; it takes longer than a lease holds."""
    other = replace(machine(tmp_path / "two", shared), name="other", store=shared.below("corpora/other"))
    published(other, "letter")
    finish(memos[0], REPORT, "shared picture")
    place = machine(tmp_path / "one", shared)
    with writing(other) as corpus:
        deadline = time.monotonic() + 3 * GOOD_SECONDS
        while time.monotonic() < deadline:
            assert sweep(memos[0], place, [REPORT]).postponed
            assert shared_name(hash_bytes(b"shared picture")) in there(shared)
        publish(corpus, graph("other", picture=hash_bytes(b"shared picture")))
    assert sweep(memos[0], place, [REPORT]).postponed == ""
    assert shared_name(hash_bytes(b"shared picture")) in there(shared), "another corpus names it now"


def test_of_clean_ups_that_begin_at_once_on_several_machines_one_goes_through(memos, shared, tmp_path, monkeypatch):
    names, waits = ("one", "two", "three"), [1.0, 3.0, 12.0]
    places = [replace(machine(tmp_path / name, shared), name=name, store=shared.below(f"corpora/{name}")) for name in names]
    monkeypatch.setattr(shared_garbage, "uniform", lambda _least, _most: waits.pop())
    begun = threading.Barrier(len(names))

    def clean(place):
        store = ObjectStore(place.store)
        claim(place.name, store, 1)
        own = take_lease(store, place.name, wait_seconds=0, known_fence=int, dead=None)
        begun.wait(10)
        try:
            with kept_quiet(ObjectStore(shared), place.home / "corpora", place) as hindered:
                return hindered
        finally:
            time.sleep(GOOD_SECONDS)  # Upkeep has more to do.
            own.release()

    with ThreadPoolExecutor(len(names)) as machines:
        assert "" in list(machines.map(clean, places))
    assert all(is_free(ObjectStore(place.store)) for place in places)


def test_a_clean_up_that_is_hindered_keeps_no_writer_out(memos, shared, tmp_path):
    free, busy = (ObjectStore(shared.below(f"corpora/{name}")) for name in ("a", "b"))
    for store in (free, busy):
        claim("any", store, 1)
    held = take_lease(busy, "b", wait_seconds=0, known_fence=int, dead=None)
    with kept_quiet(ObjectStore(shared), tmp_path / "one" / "corpora", machine(tmp_path / "one", shared)) as hindered:
        assert "corpus 'b'" in hindered and is_free(free)
    held.release()


def test_a_corpus_that_is_removed_after_it_was_listed_is_not_brought_back(memos, shared, tmp_path, monkeypatch):
    other = replace(machine(tmp_path / "two", shared), name="other", store=shared.below("corpora/other"))
    published(other, "letter")
    finish(memos[0], REPORT, "own")
    take = shared_garbage.take_lease

    def removed_first(*arguments, **more):
        remove_shared(other.store, [])
        return take(*arguments, **more)

    monkeypatch.setattr(shared_garbage, "take_lease", removed_first)
    assert sweep(memos[0], machine(tmp_path / "one", shared)).documents == (REPORT,)
    assert shared_corpora(shared) == [] and read_published(ObjectStore(other.store)) is None


def test_a_writer_that_slept_too_long_publishes_nothing_after_the_clean_up(memos, shared, tmp_path, monkeypatch):
    other = replace(machine(tmp_path / "two", shared), name="other", store=shared.below("corpora/other"))
    place = machine(tmp_path / "one", shared)
    with asleep(other) as zombie:
        assert sweep(memos[0], place).postponed == ""
        monkeypatch.setattr(type(zombie._lock), "require_held", lambda self: None)
        with pytest.raises(FencedError, match="another machine took corpus 'other' over"):
            publish(zombie, graph("letter"))


def test_nobody_begins_to_write_another_corpus_while_it_is_cleaned(memos, shared, tmp_path, monkeypatch):
    other = replace(machine(tmp_path / "two", shared), name="other", store=shared.below("corpora/other"))
    published(other, "letter")
    tried = []

    def deleting(*_arguments, **_more):
        with pytest.raises(CorpusBusyError):
            refused(other)
        tried.append(1)
        return set()

    monkeypatch.setattr("storage.garbage.forget_shared", deleting)
    sweep(memos[0], machine(tmp_path / "one", shared))
    assert tried
    with writing(other):
        pass


def test_who_takes_the_claim_over_meanwhile_is_a_writer_too(memos, shared, tmp_path):
    claim("other", ObjectStore(shared.below("corpora/other")), 9)
    take_lease(ObjectStore(shared.below("corpora/other")), "other", wait_seconds=0, known_fence=int, dead=None).release()
    assert "is being written on another machine" in sweep(memos[0], machine(tmp_path / "one", shared)).postponed


def harmed(here, store, harm):
    """Do that to another corpus, or to this machine's copy of it."""
    current, damaged = store.read("CURRENT"), b"damaged" * 9000
    said = json.loads(current.data)
    if harm == "another store's":
        here.folder.mkdir(parents=True)
        here.store_note.write_text("s3://elsewhere/corpora/other")
    elif harm == "no snapshot":
        store.delete(list(store.names("snapshots/")))
    else:
        store.put(f"snapshots/{said['snapshot']}-{hash_bytes(damaged)}.duckdb", damaged, over=None)
        changed = {"too new": {"schema_version": 99}, "no catalog": {"sha256": hash_bytes(damaged)}, "garbage": {"fence": "?"}}
        store.put("CURRENT", json.dumps(said | changed[harm]).encode(), over=current.tag)


@pytest.mark.parametrize("harm", ["garbage", "too new", "no snapshot", "no catalog", "another store's"])
def test_nothing_goes_where_another_corpus_cannot_be_asked_and_the_caller_is_told_why(memos, shared, tmp_path, harm):
    other = replace(machine(tmp_path / "two", shared), name="other", store=shared.below("corpora/other"))
    published(other, "letter")
    store = ObjectStore(other.store)
    announce(store, Removal(LETTER, 0.0))
    harmed(replace(other, folder=tmp_path / "one" / "corpora" / "other"), store, harm)
    finish(memos[0], REPORT, "own")
    before = there(shared)
    gone = sweep(memos[0], machine(tmp_path / "one", shared), [REPORT])
    assert gone == Garbage(postponed=gone.postponed) and gone.postponed.startswith("corpus 'other' cannot be asked what it needs: ")
    assert {name for name in before if "lease" not in name} <= there(shared) and is_free(store)


def left_behind(shared, *names):
    """Have a corpus removed whole that had these documents, before any of it was deleted."""
    announce_whole(ObjectStore(shared.below("corpora/removed")), [document_id(name) for name in names])


def test_what_a_removed_corpus_left_goes_with_the_next_clean_up_of_any_machine(memos, shared, tmp_path):
    finish(memos[1], REPORT, "words of report")
    finish(memos[0], REPORT, "words of report")
    left_behind(shared, "report", "never parsed")
    ObjectStore(shared.below("corpora/damaged")).put("removals", b"{", over=None)
    place, calls = machine(tmp_path / "one", shared), CallCache(tmp_path / "one" / "calls")
    place.folder.mkdir(parents=True)
    gone = collect(place.home / "corpora", memos[0], calls, keep_seconds=3600, own=place)
    assert gone.documents == (REPORT,) and there(shared) == {"corpora/damaged/removals", "corpora/removed/removals"}
    assert read_removals(ObjectStore(shared.below("corpora/removed"))).left == ()


def test_what_a_removed_corpus_left_stays_named_while_a_clean_up_is_put_off_or_fails(memos, shared, tmp_path, monkeypatch):
    other = replace(machine(tmp_path / "two", shared), name="other", store=shared.below("corpora/other"))
    place = machine(tmp_path / "one", shared)
    finish(memos[1], REPORT, "words of report")
    left_behind(shared, "report")
    with writing(other):
        assert sweep(memos[0], place).postponed

    def out_of_reach(*_arguments, **_more):
        raise StoreError("the store does not answer")

    with monkeypatch.context() as patched, pytest.raises(StoreError):
        patched.setattr("storage.garbage.forget_shared", out_of_reach)
        sweep(memos[0], place)
    assert read_removals(ObjectStore(shared.below("corpora/removed"))).left == (REPORT,)
    sweep(memos[0], place)
    assert not [name for name in there(shared) if name.startswith(("artifacts/", "steps/"))]


def test_what_a_removed_corpus_left_and_another_has_stays(memos, shared, tmp_path):
    other = replace(machine(tmp_path / "two", shared), name="other", store=shared.below("corpora/other"))
    published(other, "report")
    finish(memos[1], REPORT, "words of report")
    left_behind(shared, "report")
    sweep(memos[0], machine(tmp_path / "one", shared))
    assert shared_name(hash_bytes(b"words of report")) in there(shared)
    assert read_removals(ObjectStore(shared.below("corpora/removed"))).left == (REPORT,)
