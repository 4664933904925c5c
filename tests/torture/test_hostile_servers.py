"""Whatever the server of the model does, a question ends in its time, with the evidence and the reason."""

import json
import time

import pytest

from tests.asking_worlds import COAST
from tests.program import flowreader
from tests.torture.hostile_servers import hostile_server
from tests.torture.lab import sampled
from tests.waiting import wait_until

pytestmark = pytest.mark.torture

SERVERS = range(200)
SECONDS, GRACE = 2.0, 15.0
COMMAND = ("ask", COAST, "--corpus", "small", "--fresh", "--json")


@pytest.fixture
def by_model(tmp_path, seed):
    """Settings by which a model reads in its time, in full forms or in small ones."""
    path = tmp_path / "by_model.toml"
    forms = ("full", "small")[seed // 2 % 2]
    path.write_text(f'[ask]\nseconds = {SECONDS}\n[ask.reading]\nby = "model"\n[ask.reading.model]\nforms = "{forms}"\n')
    return path


@pytest.mark.parametrize("seed", sampled(SERVERS, 20))
def test_a_question_ends_in_time_with_the_evidence_whatever_the_server_does(own_home, by_model, monkeypatch, tell, seed):
    flowreader(*COMMAND, home=own_home, check=0)  # what the first question of a process loads is no part of it
    with hostile_server(seed) as (address, server):
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", address)
        began = time.monotonic()
        answer = json.loads(flowreader(*COMMAND, "--settings", by_model, home=own_home, check=0).stdout)
        seconds = time.monotonic() - began
        wait_until(lambda: not server.connections, 30)
    tell(f"{seed}: {seconds:.1f} s, {server.calls} calls: {server.name}")
    assert seconds < SECONDS + GRACE
    assert (answer["status"], answer["answer"], answer["answer_by"]) == ("evidence", "", None)
    assert answer["citations"] and answer["notes"] and not answer["cached"]
