"""Publishing links what is new with what is there, the same whatever came first."""

import errno
from contextlib import contextmanager
from dataclasses import replace
from pkgutil import resolve_name

import pytest

from storage.artifacts import ArtifactStore
from storage.catalog.catalog import head
from storage.catalog.current import read_current
from storage.cleaning.removing import clean_up
from storage.corpus.doctor import examine_ids
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.memo import StepMemo
from storage.runs.answer_json import answer_json
from storage.runs.answers import read_answers
from storage.runs.log import RunLog
from tasks.finding.plan import UNFINISHED, ReadingPlan
from tasks.ingest import publishing
from tasks.ingest.outcomes import DocumentOutcome
from tasks.ingest.publishing import index, maintenance_is_due, publish, rename
from tasks.settings.ingest import EvolutionSettings
from tasks.step import Workplace, workplace
from tests.storage import worlds
from tests.storage.answer_worlds import answer, asking_log

SETTINGS = EvolutionSettings(cross_minimum=0.1)
GRAPHS = {name: worlds.graph(name, nodes=12) for name in ("report", "paper", "slides")}


@pytest.fixture(autouse=True)
def place(tmp_path, home):
    artifacts = ArtifactStore(tmp_path / "artifacts")
    token = workplace.set(Workplace(artifacts, StepMemo(tmp_path / "steps", artifacts), RunLog(tmp_path / "run.jsonl"), "run"))
    yield
    workplace.reset(token)


def outcome(name):
    return DocumentOutcome(record=worlds.record(GRAPHS[name], f"/in/{name}.pdf"), graph=GRAPHS[name])


def cross_edges_after(location, batches):
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        for batch in batches:
            publish(corpus, [outcome(name) for name in batch], {}, SETTINGS)
    with open_for_reading(location) as snapshot:
        edges = [edge for record in snapshot.documents() for edge in snapshot.edges(record.id)]
    return {edge for edge in edges if edge.source_document != edge.target_document}


@pytest.mark.torture
def test_links_do_not_depend_on_the_order_on_the_batches_or_on_how_many_are_read_back_at_once(tmp_path, monkeypatch):
    orders = [[[name] for name in GRAPHS], [[name] for name in reversed(GRAPHS)], [list(GRAPHS)], [["paper", "slides"], ["report"]]]
    seen = [cross_edges_after(worlds.corpus_in(tmp_path, f"corpus{number}"), batches) for number, batches in enumerate(orders)]
    monkeypatch.setattr(publishing, "NODES_AT_ONCE", 1)
    seen.append(cross_edges_after(worlds.corpus_in(tmp_path, "grouped"), orders[0]))
    assert seen[0] and all(edges == seen[0] for edges in seen)
    assert {(edge.target, edge.source) for edge in seen[0]} == {(edge.source, edge.target) for edge in seen[0]}


def test_a_successor_takes_its_predecessor_out_in_the_same_commit(home):
    location = worlds.corpus_in(home)
    old, new = GRAPHS["report"].document_id, GRAPHS["paper"].document_id
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        publish(corpus, [outcome("report")], {}, SETTINGS)
        asking_log(location, "r1").answer(answer_json(answer("report")))
        before = corpus.snapshot
        publish(corpus, [outcome("paper")], {new: (old,)}, SETTINGS)
        assert corpus.snapshot == before + 1 and [record.id for record in corpus.documents()] == [new]
        assert clean_up(corpus, now=True).answers_erased == 0
    assert read_answers(location, present=()) == [answer("report")], "what a newer version replaced was not removed"


def test_the_rounds_of_a_document_go_with_its_commit_also_where_that_is_killed_and_those_of_an_unfinished_one_stay(
    home, monkeypatch
):
    memo, unfinished = workplace.get().memo, outcome("paper")
    unfinished = replace(unfinished, record=replace(unfinished.record, attempt=UNFINISHED))
    batch = [outcome("report"), unfinished]

    def rounds():
        return [bool(list(memo.of_document(one.record.id).glob("embed-round-*"))) for one in batch]

    for one in batch:
        memo.remember(one.record.id, "embed-round", "k", {"0": memo.artifacts.put(b"vectors")})
    with open_for_writing(worlds.corpus_in(home), embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
            killed.setattr(publishing, "cross_edges", raising(KeyboardInterrupt))
            publish(corpus, batch, {}, SETTINGS)
        assert rounds() == [False, True], "the graph is remembered by then"
        publish(corpus, batch, {}, SETTINGS)
    assert rounds() == [False, True]


def raising(kind):
    def fail(*_arguments, **_named):
        raise kind

    return fail


def test_renaming_and_indexing_keep_the_graph(home):
    location = worlds.corpus_in(home)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        publish(corpus, [outcome("report")], {}, SETTINGS)
        publish(corpus, [outcome("paper")], {}, SETTINGS)
        assert maintenance_is_due(location)
        renamed = (worlds.record(GRAPHS["report"], "/in/other.pdf"),)
        rename(corpus, ReadingPlan((), renamed, superseded={}, outdated=(GRAPHS["paper"].document_id,), unchanged=(), vanished=()))
        index(corpus)
        assert not maintenance_is_due(location)
    with open_for_reading(location) as snapshot:
        assert snapshot.find("other.pdf").nodes == 12 == len(snapshot.nodes(GRAPHS["report"].document_id))
        assert len(snapshot.documents()) == 1


PUBLISHING = (
    ("storage.graph.store.upsert", "before"),
    ("storage.graph.store.GraphStore.replace", "after"),
    ("storage.catalog.catalog.commit", "after"),
    ("storage.catalog.current.write_durably", "after"),
    ("storage.corpus.writer.release", "after"),
)
INDEXING = (("storage.corpus.writer.release", "before"), ("storage.corpus.writer.tidy", "after"))


@contextmanager
def fault_at(point, moment):
    """Break once before or after what is called at a point."""
    owner, _, name = point.rpartition(".")
    holder, function, faults = resolve_name(owner), resolve_name(point), [OSError(errno.EIO, "for a moment")]

    def faulty(*arguments, **named):
        made = None if faults and moment == "before" else function(*arguments, **named)
        if faults:
            raise faults.pop()
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(holder, name, faulty)
        yield
    assert not faults, f"{point} was never called"


@pytest.mark.torture
def test_what_breaks_for_a_moment_anywhere_in_a_publish_is_tried_again_and_nothing_is_lost_or_doubled(home, monkeypatch):
    monkeypatch.setattr("tasks.step.RETRY_SECONDS", 0.0)
    plain, shaken, everything = (
        worlds.corpus_in(home, "plain"),
        worlds.corpus_in(home, "shaken"),
        [outcome(each) for each in GRAPHS],
    )
    with open_for_writing(plain, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        publish(corpus, everything, {}, SETTINGS)
    with open_for_writing(shaken, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        for number, fault in enumerate(PUBLISHING):
            with fault_at(*fault):
                publish(corpus, everything[: 1 + number % 3], {}, SETTINGS)
            assert read_current(shaken).snapshot == corpus.snapshot == head(shaken.catalog).snapshot
        for fault in INDEXING:
            publish(corpus, everything, {}, SETTINGS)
            with fault_at(*fault):
                index(corpus)
            assert read_current(shaken).snapshot == corpus.snapshot == head(shaken.catalog).snapshot
    with open_for_reading(shaken) as snapshot:
        assert list(examine_ids(snapshot)) == []
    assert worlds.exports(shaken) == worlds.exports(plain)
