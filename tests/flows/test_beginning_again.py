"""Only a deployed run begins again, and only once; that it does is shown by tests/torture/test_deployed_faults.py."""

import asyncio
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.states import Crashed

from flows import beginning_again
from flows.beginning_again import AGAIN, begin_again


@pytest.mark.parametrize("run", [FlowRun(flow_id=uuid4()), FlowRun(flow_id=uuid4(), deployment_id=uuid4(), tags=[AGAIN])])
def test_who_was_not_deployed_or_began_again_already_ends(run, monkeypatch):
    monkeypatch.delattr(beginning_again, "get_client")
    asyncio.run(begin_again(None, run, Crashed()))
