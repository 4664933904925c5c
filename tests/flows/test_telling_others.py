"""Prefect's server keeps asset events of ingests and answers, and an OpenLineage server hears of their beginnings and ends."""

import asyncio
import logging
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.states import Cancelled, Running

from flows.telling_others import stopped, tell_of_ingest
from tests.lineage_server import lineage_server


def test_the_server_keeps_what_was_made_of_what(deployed):
    made = {asset: related for event, asset, related in deployed["assets"] if event == "prefect.asset.materialization.succeeded"}
    folder = f"file://{deployed['home']}/in"
    (tides,) = [asset for asset in made if asset.startswith("flowreader://tides/")]
    assert folder in made[tides] and any(name.startswith("prefect.flow-run.") for name in made[tides])
    for answer in deployed["ask"]["returned"]:
        related = made[f"flowreader://small/answers/{answer['answer_id']}"]
        assert f"flowreader://small/{answer['citations'][0]['document']['id']}" in related
    assert {asset for event, asset, _ in deployed["assets"] if event == "prefect.asset.referenced"} >= {folder}


def test_openlineage_hears_how_every_run_began_and_ended(deployed):
    told = {}
    for event in deployed["openlineage"]:
        told.setdefault((event["job"]["name"], event["run"]["runId"]), []).append(event["eventType"])
    assert sorted((job, kinds) for (job, _), kinds in told.items()) == [
        ("ask", ["START", "COMPLETE"]),
        ("ask", ["START", "FAIL"]),
        ("ingest", ["START", "COMPLETE"]),
    ]
    (answers,) = [each for each in deployed["openlineage"] if each["job"]["name"] == "ask" and each["outputs"]]
    given = [f"small/answers/{one['answer_id']}" for one in deployed["ask"]["returned"]]
    assert [each["name"] for each in answers["outputs"]] == given
    (ingest,) = [each for each in deployed["openlineage"] if each["job"]["name"] == "ingest" and each["outputs"]]
    assert ingest["outputs"][0]["name"].startswith("tides/") and ".html" not in str(ingest)


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
