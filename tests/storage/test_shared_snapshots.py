"""One corpus, two machines: what the one publishes the other reads, and no zombie gets between."""

import json
import os

import pytest

from storage import lease, shared_current, shared_snapshots
from storage.current import CurrentDamagedError, read_current, snapshot_numbers, snapshot_path
from storage.doctor import examine
from storage.graph_store import GraphDamagedError
from storage.locations import shared_store
from storage.lock import CorpusBusyError, FencedError
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from storage.shared_current import NOTHING
from storage.shared_snapshots import StoreMismatchError, drop_unkept, fetch, remove_shared, snapshot_name
from storage.snapshot import UnknownCorpusError, open_for_reading
from tests.object_server import fresh_prefix
from tests.storage.shared_worlds import GOOD_SECONDS, asleep, copied, exports, machine, refused, writing
from tests.storage.worlds import corpus_in, graph, link, memo_in, publish

REPORT, LETTER, OTHER = graph("report"), graph("letter"), graph("other")
NOTHING_SAID = {"schema_version": NOTHING.schema_version, "snapshot": 0, "sha256": ""}


@pytest.fixture(scope="module")
def original(objects, tmp_path_factory):
    """A machine that published a report; nobody may change it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**objects.environment, "FLOWREADER_STORE": fresh_prefix()}.items():
            patch.setenv(name, value)
        place = machine(tmp_path_factory.mktemp("original"), shared_store())
        with writing(place) as corpus:
            publish(corpus, REPORT)
        yield place


@pytest.fixture
def bare(shared, tmp_path, monkeypatch):
    """Two machines and an empty store."""
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
    return [machine(tmp_path / name, shared) for name in ("one", "two")]


@pytest.fixture
def machines(bare, original, shared, tmp_path):
    """Two machines of which the first published a report."""
    return [copied(original, tmp_path / "one", shared), bare[1]]


@pytest.fixture
def store(bare):
    return ObjectStore(bare[0].store)


def test_what_one_machine_publishes_the_other_reads(machines, tmp_path):
    with writing(machines[0]) as corpus:
        publish(corpus, LETTER, cross_edges=link(REPORT, LETTER))
    alone = corpus_in(tmp_path / "alone")
    with writing(alone) as corpus:
        publish(corpus, REPORT, LETTER, cross_edges=link(REPORT, LETTER))
    assert exports(machines[1]) == exports(machines[0]) == exports(alone)
    assert examine(machines[1], memo_in(machines[1].home)) == []
    assert not (machines[0].lance / "nodes.lance").exists()


def test_a_reader_keeps_the_snapshot_it_began_with_and_the_next_sees_the_new_one(machines):
    with writing(machines[0]) as corpus, open_for_reading(machines[1]) as old:
        publish(corpus, LETTER)
        assert [document.id for document in old.documents()] == [REPORT.document_id]
        assert old.nodes(REPORT.document_id) == list(REPORT.nodes)
        assert len(exports(machines[1])) == 2
        assert snapshot_numbers(machines[1]) == [2, 3]
        corpus.publish(removed=[LETTER.document_id])
    assert list(exports(machines[1])) == [REPORT.document_id]
    assert snapshot_numbers(machines[1]) == [read_current(machines[1]).snapshot] == [4]


def test_two_readers_of_one_machine_fetch_one_copy(machines):
    fetch(machines[1], machines[1].store)
    before = snapshot_path(machines[1], 2).stat().st_ino
    machines[1].current.unlink()
    fetch(machines[1], machines[1].store)
    assert snapshot_path(machines[1], 2).stat().st_ino == before


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


def test_a_writer_that_comes_after_a_higher_fence_is_refused_and_one_without_a_lease_goes_above_it(machines, store):
    found = store.read("CURRENT")
    store.put("CURRENT", json.dumps(json.loads(found.data) | {"fence": 99}).encode(), over=found.tag)
    with pytest.raises(FencedError, match="another machine took"):
        refused(machines[0])
    store.delete(["lease"])
    with writing(machines[0]) as corpus:
        assert corpus._lock.fence == 100


def test_a_kill_after_the_commit_and_before_this_machines_current_loses_nothing(machines, monkeypatch):
    def killed(*_arguments):
        raise KeyboardInterrupt

    with writing(machines[0]) as corpus, monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
        dying.setattr(shared_snapshots, "write_durably", killed)
        publish(corpus, LETTER)
    assert len(exports(machines[1])) == 2
    with writing(machines[0]) as corpus:
        assert (corpus.messages, len(corpus.documents())) == ((), 2)


def test_a_published_snapshot_that_is_truncated_or_gone_in_the_store_is_noticed(machines, store):
    name = snapshot_name(read_current(machines[0]))
    whole = store.read(name)
    store.put(name, whole.data[:-100], over=whole.tag)
    with pytest.raises(CurrentDamagedError, match=r"snapshots/2-.*duckdb', the published snapshot, is missing or altered"):
        exports(machines[1])
    store.delete([name])
    with pytest.raises(CurrentDamagedError, match="put it back"):
        refused(machines[1])
    assert list(exports(machines[0])) == [REPORT.document_id]


def test_a_copy_that_is_damaged_here_is_fetched_again(machines):
    snapshot_path(machines[0], 2).write_bytes(b"torn")
    with writing(machines[0]) as corpus:
        assert [record.id for record in corpus.documents()] == [REPORT.document_id]
    machines[0].current.write_bytes(b"{")
    assert list(exports(machines[0])) == [REPORT.document_id]


@pytest.mark.parametrize("file", ["CURRENT", "catalog.duckdb"])
def test_a_corpus_of_this_machine_alone_is_never_taken_for_a_copy(bare, file):
    bare[0].folder.mkdir(parents=True)
    (bare[0].folder / file).write_bytes(b"its own")
    for use in (exports, refused):
        with pytest.raises(StoreMismatchError, match=r"'default' in .* is of this machine alone, not of 's3://"):
            use(bare[0])
    assert (bare[0].folder / file).read_bytes() == b"its own"


def test_a_copy_of_another_store_is_never_taken_for_this_ones(machines):
    machines[0].store_note.write_text("s3://other/corpora/default")
    machines[0].current.unlink()
    with pytest.raises(StoreMismatchError, match=r"is a copy of 's3://other/corpora/default', not of 's3://.*/default'"):
        exports(machines[0])


def test_nothing_is_made_here_for_a_corpus_that_is_nowhere_and_one_only_claimed_is_none(bare, store):
    with pytest.raises(UnknownCorpusError):
        exports(bare[0])
    assert not bare[0].folder.exists()
    store.put("CURRENT", json.dumps({**NOTHING_SAID, "fence": 1}).encode(), over=None)
    with pytest.raises(UnknownCorpusError):
        exports(bare[0])


def test_a_corpus_that_was_removed_from_the_store_goes_here_too(machines, store):
    exports(machines[1])
    store.delete(list(store.names("")))
    for place in machines:
        with pytest.raises(UnknownCorpusError):
            exports(place)
    with writing(machines[0]) as corpus:
        assert corpus.documents() == []
    assert exports(machines[1]) == {}


def test_a_graph_that_cannot_be_opened_in_the_store_is_not_given_up(machines, store):
    kept = {name: store.read(name).data for name in store.names("lance/nodes.lance/_versions/")}
    store.delete(list(kept))
    with pytest.raises(GraphDamagedError, match=r"table nodes .* in 's3://.*/lance' cannot be opened"):
        refused(machines[1])
    for name, data in kept.items():
        store.put(name, data, over=None)
    with writing(machines[1]) as corpus:
        assert [record.id for record in corpus.documents()] == [REPORT.document_id]


def test_old_snapshots_go_from_the_store_too_when_their_time_is_over(machines, store):
    with writing(machines[0]) as corpus:
        publish(corpus, LETTER)
        store.put("snapshots/2-zombie.duckdb", b"never published", over=None)
        drop_unkept(machines[0], machines[0].store)
        assert [name.split("/")[1][:2] for name in store.names("snapshots/")] == ["1-", "2-", "3-"]
        corpus.tidy(keep_seconds=0)
    assert list(store.names("snapshots/")) == [snapshot_name(read_current(machines[0]))]
    assert len(exports(machines[1])) == 2


def test_a_removed_corpus_is_gone_but_for_the_lease_so_that_fences_go_on_rising(machines, store):
    remove_shared(machines[0].store)
    assert list(store.names("")) == ["lease"]
    with pytest.raises(UnknownCorpusError, match=r"FLOWREADER_STORE 's3://.*' holds none"):
        exports(machines[1])
