"""The temporary server: no account, no telemetry, dies with its parent; the first Ctrl-C is a wish, the second an end."""

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from deployments.children import descendants
from flows.display.output import INTERRUPT_EXIT, STOPPED
from flows.prefect_runs.interruption import cancel_cut_off, end_in_order, run_beside
from flows.prefect_runs.server import answers, prefect_server, server_is_configured
from storage.errors import ExpectedError
from tasks.models import process
from tasks.progress import StoppedError, report, stop_requested
from tests.kept_worlds import give_prefect_data
from tests.listening import listening_addresses
from tests.program import started
from tests.waiting import wait_until

PROGRAM = """
import os, sys, time
from flows.prefect_runs.server import prefect_server
with prefect_server() as wait_until_ready:
    wait_until_ready()
    print(os.environ["PREFECT_API_URL"], flush=True)
    time.sleep(60)
"""


@pytest.mark.torture
def test_a_server_answers_to_this_machine_alone_runs_no_module_among_the_documents_and_dies_with_a_killed_parent(home, tmp_path):
    give_prefect_data(home)
    for name in ("ctypes.py", "socket.py", "flows.py"):
        (tmp_path / name).write_text("raise SystemExit('a document was run')")
    with started([sys.executable, "-P", "-c", PROGRAM], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as parent:
        url = parent.stdout.readline().strip()
        assert answers(url, seconds=2)
        listening = listening_addresses({parent.pid, *descendants(parent.pid)})
        assert listening == {("127.0.0.1", int(url.split(":")[2].partition("/")[0]))}
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: not answers(url, seconds=2), 5)


def test_a_configured_server_is_used_and_none_is_started(home, monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    with prefect_server():
        assert os.environ["PREFECT_API_URL"] == "http://127.0.0.1:1/api"


def test_a_profile_counts_as_configuration(home, monkeypatch):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    assert not server_is_configured()
    (home / "prefect").mkdir(parents=True)
    (home / "prefect" / "profiles.toml").write_text('[profiles.mine]\nPREFECT_API_URL = "http://somewhere/api"\n')
    assert server_is_configured()


def test_everything_that_phones_home_is_off_before_prefect_is_imported(home):
    code = "import os, flows.ingest; print(os.environ['DO_NOT_TRACK'], os.environ['PREFECT_SERVER_ANALYTICS_ENABLED'])"
    environment = {name: value for name, value in os.environ.items() if "TRACK" not in name and "ANALYTICS" not in name}
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert said.stdout.split() == ["1", "false"]


def test_a_server_that_ends_at_once_is_an_error_with_its_log(home, monkeypatch):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ExpectedError, match="prefect server start"), prefect_server() as wait_until_ready:
        wait_until_ready()


def test_events_that_hold_a_page_are_not_kept(home):
    code = """if True:
        from flows.prefect_runs.server import PAGE_EVENTS, prepare_environment
        prepare_environment()
        from prefect.settings import get_current_settings
        vacuum = get_current_settings().server.services.db_vacuum
        print({vacuum.event_retention_overrides[name].total_seconds() for name in PAGE_EVENTS}, vacuum.enabled_vacuum_types)"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.startswith("{60.0}") and "events" in told


ALIKE = """
import logging, sys
from flows.prefect_runs.server import prepare_environment
if sys.argv[2:]:
    prepare_environment()
import lancedb, numpy, pyarrow
from lancedb.index import IvfRq
from prefect.events.worker import EventsWorker
from prefect.logging.configuration import setup_logging
from prefect.logging.handlers import APILogWorker

setup_logging()
for worker in (EventsWorker, APILogWorker):
    logging.getLogger(worker.__name__).warning("Still processing items: 7 items remaining...")
