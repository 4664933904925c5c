"""Runs are found in the UI by what they are about."""

import asyncio
import logging
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.states import Crashed

from flows.prefect_runs import labels as module
from flows.prefect_runs import labels as run_labels
from flows.prefect_runs.labels import AGAIN, LONGEST_NAME, begin_again, failures_logged, first_of


@pytest.fixture
def log(monkeypatch, caplog):
    monkeypatch.setattr(module, "get_run_logger", lambda: logging.getLogger("a run"))
    return caplog


def test_what_fails_is_logged_by_its_kind_and_not_in_its_words(log):
    with failures_logged("the page"):
        raise OSError("http://user:secret@server")
    (record,) = log.records
    assert record.getMessage() == "the page could not be kept (OSError); the work of this run is done, and stays"
    assert record.levelno == logging.WARNING


@pytest.mark.parametrize("run", [FlowRun(flow_id=uuid4()), FlowRun(flow_id=uuid4(), deployment_id=uuid4(), tags=[AGAIN])])
def test_who_was_not_deployed_or_began_again_already_ends(run, monkeypatch):
    monkeypatch.delattr(run_labels, "get_client")
    asyncio.run(begin_again(None, run, Crashed()))


def test_a_name_is_one_short_line():
    assert first_of(("What is\nthis?",)) == "What is this?"
    assert first_of(("a", "b", "c")) == "a and 2 more"
    assert len(first_of(("x" * 500,))) == LONGEST_NAME
    assert first_of(()) == "nothing"


def test_each_flow_names_its_run_and_tags_it(deployed):
    runs = {name: tags for name, tags in deployed["runs"]}
    (question,) = [name for name in runs if name.startswith("With which torque") and name.endswith("and 1 more")]
    assert runs[question] == ["flow", "small"]
    assert runs[str(deployed["home"] / "in")] == ["tides"]
    assert runs["probe of small"] == ["probe", "top-k"]
    assert runs["maintain every corpus"] == ["small", "tides"]
