"""Everything up with one command and down with one signal; a folder is read by schedule and a question is answered from it."""

import fcntl
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import httpx
import pytest

from tasks.settings.readers import READERS
from tests.deployments.brought_up import brought_up, environment_for
from tests.listening import free_port, listening_addresses
from tests.program import flowreader
from tests.torture.lab import sampled
from tests.waiting import wait_until

END_SECONDS, CANCEL_SECONDS = 20.0, 15.0


@pytest.fixture(scope="module")
def up(library, tmp_path_factory):
    """Everything up in a home with the corpus `small`."""
    folder = tmp_path_factory.mktemp("up")
    with brought_up(shutil.copytree(library, folder / "home"), folder / "log") as running:
        yield running


@pytest.mark.torture
def test_the_address_is_shown_and_the_ui_is_there(up):
    assert f"questions: http://{up.environment['FLOWREADER_ASK_ADDRESS']}\n" in up.said()
    assert f"Prefect's UI: {up.api.removesuffix('/api')}\n" in up.said()
    assert "ExceptionGroup" not in up.said()
    with urllib.request.urlopen(up.api.removesuffix("/api"), timeout=30) as page:
        assert page.status == 200 and b"<html" in page.read().lower()
    settings = up.request("/admin/settings")
    assert settings["server"]["analytics_enabled"] is False and settings["server"]["api"]["host"] == "127.0.0.1"


@pytest.mark.torture
@pytest.mark.parametrize(
    ("name", "request_", "field", "reason"),
    [
        ("ask/ask", {"questions": []}, "request.questions", "non-empty"),
        ("ask/ask", {"questions": ["a?"], "reader": "magic"}, "request.reader", f"'magic' is not one of {list(READERS)}"),
        ("ingest/ingest", {"corpus": "a"}, "request", "'paths' is a required property"),
        ("maintain/maintain", {"corpora": ["../x"]}, "request.corpora", "does not match"),
        ("maintain/maintain", {"wait_seconds": -1}, "request.wait_seconds", "less than the minimum of 0"),
    ],
)
def test_a_wrong_parameter_is_refused_by_the_server_in_words(up, name, request_, field, reason):
    with pytest.raises(urllib.error.HTTPError) as refused:
        up.begin(name, request_)
    said = refused.value.read().decode()
    assert refused.value.code == 409 and field in said and reason in said, said


@pytest.mark.torture
def test_credentials_in_an_address_are_refused_by_the_server_and_kept_nowhere(up):
    with pytest.raises(urllib.error.HTTPError) as refused:
        up.begin("ingest/ingest", {"paths": ["s3://AKIA:hunt/er2@data/in/"]})
    assert refused.value.code == 409 and b"request.paths" in refused.value.read()
    kept = [path for path in Path(up.environment["FLOWREADER_HOME"]).rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if b"hunt/er2" in path.read_bytes()] and "hunt/er2" not in up.said()


@pytest.mark.torture
def test_nothing_listens_but_on_this_machine_alone(up):
    listening = listening_addresses(up.group())
    assert ("127.0.0.1", int(up.environment["PREFECT_SERVER_API_PORT"])) in listening
    assert {address for address, _ in listening} == {"127.0.0.1"}


@pytest.mark.torture
def test_a_cancelled_ingest_ends_in_time_and_leaves_no_process(up):
    run = up.begin_reading("cancelled")
    up.request(f"/flow_runs/{run}/set_state", {"state": {"type": "CANCELLING", "name": "Cancelling"}})
    deadline = time.monotonic() + CANCEL_SECONDS
    while up.request(f"/flow_runs/{run}")["state"]["type"] != "CANCELLED" or "prefect.engine" in " ".join(up.group().values()):
        assert time.monotonic() < deadline, (up.request(f"/flow_runs/{run}")["state"], up.group())
        time.sleep(0.1)


@pytest.mark.torture
def test_sigterm_in_the_middle_of_an_ingest_ends_everything_in_time(up):
    up.begin_reading("whole")
    up.process.send_signal(signal.SIGTERM)
    code, seconds = up.ends_within(END_SECONDS)
    assert code == 0 and seconds < END_SECONDS and up.group() == {}, (code, seconds, up.group())
    assert "ending; runs at work end in order first" in up.said() and "never awaited" not in up.said()


@pytest.mark.torture
def test_ctrl_c_for_the_whole_group_ends_everything_too(tmp_path):
    with brought_up(tmp_path / "home", tmp_path / "log") as running:
        os.killpg(running.process.pid, signal.SIGINT)
        assert running.ends_within(END_SECONDS)[0] == 0 and running.group() == {}


@pytest.mark.torture
@pytest.mark.parametrize(
    ("module", "named"),
    sampled(
        (("server", "the Prefect server"), ("serve", "what serves the deployments"), ("questions", "what answers questions")), 1
    ),
)
def test_a_child_that_dies_ends_the_whole_and_is_named(tmp_path, module, named):
    with brought_up(tmp_path / "home", tmp_path / "log") as running:
        (pid,) = [pid for pid, words in running.group().items() if f"-m deployments.{module} " in f"{words} "]
        os.kill(pid, signal.SIGKILL)
        assert running.ends_within(END_SECONDS)[0] == 1 and running.group() == {}
        assert f"{named} ended with code -9, and everything with it" in running.said()


