"""Push and pull between two homes over a real S3 server: whatever cuts them or stands in their way, the old snapshot stands."""

import json
import shutil
import threading

import pytest

from storage.artifacts import hash_bytes
from storage.catalog.current import PulledError, read_current, read_pull_address, snapshot_numbers
from storage.catalog.removals import read_removals
from storage.corpus.doctor import examine
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.corpus.transfer import file_list_path
from storage.errors import ExpectedError
from storage.object_address import store_address
from storage.object_client import ObjectPrefix, StoreError
from tests.storage.transfer_worlds import add, body, objects, pulling, pushing, rewrite
from tests.storage.worlds import corpus_in, exports, graph, record, writing
from tests.torture.lab import CAMPAIGN


def test_what_is_pulled_is_what_was_pushed_and_again_moves_only_what_is_new(store, one, two):
    with writing(one) as corpus:
        corpus.index()
    first = pushing(store, one)
    assert first.changed and (first.corpus, first.snapshot, first.address) == ("papers", 3, store.address("kept/papers"))
    told = []
    fetched = pulling(store, tell=lambda *moved: told.append(moved))
    # What several files hold alike is sent once.
    assert fetched.files > first.files and sum(moved for moved, _ in told) == fetched.bytes == told[0][1]
    assert exports(two) == exports(one)
    with open_for_reading(two) as snapshot:
        assert [artifact for _, artifact in snapshot.artifacts()] == [hash_bytes(b"a picture")]
        assert snapshot.page_vectors(graph("report").document_id).shape[0] == 2
    assert list(two.lance.glob("adjacency/*/crc32.json")) and examine(two) == []
    assert read_pull_address(two) == store.address("kept/papers") and not read_pull_address(one)
    for again in (pushing(store, one), pulling(store), pushing(store, two)):
        assert (again.changed, again.files, again.bytes) == (False, 0, 0)
    add(one)
    second = pushing(store, one)
    assert second.changed and 0 < second.files < first.files
    assert pulling(store).files == second.files
    assert exports(two) == exports(one) and len(exports(two)) == 2
    assert pushing(store, two, "copy").changed


@pytest.mark.parametrize("damaged", [False, True])
def test_a_reader_goes_on_with_the_snapshot_it_began_with_also_where_its_list_is_damaged(damaged, store, one, two):
    pushing(store, one)
    pulling(store)
    with open_for_reading(two) as snapshot:
        rewrite(one, "letter")
        pushing(store, one)
        if damaged:
            file_list_path(two, snapshot.number).write_bytes(b"{")
        pulling(store)
        assert len(exports(two)) == 2
        assert [document.title for document in snapshot.documents()] == ["report"]
        assert len(snapshot.nodes(graph("report").document_id)) == 6
    before = set(two.lance.rglob("*.lance"))
    pulling(store)
    assert snapshot_numbers(two) == [read_current(two).snapshot] and set(two.lance.rglob("*.lance")) < before
    assert exports(two) == exports(one)


STEPS = [25, pytest.param(1 if CAMPAIGN else 4, marks=pytest.mark.torture)]
"""How many requests lie between two cuts; each try goes on where the one before was cut."""


def cuts(store, transfer, step):
    """Yield after each of these ways in which the store can go away in the middle of a transfer; the last one is none."""
    for requests in range(1, 200, step):
        store.answers_left = requests
        try:
            transfer()
        except StoreError as error:
            assert "Gone" in str(error)
        else:
            # what is deleted at the very end may wait
            assert requests
            return
        finally:
            store.answers_left = None
        yield requests


@pytest.mark.torture
@pytest.mark.parametrize("step", STEPS)
def test_a_push_that_is_cut_anywhere_leaves_the_old_snapshot_and_goes_on(step, store, one, two):
    pushing(store, one)
    old = exports(one)
    add(one)
    for _cut in cuts(store, lambda: pushing(store, one), step):
        pulling(store)
        assert exports(two) == old
    pulling(store)
    assert exports(two) == exports(one) != old


