"""Run events reach a server that checks them; what does not reach one is an error that holds no secret."""

import socket
from uuid import uuid4

import pytest

from tasks.data_flow import DataFlow, DataSet
from tasks.openlineage import EventType, OpenLineageError, is_wanted, run_event, send
from tests.lineage_server import lineage_server

DATA = DataFlow((DataSet("file", "/in"),), (DataSet("flowreader", "small/ab"),))
NAMES = ("OPENLINEAGE_URL", "OPENLINEAGE_DISABLED", "OPENLINEAGE_NAMESPACE", "OPENLINEAGE_API_KEY", "OPENLINEAGE_ENDPOINT")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def event(kind=EventType.COMPLETE):
    return run_event(kind, run_id=str(uuid4()), job="ingest", data=DATA)


def test_every_kind_of_event_is_taken_with_what_went_in_and_out(environment):
    with lineage_server() as server:
        environment.setenv("OPENLINEAGE_URL", f"{server.address}/")
        environment.setenv("OPENLINEAGE_API_KEY", "k1")
        environment.setenv("OPENLINEAGE_NAMESPACE", "house")
        for kind in EventType:
            send(event(kind))
        assert [each["eventType"] for each in server.events] == ["START", "COMPLETE", "ABORT", "FAIL"]
        told = server.events[1]
        assert (told["inputs"], told["outputs"]) == (
            [{"namespace": "file", "name": "/in"}],
            [{"namespace": "flowreader", "name": "small/ab"}],
        )
        assert told["job"] == {"namespace": "house", "name": "ingest"} and set(server.keys) == {"Bearer k1"}


@pytest.mark.parametrize(
    "address", ["http://{free}", "http://me:secret@127.0.0.1:1", "file:///secret", "http://[secret", "http://a:secret"]
)
def test_a_server_that_does_not_take_it_is_an_error_without_its_address(environment, address):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        environment.setenv("OPENLINEAGE_URL", address.format(free=f"127.0.0.1:{silent.getsockname()[1]}"))
        with pytest.raises(
            OpenLineageError, match=r"did not take COMPLETE of ingest: .*; look at OPENLINEAGE_URL, or unset it"
        ) as refused:
            send(event())
    assert "secret" not in str(refused.value)


def test_a_refused_event_is_an_error(environment):
    with lineage_server() as server:
        environment.setenv("OPENLINEAGE_URL", server.address)
        with pytest.raises(OpenLineageError, match="422"):
            send(event() | {"run": {}})
        assert server.refused.pop() == "KeyError('runId')"


def test_it_is_off_unless_the_environment_names_a_server(environment):
    assert not is_wanted()
    environment.setenv("OPENLINEAGE_URL", "http://x")
    assert is_wanted()
    environment.setenv("OPENLINEAGE_DISABLED", "True")
    assert not is_wanted()
