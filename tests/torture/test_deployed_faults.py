"""`make up` under fire: whatever is killed, Prefect and our own ledger say so, and the rest is done once more, once."""

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

from flows.cli.ask_server_commands import ask_service
from storage.errors import RequestError
from storage.runs.log import ASKING
from tasks.lineage.search import short_run
from tests.deployments.brought_up import brought_up, requested
from tests.listening import free_port
from tests.program import flowreader
from tests.torture.lab import NAME, check_oracle, location
from tests.waiting import wait_until

pytestmark = pytest.mark.torture

LIMIT_SECONDS = 180.0
FINAL = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


@pytest.fixture(autouse=True)
def address(monkeypatch):
    """A place of its own for the query service."""
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", f"127.0.0.1:{free_port()}")


def wait_for(what, told=str):
    return wait_until(what, LIMIT_SECONDS, told)


def runs_of(up):
    """Return the runs of the ingest's deployment, the oldest first."""
    wanted = {"flow_runs": {"deployment_id": {"any_": [up.deployment("ingest/ingest")["id"]]}}}
    return sorted(up.request("/flow_runs/filter", wanted), key=lambda run: run["created"])


def begun(up, documents):
    """Begin to read the documents in; return the run's id."""
    return up.begin("ingest/ingest", {"paths": [str(documents)], "corpus": NAME})["id"]


def in_the_middle(up, run, home):
    """Wait until the run has parsed something; return the id of its process."""
    path = location(home).runs / f"{run}.jsonl"
    wait_for(lambda: path.exists() and b'"step": "parse"' in path.read_bytes(), up.said)
    # What it starts bears its command line for a moment, until it becomes itself.
    (pid,) = wait_for(
        lambda: alone if len(alone := [pid for pid, words in up.group().items() if "prefect.engine" in words]) == 1 else None,
        up.said,
    )
    return pid


def ended(up, run, state="COMPLETED"):
    """Wait until the run is over, in this state."""
    found = wait_for(lambda: is_over(up, run), up.said)
    assert found["state"]["type"] == state, (found["state"], up.said()[-3000:])
    return found


def begun_again(up):
    """Wait for the run that does the rest of what was killed; return its id."""
    return wait_for(lambda: [run for run in runs_of(up) if "begun again" in run["tags"]], up.said)[0]["id"]


def is_over(up, run):
    """Return what the server tells of a run that is over, None before."""
    found = up.request(f"/flow_runs/{run}")
    return found if found["state"]["type"] in FINAL else None


def read_plainly(up, documents):
    """Read the documents in; say whether that completed: the place of a run that was killed may not be free yet."""
    run = begun(up, documents)
    return wait_for(lambda: is_over(up, run), up.said)["state"]["type"] == "COMPLETED"


def told(home, *command):
    return json.loads(flowreader(*command, "--corpus", NAME, "--json", home=home, check=0).stdout)


@pytest.mark.sentinel
def test_a_killed_run_begins_again_once_and_what_is_killed_then_waits_for_the_next(cheap, tmp_path):
    home = tmp_path / "home"
    with brought_up(home, tmp_path / "log") as up:
        first = begun(up, cheap.documents)
        os.kill(in_the_middle(up, first, home), signal.SIGKILL)
        ended(up, first, "CRASHED")
        second = begun_again(up)
        os.kill(in_the_middle(up, second, home), signal.SIGKILL)
        ended(up, second, "CRASHED")
        said = flowreader("status", "--corpus", NAME, home=home).stdout
        assert f"{short_run(second)}: the ingest run of {cheap.documents} that began at" in " ".join(said.split())
        third = begun(up, cheap.documents)
        ended(up, third)
        assert [run["id"] for run in runs_of(up)] == [first, second, third], "it begins again once, not for ever"
    heads = [told(home, "lineage", run)["run"] for run in (first, second, third)]
    assert [head["outcome"] for head in heads] == [f"killed, taken over by {second}", f"killed, taken over by {third}", "ended"]
    assert not told(home, "status")["killed"] and not list(location(home).runs.glob("*.at-work"))
    check_oracle(home, cheap.export, NAME)


def test_the_server_is_killed_and_when_everything_is_up_again_the_run_goes_on(cheap, tmp_path):
    home = tmp_path / "home"
    with brought_up(home, tmp_path / "log") as up:
        first = begun(up, cheap.documents)
        in_the_middle(up, first, home)
        (serving,) = [pid for pid, words in up.group().items() if "-m deployments.serve " in f"{words} "]
        os.kill(serving, signal.SIGKILL)
        assert up.ends_within(20)[0] == 1 and "start it again, what is published stays" in up.said()
    with brought_up(home, tmp_path / "log again") as up:
        assert up.request(f"/flow_runs/{first}")["state"]["type"] == "CRASHED"
        # Whether it begins again by itself depends on who was quicker, the kill or the run's own end: a plain run does the rest.
        wait_for(lambda: read_plainly(up, cheap.documents), up.said)
    check_oracle(home, cheap.export, NAME)


