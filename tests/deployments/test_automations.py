"""What is described is what Prefect takes: its own models read the file, and each automation watches our runs alone."""

import subprocess
import sys
from datetime import timedelta
from uuid import UUID

import pytest
from prefect.server.events.schemas.automations import Automation, AutomationCreate

from deployments.automations import OURS, described

BLOCK = UUID(int=7)
CRASHED, FAILED, LATE = (
    f"{OURS}a run without a heartbeat is crashed",
    f"{OURS}a run that failed is told",
    f"{OURS}a run that does not begin is told",
)


@pytest.fixture
def automations():
    return {one.name: one for one in described(heartbeat_seconds=30, notify=BLOCK)}


def test_the_server_s_own_models_take_each_of_them(automations):
    assert set(automations) == {CRASHED, FAILED, LATE}
    for one in automations.values():
        taken = AutomationCreate.model_validate(one.model_dump(mode="json"))
        Automation.model_validate({**taken.model_dump(), "id": str(UUID(int=1))})
        assert one.actions and one.description and one.enabled


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
    seldom = {one.name: one for one in described(heartbeat_seconds=180, notify=None)}
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
