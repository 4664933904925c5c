"""`kill -9` at random and at named points; after one plain run nothing shows that it happened, and no reply was paid twice."""

import os
import random
import shutil
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.graph.tables import TableName
from storage.records.documents import DocumentState
from tests.chat_server import chat_server
from tests.scripted_reader import reads_well
from tests.torture.lab import check_oracle, copies, export, ingest, location, sampled, seeded_home, settings_file

pytestmark = pytest.mark.torture

AT_ONCE = 2
RANDOM_CHEAP = int(os.environ.get("CHEAP_LIVES", "4"))
RANDOM_WHOLE = int(os.environ.get("WHOLE_LIVES", "2"))
"""`make campaign` lives more."""
POINTS = (
    ("storage.catalog.catalog:create:before:1",),
    ("storage.catalog.catalog:create:after:1",),
    ("storage.corpus.writer:reconcile:after:1",),
    ("storage.memo:StepMemo.remember:before:2",),
    ("storage.memo:StepMemo.remember:after:5",),
    ("tasks.algorithms.links:average_with_neighbours:before:2",),
    ("storage.graph.store:GraphStore.replace:before:1",),
    ("storage.graph.store:GraphStore.replace:after:1",),
    ("storage.graph.store:upsert:after:2",),
    ("storage.catalog.catalog:write_records:after:1",),
    ("storage.catalog.catalog:commit:after:1",),
    ("storage.corpus.writer:release:before:1",),
    ("storage.catalog.current:write_durably:after:1",),
    ("storage.corpus.writer:release:after:1",),
    ("storage.graph.store:GraphStore.index:after:1",),
    ("storage.corpus.writer:tidy:after:1",),
)
IN_RECOVERY = (
    # a kill in a publish, then one in the recovery from it
    ("storage.graph.store:GraphStore.replace:after:1", "storage.graph.store:GraphStore.restore:after:1"),
    ("storage.catalog.catalog:commit:after:1", "storage.corpus.reconciling:release:after:1"),
    ("storage.corpus.writer:release:before:1", "storage.corpus.reconciling:release:before:1"),
    ("storage.graph.store:upsert:after:1", "storage.corpus.reconciling:open_pinned_graph:before:1"),
)


@dataclass
class Reader:
    """A reader beside the ingest: it looks again and again, and must see whole documents only."""

    place: object
    looks: int = 0
    seen: Counter = field(default_factory=Counter)
    problems: list = field(default_factory=list)

    def __enter__(self):
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _read(self):
        published = False
        while not self._ended.wait(0.2):
            try:
                self._look()
                published = True
            except UnknownCorpusError:
                if published:
                    self.problems.append("the corpus was there and is not any more")
            except Exception as error:
                self.problems.append(repr(error))

    def _look(self):
        with open_for_reading(self.place) as snapshot:
            ready = [record for record in snapshot.documents() if record.state is DocumentState.READY]
            nodes = snapshot.graph_store.read(TableName.NODES, columns=["document_id"])["document_id"].to_pylist()
        if Counter(nodes) != {record.id: record.nodes for record in ready}:
            self.problems.append(f"{len(nodes)} nodes, but the catalog says {sum(record.nodes for record in ready)}")
        self.looks += 1
        self.seen[len(ready)] += 1


def live(home, reference, server, settings, kills, pace=1.0):
    """Start an ingest for each kill, have it killed, then run once plainly; return the reader that looked on.

    Where a run ended before its kill, begin again in an empty home with the kills sooner.
    """
    with Reader(location(home)) as reader:
        in_time = all(kill(home, reference, server, settings, pace) for kill in kills)
        if in_time:
            ingest(reference.documents, home=home, server=server).ended(0)
    assert reader.problems == []
    if not in_time:
        shutil.rmtree(home / "corpora")
        shutil.rmtree(home / "steps")
        return live(home, reference, server, settings, kills, 0.8 * pace)
    check_oracle(home, reference.export)
    return reader


def at_moment(share):
    """Return a kill after this share of an uninterrupted run's time; it says whether it came in time."""

    def kill(home, reference, server, settings, pace):
        run = ingest(reference.documents, home=home, server=server, settings=settings)
        time.sleep(share * pace * reference.seconds)
        if run.process.poll() is not None:
            run.ended(0)
            return False
        run.kill()
        assert run.survivors() == []
        return True

    return kill