vectors = numpy.random.default_rng(0).normal(size=(3, 32)).astype("float32")[numpy.arange(9000) % 3]
rows = pyarrow.table({"vector": pyarrow.FixedSizeListArray.from_arrays(vectors.ravel(), 32)})
table = lancedb.connect(sys.argv[1]).create_table("alike", rows)
table.create_index("vector", config=IvfRq(distance_type="cosine", num_partitions=8))
"""


@pytest.mark.parametrize("prepared", [True, pytest.param(False, marks=pytest.mark.torture)])
def test_warnings_of_libraries_that_no_user_can_act_on_do_not_reach_the_terminal(home, tmp_path, prepared):
    call = [sys.executable, "-c", ALIKE, str(tmp_path / "lance"), *["prepared"] * prepared]
    own = {name: value for name, value in os.environ.items() if name != "LANCEDB_LOG"}
    done = subprocess.run(call, env=own, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    warned = [words in done.stderr for words in ("clusters are empty", "is empty, skipping", "Still processing items")]
    assert warned == [not prepared] * 3, done.stderr


def test_the_first_signal_asks_every_step_to_stop(monkeypatch):
    monkeypatch.setattr(process, "_living", set())  # models of other tests live on
    before = signal.getsignal(signal.SIGINT)
    with end_in_order():
        os.kill(os.getpid(), signal.SIGINT)
        assert stop_requested()
        cancel_cut_off()
        with pytest.raises(StoppedError):
            report("a", "parse", 0, 1)
    assert signal.getsignal(signal.SIGINT) is before
    assert "ending" not in [thread.name for thread in threading.enumerate()], "it would end what begins now"
    with end_in_order():
        assert not stop_requested()


def test_a_signal_that_another_thread_took_is_met_too():
    """As a thread takes Ctrl-C that starts a child at that moment."""
    met = threading.Event()

    def take_it():
        time.sleep(0.5)  # the main thread sleeps by then; where it does not, nothing is shown and nothing fails
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        assert met.wait(30)

    before = signal.signal(signal.SIGUSR1, lambda *_of: met.set())
    try:
        run_beside(take_it)
    finally:
        signal.signal(signal.SIGUSR1, before)


def ended_by(*lines):
    """Run a program that ends in order by signals; return what became of it."""
    head = ("import os, signal, time", "from flows.prefect_runs import interruption", "from tasks.progress import stop_requested")
    return subprocess.run([sys.executable, "-c", "\n".join([*head, *lines])], timeout=30, capture_output=True, text=True)


ORDERLY = "with interruption.end_in_order():"
CTRL_C, WAIT = "    os.kill(os.getpid(), signal.SIGINT)", "    time.sleep(60)"


def test_the_second_signal_ends_at_once():
    assert ended_by(ORDERLY, CTRL_C, CTRL_C, WAIT).returncode == INTERRUPT_EXIT


def test_work_that_does_not_listen_is_cut_off_in_time_and_says_so():
    done = ended_by("interruption.PATIENCE_SECONDS = 0.2", ORDERLY, CTRL_C, WAIT)
    assert done.returncode == INTERRUPT_EXIT and "what is finished stays, and the same command goes on" in done.stderr


@pytest.mark.parametrize("ending", [CTRL_C, f"{CTRL_C}\n{CTRL_C}"], ids=["cut off", "a second Ctrl-C"])
def test_a_bar_that_is_cut_off_gives_the_cursor_back_and_draws_no_more(ending):
    bar = ("from rich.console import Console", "interruption.PATIENCE_SECONDS = 0.2")
    shown = "with Console(stderr=True).status('asking'), interruption.end_in_order():"
    code = "\n".join(["import os, signal, time", "from flows.prefect_runs import interruption", *bar, shown, ending, WAIT])
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env=os.environ | {"TERM": "xterm"}) as program:
        os.close(theirs)
        written = b""
        with suppress(OSError):  # where the other end is closed
            while piece := os.read(ours, 65536):
                written += piece
    os.close(ours)
    assert program.returncode == INTERRUPT_EXIT and written.count(b"\x1b[?25l") == 1
    assert written.split(b"\x1b[?25h")[-1].strip() in (b"", STOPPED.encode())


def test_a_signal_that_is_ignored_stays_ignored():
    terminated = "    os.kill(os.getpid(), signal.SIGTERM)"
    heard = (CTRL_C, "    assert not stop_requested()", terminated, "    assert stop_requested()")
    done = ended_by("signal.signal(signal.SIGINT, signal.SIG_IGN)", ORDERLY, *heard)
    assert done.returncode == 0, done.stderr