@pytest.mark.torture
def test_nothing_outlives_a_killed_up(tmp_path):
    with brought_up(tmp_path / "home", tmp_path / "log") as running:
        running.begin_reading("small")
        running.process.kill()
        running.process.wait()
        wait_until(lambda: not running.group(), END_SECONDS, running.group)


def refused(home, **more):
    done = subprocess.run(
        [sys.executable, "-m", "deployments.up"], env=environment_for(home, **more), capture_output=True, text=True, timeout=60
    )
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr, done.stderr
    return done.stderr


def test_a_port_that_is_taken_is_named_with_the_remedy(home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = refused(home, PREFECT_SERVER_API_PORT=port)
    assert f"port '{port}' of 127.0.0.1 cannot be used" in said and "set PREFECT_SERVER_API_PORT" in said
    assert "port 'x' of 127.0.0.1 cannot be used" in refused(home, PREFECT_SERVER_API_PORT="x")


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("FLOWREADER_ASK_ADDRESS", "here", "FLOWREADER_ASK_ADDRESS 'here' is no HOST:PORT; set it to"),
        ("FLOWREADER_METRICS", "here", "FLOWREADER_METRICS is 'here'"),
        ("FLOWREADER_LOG", "/nowhere/log", "FLOWREADER_LOG names '/nowhere/log', which cannot be written"),
        ("FLOWREADER_INGEST_PATHS", "s3://me:opensesame@bucket/x", "holds a user or a password"),
    ],
)
def test_a_wrong_setting_is_an_error_before_anything_starts(home, name, value, what):
    given = {"PREFECT_SERVER_API_PORT": str(free_port()), "FLOWREADER_ASK_ADDRESS": f"127.0.0.1:{free_port()}"}
    assert what in refused(home, **given | {name: value})
    assert not (home / "prefect" / "server.log").exists()


def test_a_second_one_in_the_same_home_is_refused_and_changes_nothing(home):
    home.mkdir(exist_ok=True)
    with (home / "up.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = refused(home, PREFECT_SERVER_API_PORT=str(free_port()))
    assert f"everything is up already for FLOWREADER_HOME {str(home)!r}" in said and "name another home" in said


def test_a_server_that_is_named_and_does_not_answer_is_an_error_and_none_is_started(home):
    said = refused(home, PREFECT_API_URL="http://127.0.0.1:1/api")
    assert "the Prefect server at http://127.0.0.1:1/api does not answer" in said
    assert not (home / "prefect" / "server.log").exists()


QUESTION = "When is the harbour gate closed?"


def read_by_schedule(up):
    """Have the schedule fire every few seconds, as an operator would in the UI, until one of its runs is completed."""
    deployment = up.deployment("ingest/ingest")
    (schedule,) = deployment["schedules"]
    path = f"/deployments/{deployment['id']}/schedules/{schedule['id']}"

    def runs(state):
        # The server has other work.
        time.sleep(1)
        wanted = {"deployment_id": {"any_": [deployment["id"]]}, "state": {"type": {"any_": [state]}}}
        return up.request("/flow_runs/filter", {"flow_runs": wanted, "sort": "START_TIME_ASC", "limit": 1})

    # Prefect would plan the hours of the schedule as it was, while it is changed, and then plan no more.
    wait_until(lambda: runs("SCHEDULED"), 90, up.said)
    up.request(path, {"schedule": {"interval": 10}}, method="PATCH")
    (run, *_) = wait_until(lambda: runs("COMPLETED"), 90, up.said)
    up.request(path, {"active": False}, method="PATCH")
    return run


@pytest.mark.torture
def test_a_folder_is_read_by_schedule_and_a_question_is_answered_from_it_down_to_the_bytes_of_its_file(tmp_path):
    home, page = tmp_path / "home", tmp_path / "in" / "harbour.html"
    page.parent.mkdir()
    page.write_text("<h1>Harbour</h1><p>The harbour gate is closed at ten in the evening.</p><p>Boats wait outside until six.</p>")
    more = {"FLOWREADER_INGEST_PATHS": str(page.parent), "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "1"}
    with brought_up(home, tmp_path / "log", **more) as up:
        run = read_by_schedule(up)
        assert run["auto_scheduled"] and run["deployment_id"] == up.deployment("ingest/ingest")["id"]
        asking = f"http://{up.environment['FLOWREADER_ASK_ADDRESS']}/ask"
        (answer,) = httpx.post(asking, json={"questions": [QUESTION]}, timeout=60).json()["answers"]
        assert "ten in the evening" in answer["citations"][0]["quote"] and not answer["cached"]
        (again,) = httpx.post(asking, json={"questions": [QUESTION]}, timeout=60).json()["answers"]
        assert again["cached"] and again["answer_id"] == answer["answer_id"]
        walked = flowreader("lineage", answer["answer_id"], "--json", home=home).stdout
        assert hashlib.sha256(page.read_bytes()).hexdigest() in walked and str(page) in walked
