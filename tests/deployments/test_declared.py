"""What is declared is what is served and what Prefect takes: flows, schedules, and automations that watch our runs alone."""

import os
import subprocess
import sys
from datetime import timedelta
from uuid import UUID

import pytest
import yaml

from deployments.automations import OURS, read_automations
from deployments.declared import DECLARATIONS, read_deployments
from deployments.named_inputs import EVALUATE_DATASET, INGEST_PATHS
from storage.errors import RequestError


@pytest.fixture
def served(monkeypatch):
    def made(**named):
        for name in (INGEST_PATHS, EVALUATE_DATASET):
            monkeypatch.delenv(name, raising=False)
        for name, value in named.items():
            monkeypatch.setenv(name, value)
        return {one.name: one for one in read_deployments()}

    return made


def test_every_deployment_is_a_form_named_after_its_flow_and_none_that_may_be_scheduled_runs_twice_at_once(served):
    deployments = served()
    active = {name: [schedule.active for schedule in one.schedules] for name, one in deployments.items()}
    # Without a folder or a dataset only maintenance is scheduled.
    assert active == {"ingest": [False], "evolve": [], "ask": [], "evaluate": [False], "maintain": [True]}
    for name, one in deployments.items():
        assert one.flow_name == name and one.enforce_parameter_schema and one.description
        assert list(one._parameter_openapi_schema.properties) == ["request"]
        assert (one.concurrency_limit == 1) == (name != "ask")
    assert "paths" not in deployments["ingest"].parameters["request"], "a run without a folder is refused"


def test_the_environment_names_the_folders_and_activates_the_schedule(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deployments = served(**{INGEST_PATHS: os.pathsep.join(["reports", "/data/papers"]), EVALUATE_DATASET: "exam"})
    ingest, evaluate = deployments["ingest"], deployments["evaluate"]
    assert ingest.parameters == {"request": {"corpus": "default", "paths": [str(tmp_path / "reports"), "/data/papers"]}}
    assert evaluate.parameters["request"] == {"what": "retrieval", "dataset": str(tmp_path / "exam")}
    assert ingest.schedules[0].active and evaluate.schedules[0].active


def test_an_address_among_the_folders_stays_as_it_is(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    named = served(**{INGEST_PATHS: "s3://data/in/:reports:s3://other:/data/papers"})["ingest"].parameters["request"]["paths"]
    assert named == ["s3://data/in/", str(tmp_path / "reports"), "s3://other", "/data/papers"]
    with pytest.raises(RequestError, match="AWS_ACCESS_KEY_ID"):
        served(**{INGEST_PATHS: "s3://AKIA:hunter2@data/in/"})


def test_the_file_is_one_that_prefect_deploy_takes():
    declared = yaml.safe_load(DECLARATIONS.read_text("utf-8"))
    for one in declared["deployments"]:
        assert one["work_pool"] == {"name": "flowreader-questions" if one["name"] == "ask" else "flowreader"}
        assert all(set(schedule) == {"cron", "timezone", "active"} for schedule in one.get("schedules", ()))


BLOCK = UUID(int=7)
CRASHED, FAILED, LATE = (
    f"{OURS}a run without a heartbeat is crashed",
    f"{OURS}notify of a failed run",
    f"{OURS}notify of a run that does not begin",
)


@pytest.fixture
def automations():
    return {one.name: one for one in read_automations(heartbeat_seconds=30, notify=BLOCK)}


def test_only_runs_of_our_flows_are_watched_each_by_itself(automations):
    for one in automations.values():
        related = one.trigger.match_related
        specifications = [spec.model_dump() for spec in (related if isinstance(related, list) else [related])]
        # A question that was asked wrongly is nothing to notify of.
        flows = ["ingest", "evolve", "evaluate", "maintain"]
        assert specifications[0] == {"prefect.resource.role": "flow", "prefect.resource.name": flows}
        assert specifications[1:] == ([] if one.name == CRASHED else [{"prefect.resource.role": "deployment"}])
        assert one.trigger.for_each == {"prefect.resource.id"}


def test_a_run_is_crashed_when_five_of_its_heartbeats_are_missing(automations):
    one = automations[CRASHED]
    (action,) = one.actions
    assert (action.type, action.state.value, action.force) == ("change-flow-run-state", "CRASHED", False)
    assert one.trigger.after == {"prefect.flow-run.heartbeat"} < one.trigger.expect
    assert one.trigger.within == timedelta(seconds=150)
    seldom = {one.name: one for one in read_automations(heartbeat_seconds=180, notify=None)}
    assert seldom[CRASHED].trigger.within == timedelta(seconds=900), "who beats more rarely is given more time"


def test_no_notification_holds_the_name_of_a_run_which_may_be_a_question(automations):
    for name in (FAILED, LATE):
        (action,) = automations[name].actions
        assert "{{ flow_run.id }}" in action.body and "flow_run.name" not in action.subject + action.body


@pytest.mark.parametrize(
    ("address", "said"), [("http://127.0.0.1:1/api", "does not answer"), ("", "no Prefect server is named; set PREFECT_API_URL")]
)
def test_a_server_that_is_not_there_is_an_error(home, monkeypatch, address, said):
    monkeypatch.setenv("PREFECT_HOME", str(home))
    monkeypatch.setenv("PREFECT_API_URL", address)
    if not address:
        monkeypatch.delenv("PREFECT_API_URL")
    done = subprocess.run([sys.executable, "-m", "deployments.automations", "apply"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
