"""Drivers that are killed or sleep in the middle of a publish, over a real S3 server: the next goes on from what is published."""

import os
import subprocess
import sys

import pytest

from storage import lease, shared_publish
from storage.lock import FencedError
from storage.object_store import ObjectStore
from storage.shared_current import read_published
from tests.storage.shared_worlds import GOOD_SECONDS, asleep, exports, machine, writing
from tests.storage.worlds import graph, link, publish

pytestmark = pytest.mark.torture

REPORT, LETTER = graph("report"), graph("letter")

DRIVER = """
import sys, time
from pathlib import Path
from storage import lease
from storage.locations import shared_store
from tests.storage.shared_worlds import machine, writing
from tests.storage.worlds import graph, publish
lease.GOOD_SECONDS = float(sys.argv[2])
with writing(machine(Path(sys.argv[1]), shared_store())) as corpus:
    publish(corpus, graph("report"))
    tables = corpus._graph.tables
    corpus._graph.replace(frozenset({graph("report").document_id}), {name: table.to_arrow()[:0] for name, table in tables.items()})
    print("unpublished", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def machines(shared, tmp_path, monkeypatch):
    """Two machines, of which the first published a report."""
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
    places = [machine(tmp_path / name, shared) for name in ("one", "two")]
    with writing(places[0]) as corpus:
        publish(corpus, REPORT)
    return places


@pytest.mark.parametrize("successor", ["same machine", "another machine"])
def test_a_killed_driver_is_succeeded_and_what_it_did_not_publish_is_taken_back(shared, tmp_path, monkeypatch, successor):
    monkeypatch.setattr(lease, "GOOD_SECONDS", GOOD_SECONDS)
    places = {name: machine(tmp_path / name, shared) for name in ("same machine", "another machine")}
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "same machine"), str(GOOD_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "unpublished\n"
        child.kill()
    with writing(places[successor]) as corpus:
        assert [record.id for record in corpus.documents()] == [REPORT.document_id]
        assert any("taken back" in message for message in corpus.messages)
        assert corpus._lock.fence == 2
        publish(corpus, graph("letter"))
    before, after = (exports(place) for place in places.values())
    assert before == after and len(after) == 2


def test_a_new_machine_begins_with_what_is_published_and_so_does_one_that_comes_back(machines):
    with writing(machines[1]) as corpus:
        assert (corpus.messages, [record.id for record in corpus.documents()]) == ((), [REPORT.document_id])
        publish(corpus, LETTER, cross_edges=link(REPORT, LETTER))
    assert exports(machines[0]) == exports(machines[1]) and len(exports(machines[0])) == 2
    with writing(machines[0]) as corpus:
        assert (corpus.messages, len(corpus.documents())) == ((), 2)
        corpus.publish(removed=[REPORT.document_id])
    assert list(exports(machines[1])) == [LETTER.document_id]


def test_a_zombie_cannot_publish_after_its_machine_wakes(machines):
    with asleep(machines[0]) as zombie, writing(machines[1]) as successor:
        published = read_published(ObjectStore(machines[0].store))
        with pytest.raises(FencedError, match=rf"process {os.getpid()} on .* took corpus 'default' over; .* run it again"):
            publish(zombie, LETTER)
        assert read_published(ObjectStore(machines[0].store)) == published
        publish(successor, LETTER)
    assert set(exports(machines[0])) == {REPORT.document_id, LETTER.document_id}


@pytest.mark.parametrize(("successor", "documents"), [(0, 2), (1, 1)])
def test_a_kill_before_the_commit_is_rolled_forward_here_and_taken_back_elsewhere(machines, monkeypatch, successor, documents):
    def killed(*_arguments):
        raise KeyboardInterrupt

    with writing(machines[0]) as corpus, monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
        dying.setattr(shared_publish, "commit", killed)
        publish(corpus, LETTER)
    with writing(machines[successor]) as corpus:
        assert len(corpus.documents()) == documents
        assert corpus.messages
    # A reader here fetches what was published elsewhere; the catalog, which is ahead in its own way, is not taken for it.
    assert len(exports(machines[0])) == len(exports(machines[1])) == documents
    with writing(machines[0]) as corpus:
        assert len(corpus.documents()) == documents