THEIRS, OURS = ("prefect", "server", "start", "--host", "127.0.0.1", "--no-ui"), ("deployments.server",)


@contextmanager
def own_server(home, port, module=THEIRS):
    """A Prefect server that the user started, as `prefect server start` does."""
    command = [sys.executable, "-m", *module]
    environment = {**os.environ, "PREFECT_HOME": str(home), "PREFECT_SERVER_API_PORT": str(port), "DO_NOT_TRACK": "1"}
    with (home.parent / "server.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(address):
    with suppress(OSError), urllib.request.urlopen(f"{address}/health", timeout=5) as reply:
        return reply.status == 200
    return False


def test_a_server_of_ones_own_is_killed_and_restarted_in_mid_run(cheap, tmp_path):
    home, port = tmp_path / "home", free_port()
    address = f"http://127.0.0.1:{port}/api"
    with own_server(tmp_path / "server", port) as server:
        wait_for(lambda: answers(address))
        with brought_up(home, tmp_path / "log", PREFECT_API_URL=address) as up:
            up.api = address
            first = begun(up, cheap.documents)
            in_the_middle(up, first, home)
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            with own_server(tmp_path / "server", port):
                wait_for(lambda: answers(address))
                wait_for(lambda: told(home, "lineage", first)["run"]["outcome"] != "still going", up.said)
                plain = wait_for(lambda: read_plainly(up, cheap.documents), up.said)
                up.process.send_signal(signal.SIGTERM)
                assert up.ends_within(20)[0] == 0, plain
    check_oracle(home, cheap.export, NAME)


@contextmanager
def answering(environment, log):
    """The query service alone; when it is left, it is killed."""
    with log.open("wb") as said:
        process = subprocess.Popen([sys.executable, "-m", "deployments.questions"], env=environment, stdout=said, stderr=said)
    try:
        wait_for(lambda: answers(f"http://{environment['FLOWREADER_ASK_ADDRESS']}"), log.read_text)
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.sentinel
def test_server_and_service_are_killed_in_mid_question(library, tmp_path):
    home, port = shutil.copytree(library, tmp_path / "home"), free_port()
    address = f"http://127.0.0.1:{port}/api"
    environment = {**os.environ, "FLOWREADER_HOME": str(home), "PREFECT_HOME": str(home / "prefect"), "PREFECT_API_URL": address}
    # Prefect's client tries for a minute, and then we do.
    environment["PREFECT_CLIENT_MAX_RETRIES"] = "1"

    def asked(of):
        return ask_service({"questions": [f"How heavy is the MT-{number} of {of}?" for number in range(60)], "corpus": "small"})

    def run_of(of, state):
        wanted = {"name": {"like_": f"MT-0 of {of}?"}, "state": {"type": {"any_": [state]}}}
        return wait_for(lambda: requested(address, "/flow_runs/filter", {"flow_runs": wanted}), (tmp_path / of).read_text)

    def one_is_answered(of):
        logs = location(home, "small").runs.glob(f"{ASKING}*.jsonl")
        return any(f"MT-0 of {of}" in (said := log.read_text()) and '"step": "record"' in said for log in logs)

    with ThreadPoolExecutor(1) as asking:
        with own_server(tmp_path / "server", port, OURS) as server:
            wait_for(lambda: answers(address))
            with answering(environment, tmp_path / "iron"):
                waiting = asking.submit(asked, "iron")
                wait_for(lambda: one_is_answered("iron"), (tmp_path / "iron").read_text)
                os.killpg(server.pid, signal.SIGKILL)
                answered = waiting.result(timeout=LIMIT_SECONDS)
                assert len(answered) == 60 and not any("without Prefect" in note for one in answered for note in one["notes"])
                last_report = home / "reports" / f"{answered[-1]['answer_id']}.html"
                wait_for(last_report.exists, (tmp_path / "iron").read_text)
                assert "did not reach Prefect's server" in (tmp_path / "iron").read_text()
                with own_server(tmp_path / "server", port, OURS):
                    wait_for(lambda: answers(address))
                    run_of("iron", "COMPLETED")
                    waiting = asking.submit(asked, "gold")
                    wait_for(lambda: one_is_answered("gold"), (tmp_path / "iron").read_text)
        # Both are killed now.
        with pytest.raises(RequestError, match="does not answer"):
            waiting.result(timeout=LIMIT_SECONDS)
    with own_server(tmp_path / "server", port, OURS):
        wait_for(lambda: answers(address))
        with answering(environment, tmp_path / "gold"):
            (run,) = run_of("gold", "CRASHED")
            assert run["state"]["message"] == "the query service was killed; what was answered is kept"
