import pytest

from storage import lease
from storage.artifacts import ArtifactStore, shared_name
from storage.call_cache import CallCache
from storage.garbage import Garbage, collect
from storage.lease import take_lease
from storage.memo import StepMemo, shared_folder
from storage.object_store import ObjectStore
from storage.shared_current import claim, shared_corpora
from storage.shared_garbage import forget_shared
from tests.storage.shared_worlds import GOOD_SECONDS, machine
from tests.storage.worlds import document_id

REPORT, LETTER, KEY = document_id("report"), document_id("letter"), document_id("key")


@pytest.fixture
def memos(shared, tmp_path, monkeypatch):
    """The notes of two machines that share a store."""
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
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
