"""The mission in one go: a named folder is read by schedule, step by step, and questions are flows, all seen in Prefect."""

import hashlib
import http.client
import json
import time
from contextlib import closing

import duckdb
import lancedb
import pytest

from storage.locations import CorpusLocation
from tests.deployments.brought_up import brought_up
from tests.program import flowreader
from tests.waiting import wait_until

QUESTION = "When is the harbour gate closed?"
DOCUMENT = ("parse", "read-words", "structure", "analyze", "embed", "evolve-round 1", "evolve-round 2", "evolve-round 3", "evolve")
QUESTION_STEPS = {"keywords", "candidates", "score", "size", "route", "fetch", "read", "synthesize", "record"}
FAILS_ONCE = """
import errno, os, sys

def fail_once(event, arguments):
    if event == "tempfile.mkstemp" and "/artifacts/" in os.fspath(arguments[0]):
        try:
            os.close(os.open({mark!r}, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        raise OSError(errno.EIO, "the disk is away for a moment")

sys.addaudithook(fail_once)
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Everything up, with a folder to read, in a home whose artifacts cannot be written the first time; the schedule fires soon."""
    page = tmp_path / "in" / "harbour.html"
    page.parent.mkdir()
    page.write_text("<h1>Harbour</h1><p>The harbour gate is closed at ten in the evening.</p><p>Boats wait outside until six.</p>")
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "sitecustomize.py").write_text(FAILS_ONCE.format(mark=str(tmp_path / "failed")))
    more = {"PYTHONPATH": str(tmp_path / "hooks"), "FLOWREADER_INGEST_PATHS": str(page.parent)}
    with brought_up(tmp_path / "home", tmp_path / "log", PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS="1", **more) as up:
        yield up, tmp_path / "home", page


def drawn(up, run):
    """Return the graph of a run as the server draws it: each task with those that it waited for."""
    nodes = dict(up.request(f"/flow_runs/{run}/graph-v2")["nodes"])
    return {node["label"]: sorted({nodes[one["id"]]["label"] for one in node["parents"]}) for node in nodes.values()}


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


def asked(up):
    """Ask over HTTP; return the answer, and the run of the flow `ask` that gave it."""
    with closing(http.client.HTTPConnection(up.environment["FLOWREADER_ASK_ADDRESS"], timeout=60)) as connection:
        connection.request("POST", "/ask", json.dumps({"questions": [QUESTION]}), {"Content-Type": "application/json"})
        (answer,) = json.loads(connection.getresponse().read())["answers"]
    flows = {"flows": {"name": {"any_": ["ask"]}}, "sort": "START_TIME_DESC"}
    (run, *_) = wait_until(lambda: up.request("/flow_runs/filter", flows))
    return answer, run


@pytest.mark.torture
def test_a_folder_is_read_by_schedule_and_questions_are_answered_with_each_step_in_prefect_and_in_lineage(world):
    up, home, page = world

    run = read_by_schedule(up)
    assert run["auto_scheduled"] and run["deployment_id"] == up.deployment("ingest/ingest")["id"]
    steps = [f"{step} {page.name}" for step in DOCUMENT]
    graph = wait_until(lambda: (found := drawn(up, run["id"])).keys() >= {"index full text"} and found, 20)
    assert graph == {step: before for step, before in zip(steps, [[], *([step] for step in steps)], strict=False)} | {
        "publish 1 documents": [steps[-1]],
        "index full text": ["publish 1 documents"],
    }

    tasks = up.request("/task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"]]}}})
    assert {task["name"]: task["run_count"] for task in tasks if task["run_count"] > 1} == {steps[0]: 2}
    known = json.loads(flowreader("lineage", run["id"], "--json", home=home).stdout)
    assert [(one["attempts"], one["failed"]) for one in known["steps"] if one["step"] == "parse"] == [(2, 1)]

    location = CorpusLocation("default", home / "corpora" / "default")
    with duckdb.connect(max(location.snapshots.glob("*.duckdb")), read_only=True) as catalog:
        assert catalog.sql("SELECT state, nodes FROM documents").fetchall() == [("ready", 2)]
    assert lancedb.connect(location.lance).open_table("nodes").count_rows() == 2

    answer, first = asked(up)
    assert "ten in the evening" in answer["citations"][0]["quote"] and not answer["cached"]
    wait_until(lambda: {task.split()[0] for task in drawn(up, first["id"])} >= QUESTION_STEPS, 20, lambda: drawn(up, first["id"]))
    again, second = asked(up)
    assert again["cached"] and again["answer_id"] == answer["answer_id"] and second["id"] != first["id"]
    # Prefect tells of a task by events: it knows that there is one before it knows its state.
    of_second = {"flow_runs": {"id": {"any_": [second["id"]]}}}
    wait_until(lambda: [task["state_name"] for task in up.request("/task_runs/filter", of_second)] == ["Cached"], 20)

    walked = flowreader("lineage", answer["answer_id"], "--json", home=home).stdout
    assert hashlib.sha256(page.read_bytes()).hexdigest() in walked and str(page) in walked
