"""The query service says where it cannot be, and needs a token where others could ask."""

import logging
import socket

import pytest

from deployments.questions import USUAL_ROOM, ServiceError, WithoutTraceback, listen, required_token, room


def test_a_port_that_is_taken_is_named_with_the_remedy():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServiceError, match=rf"'127.0.0.1:{port}'.*FLOWREADER_ASK_ADDRESS"):
            listen("127.0.0.1", port)


def test_an_address_of_another_machine_is_named():
    with pytest.raises(ServiceError, match=r"192\.0\.2\.1"):
        listen("192.0.2.1", 0)


def test_a_token_is_needed_where_others_may_ask(monkeypatch):
    monkeypatch.delenv("FLOWREADER_ASK_TOKEN", raising=False)
    assert [required_token(host) for host in ("127.0.0.1", "localhost")] == ["", ""]
    with pytest.raises(ServiceError, match=r"'0\.0\.0\.0'.*FLOWREADER_ASK_TOKEN"):
        required_token("0.0.0.0")
    monkeypatch.setenv("FLOWREADER_ASK_TOKEN", "sesame")
    assert [required_token(host) for host in ("127.0.0.1", "0.0.0.0")] == ["sesame", "sesame"]


def test_the_room_has_a_default_and_a_form(monkeypatch):
    monkeypatch.delenv("FLOWREADER_ASK_QUEUE", raising=False)
    assert room() == USUAL_ROOM
    monkeypatch.setenv("FLOWREADER_ASK_QUEUE", "3")
    assert room() == 3


@pytest.mark.parametrize("named", ["", "many", "0", "-1"])
def test_a_room_that_is_no_number_is_named(monkeypatch, named):
    monkeypatch.setenv("FLOWREADER_ASK_QUEUE", named)
    with pytest.raises(ServiceError, match="FLOWREADER_ASK_QUEUE"):
        room()


def test_a_question_that_was_asked_wrongly_is_told_in_a_line():
    record = logging.LogRecord("prefect.task_runs", logging.ERROR, "x.py", 1, "no", (), (ValueError, ValueError("no"), None))
    assert WithoutTraceback().filter(record) and record.exc_info is None
