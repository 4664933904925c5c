"""A run that is killed in mid-work, with all that looked after it, is seen by the server: marked, told of, and its seat free."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import pytest

from tests.deployments.brought_up import requested
from tests.flows.service_worlds import listening
from tests.listening import free_port
from tests.program import CORPUS
from tests.torture.lab import prefect_server_in
from tests.waiting import wait_until

pytestmark = pytest.mark.torture

SOON = """
import sys
from pathlib import Path
from deployments import automations
described = Path(sys.argv[1])
described.write_text(automations.DESCRIBED.read_text().replace("heartbeats_missed: 5", "heartbeats_missed: 1.3"))
automations.DESCRIBED = described
sys.exit(automations.main(["apply"]))
"""
"""Prefect's shortest heartbeat is 30 s: five of them are more than a test should wait for."""

NOTIFY = """
import sys
from prefect.blocks.notifications import CustomWebhookNotificationBlock as Webhook
Webhook(name="ops", url=sys.argv[1], json_data={"subject": "{{subject}}", "body": "{{body}}"}).save("ops")
"""
CRASHED = "flowreader: a run without a heartbeat is crashed"
FAILED, LATE = "flowreader: notify of a failed run", "flowreader: notify of a run that does not begin"
BEGIN_SECONDS, CRASHED_SECONDS = 90.0, 75.0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of its own: what it does by itself is no business of the other campaigns."""
    with prefect_server_in(tmp_path_factory.mktemp("server") / "home") as address:
        yield address


@pytest.fixture(scope="module")
def environment(tmp_path_factory, server):
    port = str(free_port())
    home = tmp_path_factory.mktemp("watched") / "home"
    return {
        **os.environ,
        "FLOWREADER_HOME": str(home),
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_API_URL": server,
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
        "FLOWREADER_METRICS": port,
    }


def automations(environment, *arguments, code=0):
    """Run `deployments.automations`, or a program in its place; return what became of each, or what was wrong."""
    called = arguments if arguments[0] == "-c" else ("-m", "deployments.automations", *arguments)
    done = subprocess.run([sys.executable, *called], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return dict(line.rsplit(": ", 1) for line in done.stdout.splitlines()) if code == 0 else done.stderr


@pytest.fixture
def told():
    """What a notification block tells, and the address that it tells it to."""
    with listening(lambda _message: (200, b"")) as ear:
        yield ear


@contextmanager
def serving(environment, log):
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "deployments.serve"], env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        wait_until(lambda: "ready:" in log.read_text().rpartition("\n---\n")[2], BEGIN_SECONDS, log.read_text)
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def scraped(environment):
    with urllib.request.urlopen(f"http://127.0.0.1:{environment['FLOWREADER_METRICS']}/metrics", timeout=10) as reply:
        lines = reply.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_applying_twice_changes_nothing_and_what_could_only_notify_is_left_out(environment):
    first, again = automations(environment, "apply"), automations(environment, "apply")
    assert first[CRASHED] == "made" and again[CRASHED] == "as it was"
    assert all("FLOWREADER_NOTIFY_BLOCK names no block" in again[f"{name}: left out"] for name in (FAILED, LATE)), again


def test_a_block_that_is_not_there_is_named(environment):
    said = automations({**environment, "FLOWREADER_NOTIFY_BLOCK": "slack-webhook/nobody"}, "apply", code=2)
    assert "FLOWREADER_NOTIFY_BLOCK is 'slack-webhook/nobody', and there is no such block" in said


def test_a_run_that_is_killed_with_its_server_is_crashed_and_announced_and_the_next_one_goes_on(
    environment, server, told, tmp_path, tell
):
    log = tmp_path / "log"
    subprocess.run([sys.executable, "-c", NOTIFY, f"http://{told.address}/"], env=environment, check=True, timeout=60)
    environment = {**environment, "FLOWREADER_NOTIFY_BLOCK": "custom-webhook/ops"}
    with serving(environment, log) as process:
        assert set(automations(environment, "-c", SOON, str(tmp_path / "soon.yaml")).values()) == {"changed", "as it was"}
        deployment = requested(server, "/deployments/name/ingest/ingest")["id"]
        asked = {"parameters": {"request": {"paths": [str(CORPUS)], "corpus": "watched"}}}
        run = requested(server, f"/deployments/{deployment}/create_flow_run", asked)["id"]
        wait_until(lambda: scraped(environment).get("flowreader_runs_at_work") == 1, BEGIN_SECONDS, log.read_text)
        wait_until(lambda: scraped(environment).get("flowreader_pages_total", 0) > 0, BEGIN_SECONDS, log.read_text)
        os.killpg(process.pid, signal.SIGKILL)
        killed = time.monotonic()
    assert requested(server, f"/flow_runs/{run}")["state"]["type"] == "RUNNING", "nobody told the server"
    wait_until(lambda: requested(server, f"/flow_runs/{run}")["state"]["type"] == "CRASHED", CRASHED_SECONDS, log.read_text)
    seconds = time.monotonic() - killed
    assert "its heartbeats stopped" in requested(server, f"/flow_runs/{run}")["state"]["message"]
    *_, message = wait_until(lambda: told.heard, 20, log.read_text)[0]
    assert message["subject"] == "FlowReader: ingest Crashed" and f"ingest {run} ended as Crashed." in message["body"]
    log.write_text(log.read_text() + "\n---\n")
    with serving(environment, log):
        run = requested(server, f"/deployments/{deployment}/create_flow_run", asked)["id"]
        wait_until(lambda: requested(server, f"/flow_runs/{run}")["state"]["type"] == "RUNNING", BEGIN_SECONDS, log.read_text)
    tell(f"1 run killed with what served it: marked as crashed {seconds:.0f} s later (39 s without a heartbeat)")