def at_point(point):
    """Return a kill at a named point."""

    def kill(home, reference, server, settings, pace):
        run = ingest(reference.documents, home=home, server=server, settings=settings, module=("tests.torture.dies_at", point))
        assert run.wait() == -9, f"it never came to {point}: {run.words[-2000:]}"
        assert run.survivors() == []
        return True

    return kill


def campaign(folder, reference, servers, plans, tell):
    """Live all lives, two at a time; say how many there were and what was seen."""
    small_batches = settings_file(folder, publish_documents=1)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        lives = []
        for number, plan in enumerate(plans):
            home = seeded_home(folder / f"home-{number}", reference.home)
            settings = small_batches if number % 2 else None
            lives.append(pool.submit(live, home, reference, servers[number % len(servers)], settings, plan))
        readers, failures = [], []
        for number, life in enumerate(lives):
            try:
                readers.append(life.result())
            except AssertionError as error:
                failures.append(f"life {number}: {error}"[:3000])
    looks = sum(reader.looks for reader in readers)
    documents = sum(sum(count for held, count in reader.seen.items() if held) for reader in readers)
    tell(f"N = {len(plans)} lives, {sum(map(len, plans))} kills, {len(failures)} failures; 95 % bound 3/N = {3 / len(plans):.3f}")
    tell(f"readers looked {looks} times, {documents} times at published documents, and saw no half")
    assert not failures, "\n".join(failures)
    assert looks > 5 * len(plans) and documents


@pytest.mark.sentinel
def test_a_random_kill_of_a_cheap_ingest_leaves_no_trace(tmp_path, cheap, server, tell):
    generator = random.Random(20)
    # every eighth run has a Prefect server of its own, which must die too
    campaign(tmp_path, cheap, [None, *[server] * 7], [[at_moment(generator.uniform(0.02, 1))] for _ in range(RANDOM_CHEAP)], tell)


def test_a_random_kill_of_the_whole_corpus_leaves_no_trace(tmp_path, whole, server, tell):
    generator = random.Random(21)
    campaign(tmp_path, whole, [server], [[at_moment(generator.uniform(0.1, 0.9))] for _ in range(RANDOM_WHOLE)], tell)


def test_a_kill_at_a_named_point_leaves_no_trace(tmp_path, cheap, server, tell):
    plans = [[at_point(point) for point in points] for points in (*sampled(POINTS, 5), *sampled(IN_RECOVERY, 2))]
    campaign(tmp_path, cheap, [server], plans, tell)


IN_FLIGHT = 3
SETTINGS = f"""
[reading.analysis]
by = "model"
[reading.evolution]
mode = "model"
[models.limits]
in_flight = {IN_FLIGHT}
"""
NAMES = ("maintenance_manual.docx", "product_page.html", "strategy.pptx")
KILLS, SECONDS = 3, 0.3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "scripted")
    (tmp_path / "model.toml").write_text(SETTINGS)
    return tmp_path


@pytest.fixture
def reference(folder, server, monkeypatch):
    """The calls and the export of an uninterrupted ingest."""
    with chat_server(reads_well) as model:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", model.base_url)
        run = ingest(copies(folder / "in", NAMES), home=folder / "whole", settings=folder / "model.toml", server=server)
        run.ended(0)
        return model.calls, export(folder / "whole")


def wait_for(model, replies, run):
    while model.replied < replies:
        assert run.process.poll() is None, f"it ended before {replies} replies: {run.words[-2000:]}"
        time.sleep(0.02)


def test_after_kills_at_most_the_calls_in_flight_are_made_again(folder, reference, server, monkeypatch, tell):
    calls, expected = reference
    moments = sorted(random.Random(5).sample(range(2, calls - 4), KILLS))
    with chat_server(reads_well, seconds=SECONDS) as model:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", model.base_url)
        begin = {"home": folder / "killed", "settings": folder / "model.toml", "server": server}
        for moment in moments:
            run = ingest(folder / "in", **begin)
            wait_for(model, moment, run)
            run.kill()
            assert run.survivors() == []
        ingest(folder / "in", **begin).ended(0)
        made = model.calls
    tell(f"{calls} calls without a kill, {made} with {KILLS}; {IN_FLIGHT} in flight")
    assert made <= calls + KILLS * IN_FLIGHT
    check_oracle(folder / "killed", expected)
