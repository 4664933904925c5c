"""Prefect's server keeps asset events of ingests and answers, and an OpenLineage server hears of their beginnings and ends."""

import asyncio
import logging
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun, TaskRun
from prefect.states import Cancelled, Failed, Running

from flows.telling_others import note_beginning, stopped, tell_of_ingest, tell_of_task
from tests.lineage_server import lineage_server


def test_the_server_keeps_what_was_made_of_what(deployed):
    made = {asset: related for event, asset, related in deployed["assets"] if event == "prefect.asset.materialization.succeeded"}
    folder = f"file://{deployed['home']}/in"
    (tides,) = [asset for asset in made if asset.startswith("flowreader://tides/")]
    assert folder in made[tides] and any(name.startswith("prefect.flow-run.") for name in made[tides])
    for way, run in (("ask", "prefect.flow-run."), ("task", "prefect.task-run.")):
        for answer in deployed[way]["returned"]:
            related = made[f"flowreader://small/answers/{answer['answer_id']}"]
            assert f"flowreader://small/{answer['citations'][0]['document']['id']}" in related
            assert any(name.startswith(run) for name in related)
    assert {asset for event, asset, _ in deployed["assets"] if event == "prefect.asset.referenced"} >= {folder}


def test_openlineage_hears_how_every_run_began_and_ended(deployed):
    told = {}
    for event in deployed["openlineage"]:
        told.setdefault((event["job"]["name"], event["run"]["runId"]), []).append(event["eventType"])
    assert sorted((job, kinds) for (job, _), kinds in told.items()) == [
        ("ask", ["START", "COMPLETE"]),
        ("ask", ["START", "COMPLETE"]),
        ("ask", ["START", "COMPLETE"]),
        ("ask", ["START", "FAIL"]),
        ("ask", ["START", "FAIL"]),
        ("ingest", ["START", "COMPLETE"]),
        ("ingest", ["START", "COMPLETE"]),
    ]
    told_of = [event["outputs"] for event in deployed["openlineage"] if event["job"]["name"] == "ask" and event["outputs"]]
    given = [[f"small/answers/{one['answer_id']}" for one in deployed[way]["returned"]] for way in ("ask", "task")]
    assert [[each["name"] for each in outputs] for outputs in told_of][:2] == given
    ingests = [event for event in deployed["openlineage"] if event["job"]["name"] == "ingest" and event["outputs"]]
    assert ingests[0]["outputs"][0]["name"].startswith("tides/") and ".html" not in str(ingests)


def test_a_question_is_told_of_when_it_is_answered_with_the_time_at_which_it_began(monkeypatch):
    asking = TaskRun(flow_run_id=None, task_key="answer", dynamic_key="0")
    with lineage_server() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.address)
        asyncio.run(note_beginning(None, asking, Running()))
        assert server.events == []
        answered = datetime.now(UTC).isoformat()
        asyncio.run(tell_of_task(None, asking, Failed()))
    start, end = server.events
    assert (start["eventType"], end["eventType"]) == ("START", "FAIL")
    assert start["eventTime"] <= answered <= end["eventTime"]


@pytest.fixture
def run():
    return FlowRun(flow_id=uuid4(), parameters={"request": {"paths": ["/in"], "corpus": "small"}})


def test_a_run_that_was_stopped_aborts_and_outside_a_run_nobody_is_told(run, monkeypatch):
    with lineage_server() as server:
        monkeypatch.setenv("OPENLINEAGE_URL", server.address)
        asyncio.run(tell_of_ingest(None, run, Cancelled()))
        assert asyncio.run(stopped(tell_of_ingest, "why")).message == "why"
    assert [event["eventType"] for event in server.events] == ["ABORT"]


def test_a_server_that_is_away_is_logged_once_and_ends_nothing(run, monkeypatch, caplog):
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:1")
    monkeypatch.setattr(logging.getLogger("prefect"), "propagate", True)
    for state in (Running(), Cancelled()):
        asyncio.run(tell_of_ingest(None, run, state))
    assert [record.getMessage().split(":")[0] for record in caplog.records if "OpenLineage" in record.getMessage()] == [
        "the OpenLineage server did not take START of ingest"
    ]
