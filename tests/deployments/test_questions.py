"""The query service says where it cannot be, and needs a token where others could ask."""

import asyncio
import logging
import socket

import pytest

from deployments.questions import MOST_ROOM, USUAL_ROOM, ServiceError, WithoutTraceback, listen, required_token, room, warmed_up
from tests.silent_store import silent_store


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
    for number in (1, 3, MOST_ROOM):
        monkeypatch.setenv("FLOWREADER_ASK_QUEUE", str(number))
        assert room() == number


@pytest.mark.parametrize("named", ["", "many", "0", "-1", "1.5", str(MOST_ROOM + 1)])
def test_a_room_that_is_no_number_is_named(monkeypatch, named):
    monkeypatch.setenv("FLOWREADER_ASK_QUEUE", named)
    with pytest.raises(ServiceError, match="FLOWREADER_ASK_QUEUE"):
        room()


def test_a_store_that_hangs_does_not_keep_the_doors_shut(home, monkeypatch):
    monkeypatch.setattr("deployments.questions.WARM_UP_SECONDS", 0.2)

    async def world():
        warming = asyncio.create_task(warmed_up())
        await asyncio.wait_for(store.asked(), 20)
        await asyncio.wait_for(warming, 2)
        store.end()

    with silent_store(monkeypatch) as store:
        asyncio.run(world())


def test_a_question_that_was_asked_wrongly_is_told_in_a_line():
    record = logging.LogRecord("prefect.task_runs", logging.ERROR, "x.py", 1, "no", (), (ValueError, ValueError("no"), None))
    assert WithoutTraceback().filter(record) and record.exc_info is None