@pytest.mark.torture
@pytest.mark.parametrize("step", STEPS)
def test_a_pull_that_is_cut_anywhere_leaves_the_old_snapshot_and_goes_on(step, store, one, two):
    pushing(store, one)
    for _cut in cuts(store, lambda: pulling(store), step):
        with pytest.raises(UnknownCorpusError):
            exports(two)
        # Before the store was reached at all there is nothing here; from the first file on it is nobody's to write.
        if two.folder.exists():
            with pytest.raises(PulledError, match=r"pulled from s3://.*/kept/papers and is read-only"), writing(two):
                raise AssertionError
    old = exports(two)
    rewrite(one, "letter")
    pushing(store, one)
    for _cut in cuts(store, lambda: pulling(store), step):
        assert exports(two) == old
    assert exports(two) == exports(one) != old
    assert examine(two) == []


@pytest.mark.torture
def test_what_was_removed_is_gone_from_the_store_and_noted_where_it_is_pulled_and_a_change_is_not(store, one, two):
    add(one)
    pushing(store, one)
    pulling(store)
    assert any(b"words 3 of report" in body(store, name) for name in objects(store))
    new = graph("new letter")
    with writing(one) as corpus:
        report, letter = graph("report").document_id, graph("letter").document_id
        corpus.publish(graphs=[new], records=[record(new, "/files/letter.pdf")], removed=[report, letter])
        corpus.purge(wait_seconds=5)
    pushing(store, one)
    assert not any(b"words 3 of report" in body(store, name) for name in objects(store))
    pulling(store)
    assert exports(two) == exports(one)
    assert list(read_removals(two).paths) == [report]


def test_what_older_pushes_left_stays_where_it_cannot_be_deleted_and_goes_later(store, one):
    pushing(store, one)
    add(one)
    store.refusals[("POST", "")] = "AccessDenied"
    done = pushing(store, one)
    assert done.changed and done.remark.startswith("the snapshot is pushed; what older ones left stays for now: cannot delete")
    assert "AccessDenied" in done.remark
    store.refusals.clear()
    before = objects(store)
    assert not pushing(store, one).remark and objects(store) < before


def test_a_delete_that_is_refused_for_one_object_is_an_error(store, monkeypatch):
    class Refusing:
        def delete_objects(self, **_):
            return {"Errors": [{"Code": "AccessDenied", "Message": "Access Denied"}]}

    monkeypatch.setattr("storage.object_client.make_client", lambda _: Refusing())
    with pytest.raises(StoreError, match=r"cannot delete 's3://.*/a': .*\(AccessDenied\); .*to delete"):
        ObjectPrefix(store_address(store.address("kept"))).delete(["a"])


def test_of_two_pushes_at_once_the_second_is_an_error(store, one, tmp_path):
    other = corpus_in(shutil.copytree(one.home, tmp_path / "other"), "papers")
    add(one)
    add(other, "note")
    pushed = []

    store.meanwhile["kept/papers/CURRENT"] = lambda: pushed.append(pushing(store, other))
    with pytest.raises(ExpectedError, match=r"got another push from .* \(snapshot 3\) meanwhile; run the same command again"):
        pushing(store, one)
    assert json.loads(body(store, "CURRENT"))["push"] == 1 and pushed[0].changed
    assert pushing(store, one).changed


def test_a_pointer_that_goes_while_it_is_pushed_is_an_error(store, one):
    pushing(store, one)
    add(one)
    store.meanwhile["kept/papers/CURRENT"] = lambda: store.delete("kept/papers/CURRENT")
    with pytest.raises(ExpectedError, match="got another push meanwhile"):
        pushing(store, one)


def test_a_push_whose_last_answer_was_lost_is_done(store, one, two):
    store.lost_answers.add("kept/papers/CURRENT")
    assert pushing(store, one).changed and not store.lost_answers
    pulling(store)
    assert exports(two) == exports(one)


@pytest.mark.torture
def test_a_pull_that_is_overtaken_by_a_push_begins_again(store, one, two):
    pushing(store, one)
    left, lock = ["letter"], threading.Lock()

    def overtaken(_moved, _total):
        with lock:
            if left:
                rewrite(one, left.pop())
                pushing(store, one)

    assert pulling(store, tell=overtaken).snapshot == read_current(one).snapshot
    assert exports(two) == exports(one) and len(exports(two)) == 2
