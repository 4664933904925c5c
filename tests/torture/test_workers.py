"""Documents that a cluster of two processes reads: the same graph, whoever is killed, and nothing left behind."""

import os
import signal
import time
from pathlib import Path

import pytest

from deployments.children import children_of
from storage.runs.views import read_run
from tests.torture.lab import PROMPT_SECONDS, check_oracle, ingest, living, location, seeded_home
from tests.waiting import wait_until

pytestmark = pytest.mark.torture


@pytest.fixture
def home(tmp_path, cheap):
    return seeded_home(tmp_path / "home", cheap.home)


@pytest.fixture
def by_dask(tmp_path):
    pytest.importorskip("prefect_dask")
    path = tmp_path / "dask.toml"
    path.write_text('[work]\nrunner = "dask"\nrunner_processes = 2\npublish_documents = 1\n')
    return path


def readers_below(run):
    children = children_of(run.process.pid)
    return [pid for pid in children if any("tasks.parsing.fork_server" in line for line in living(Path("/nowhere"), pid))]


def steps_of(home):
    (path,) = location(home).runs.glob("*.jsonl")
    return read_run(path).steps()


def test_two_processes_make_the_same_graph_and_every_step_is_in_the_log(home, cheap, by_dask, server):
    run = ingest(cheap.documents, home=home, server=server, settings=by_dask).ended(0)
    assert run.survivors() == []
    assert not [word for word in ("distributed", "RuntimeWarning") if word in run.words], run.words[-2000:]
    check_oracle(home, cheap.export)
    by_document = {}
    for record in steps_of(home):
        by_document.setdefault(record.subject, []).append((record.step, record.cache_hit))
    made = {(name, False) for name in ("parse", "read-words", "structure", "analyze", "embed", "evolve-round", "evolve")}
    read = [steps for steps in by_document.values() if ("parse", False) in steps]
    assert len(read) == 4 and all(made | {("evolve", True)} == set(steps) for steps in read)


def test_the_document_of_a_killed_process_is_read_by_another(home, cheap, by_dask, server, tell):
    run = ingest(cheap.documents, home=home, server=server, settings=by_dask)
    killed = wait_until(lambda: readers_below(run), 180)[0]
    os.kill(killed, signal.SIGKILL)
    run.ended(0)
    tell(f"killed process {killed} of the cluster")
    assert run.said["totals"]["states"] == {"ready": 4}
    assert run.survivors() == []
    check_oracle(home, cheap.export)


def test_ctrl_c_ends_the_cluster_and_another_run_goes_on(home, cheap, by_dask, server, tell):
    run = ingest(cheap.documents, home=home, server=server, settings=by_dask)
    wait_until(lambda: readers_below(run), 180)
    run.interrupt()
    began = time.monotonic()
    code = run.wait(60)
    seconds = time.monotonic() - began
    tell(f"Ctrl-C while a cluster reads: exit {code} in {seconds:.1f} s")
    assert run.survivors() == []
    assert code == 130 and seconds < PROMPT_SECONDS and "Traceback" not in run.words, run.words[-3000:]
    ingest(cheap.documents, home=home, server=server).ended(0)
    check_oracle(home, cheap.export)


def test_ctrl_c_while_the_cluster_starts_ends_it_too(home, cheap, by_dask, server):
    run = ingest(cheap.documents, home=home, server=server, settings=by_dask)
    wait_until(lambda: any("multiprocessing.spawn" in words for words in living(home, run.process.pid)))
    run.interrupt()
    assert run.wait(60) == 130 and "Traceback" not in run.words, run.words[-3000:]
    assert run.survivors() == []


def test_the_cluster_of_a_killed_run_ends_with_it(home, cheap, by_dask, server):
    run = ingest(cheap.documents, home=home, server=server, settings=by_dask)
    wait_until(lambda: readers_below(run), 180)
    run.kill()
    assert run.survivors() == []
