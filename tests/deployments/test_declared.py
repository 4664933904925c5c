"""What is declared is what is served: the same flows by the same names, schedules that wait for what they need."""

import os

import pytest
import yaml

from deployments.declared import DECLARATIONS, declared_deployments
from deployments.named_inputs import EVALUATE_DATASET, INGEST_PATHS
from storage.errors import RequestError


@pytest.fixture
def served(monkeypatch):
    def made(**named):
        for name in (INGEST_PATHS, EVALUATE_DATASET):
            monkeypatch.delenv(name, raising=False)
        for name, value in named.items():
            monkeypatch.setenv(name, value)
        return {one.name: one for one in declared_deployments()}

    return made


def test_every_deployment_is_named_after_its_flow_and_is_a_form(served):
    deployments = served()
    assert list(deployments) == ["ingest", "evolve", "ask", "evaluate", "maintain"]
    for name, one in deployments.items():
        assert one.flow_name == name and one.enforce_parameter_schema and one.description
        assert list(one._parameter_openapi_schema.properties) == ["request"]


def test_without_a_folder_or_a_dataset_only_maintenance_is_scheduled(served):
    active = {name: [schedule.active for schedule in one.schedules] for name, one in served().items()}
    assert active == {"ingest": [False], "evolve": [], "ask": [], "evaluate": [False], "maintain": [True]}
    assert "paths" not in served()["ingest"].parameters["request"], "a run without a folder is refused"


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


def test_a_scheduled_flow_never_runs_twice_at_once(served):
    assert {name for name, one in served().items() if one.concurrency_limit == 1} == {"ingest", "evolve", "evaluate", "maintain"}


def test_the_file_is_one_that_prefect_deploy_takes():
    declared = yaml.safe_load(DECLARATIONS.read_text("utf-8"))
    for one in declared["deployments"]:
        assert one["work_pool"] == {"name": "flowreader-questions" if one["name"] == "ask" else "flowreader"}
        assert all(set(schedule) == {"cron", "timezone", "active"} for schedule in one.get("schedules", ()))
