"""Two ingests at once, Ctrl-C, and any order: what is published depends on the set of documents alone."""

import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.lock import read_holder
from tests.torture.lab import NAME, PROMPT_SECONDS, Run, check_oracle, ingest, location, sampled, seeded_home, settings_file
from tests.waiting import wait_until

pytestmark = pytest.mark.torture

HOLD = """
import sys, time
from pathlib import Path
from storage.lock import hold_lock
with hold_lock(Path(sys.argv[1]), wait_seconds=0):
    print("held", flush=True)
    time.sleep(300)
"""


@pytest.fixture
def home(tmp_path, cheap):
    return seeded_home(tmp_path / "home", cheap.home)


def holder(home):
    return read_holder(location(home).lock)


@pytest.mark.sentinel
def test_the_second_ingest_names_the_holder(home, tmp_path, cheap, server):
    first = ingest(cheap.documents, home=home, server=server)
    wait_until(lambda: holder(home))
    # it may not end before the second comes
    first.process.send_signal(signal.SIGSTOP)
    impatient = settings_file(tmp_path, lock_wait_seconds=0)
    second = ingest(cheap.documents, home=home, server=server, settings=impatient)
    second.wait()
    first.process.send_signal(signal.SIGCONT)
    second.ended(2)
    assert f"process {first.process.pid}" in second.error and "wait" in second.error
    first.ended(0)
    check_oracle(home, cheap.export)


def test_the_second_ingest_waits_when_asked_to(home, tmp_path, cheap, server):
    patient = settings_file(tmp_path, lock_wait_seconds=120)
    runs = [ingest(cheap.documents, home=home, server=server, settings=patient) for _ in range(2)]
    assert [run.ended(0).said["totals"]["documents"] for run in runs] == [4, 4]
    check_oracle(home, cheap.export)


def test_two_corpora_share_a_home_and_do_not_meet(home, cheap, server):
    runs = [ingest(cheap.documents, home=home, server=server, corpus=corpus) for corpus in ("one", "two")]
    for run, corpus in zip(runs, ("one", "two"), strict=True):
        run.ended(0)
        check_oracle(home, cheap.export, corpus)


def test_the_lock_of_a_killed_holder_is_taken_over_at_once(home, tmp_path, cheap, server):
    lock = location(home).lock
    lock.parent.mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"held\n"
        patient = settings_file(tmp_path, lock_wait_seconds=120)
        second = ingest(cheap.documents, home=home, server=server, settings=patient)
        time.sleep(4)
        assert second.process.poll() is None and holder(home).pid == first.pid
        first.kill()
    # what it waits for now is its own start-up: Prefect is not started for an ingest that may be refused
    wait_until(lambda: holder(home).pid == second.process.pid, seconds=120)
    second.ended(0)
    check_oracle(home, cheap.export)


@pytest.mark.parametrize("share", sampled((0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.9), 3))
def test_ctrl_c_ends_in_order_and_the_same_command_goes_on(home, tmp_path, cheap, server, share, tell):
    own_server = share in (0.15, 0.5)
    run = ingest(
        cheap.documents, home=home, server=None if own_server else server, settings=settings_file(tmp_path, publish_documents=1)
    )
    time.sleep(max(0.2, share * cheap.seconds))
    running = run.process.poll() is None
    run.interrupt()
    began = time.monotonic()
    code = run.wait(60)
    seconds = time.monotonic() - began
    tell(f"Ctrl-C after {share:.0%}: exit {code} in {seconds:.1f} s")
    assert run.survivors() == []
    try:
        with open_for_reading(location(home)) as snapshot:
            states = [record.state for record in snapshot.documents()]
    except UnknownCorpusError:
        assert share < 0.9
        states = []
    assert set(states) <= {"ready"}
    # one whose work was done when the signal came tells its result, its last events to Prefect included
    at_its_end = '"totals"' in run.words and seconds < (PROMPT_SECONDS if share >= 0.5 else 3)
    # before the program is loaded the signal itself ends it
    unloaded = code == -signal.SIGINT and not location(home).folder.exists()
    if running and not at_its_end and not unloaded:
        assert seconds < PROMPT_SECONDS
        assert "Traceback" not in run.words, run.words[-3000:]
        assert code == 130, run.words[-2000:]
        assert "same command" in run.words or run.words.strip() == "stopped"
    ingest(cheap.documents, home=home, server=server).ended(0)
    check_oracle(home, cheap.export)


def test_a_second_ctrl_c_ends_at_once(home, whole, server):
    run = ingest(whole.documents, home=home, server=server)
    wait_until(lambda: (home / "steps").exists())
    run.interrupt()
    time.sleep(0.2)
    began = time.monotonic()
    if run.process.poll() is None:
        run.interrupt()
    # one that meets the very end of the process ends it by the signal itself
    assert run.wait(60) in {130, -2}
    assert time.monotonic() - began < PROMPT_SECONDS
    assert run.survivors() == []
    ingest(whole.documents, home=home, server=server).ended(0)
    check_oracle(home, whole.export)


@pytest.fixture
def remembering(tmp_path, whole):
    """A home that remembers the finished steps of every document, and has no corpus."""
    home = seeded_home(tmp_path / "home", whole.home)
    for part in ("steps", "artifacts"):
        shutil.copytree(whole.home / part, home / part)
    return home


@pytest.mark.parametrize("seed", sampled((1, 2), 1))
def test_one_by_one_in_any_order_gives_the_same(remembering, whole, server, seed):
    documents = sorted(whole.documents.iterdir())
    random.Random(seed).shuffle(documents)
    for document in documents:
        ingest(document, home=remembering, server=server).ended(0)
    check_oracle(remembering, whole.export)


def test_removed_and_read_again_gives_the_same(remembering, whole, server):
    ingest(whole.documents, home=remembering, server=server).ended(0)
    for name in ("paper.pdf", "budget.xlsx"):
        Run("documents", "remove", name, "--corpus", NAME, "--now", "--json", home=remembering).ended(0)
    ingest(whole.documents, home=remembering, server=server).ended(0)
    check_oracle(remembering, whole.export)


@pytest.mark.parametrize(
    "work", sampled(({"documents_at_once": 1}, {"documents_at_once": 4, "publish_documents": 1, "parsers_at_once": 1}), 1)
)
def test_any_number_at_once_gives_the_same(tmp_path, whole, server, work):
    home = seeded_home(tmp_path / "home", whole.home)
    ingest(whole.documents, home=home, server=server, settings=settings_file(tmp_path, **work)).ended(0)
    check_oracle(home, whole.export)
