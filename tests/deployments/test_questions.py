"""The query service: what is wrong in its settings is an error before anything begins, and nothing that hangs keeps it shut."""

import asyncio
import socket

import pytest

from flows.display.output import CommandError
from flows.service.listening import MOST_ROOM, USUAL_ROOM, check_question_settings, listen, required_token, room
from flows.service.resident import staying, warmed_up
from tests.hung_corpus import HungCorpus


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch):
    for name in ("ADDRESS", "TOKEN", "QUEUE"):
        monkeypatch.delenv(f"FLOWREADER_ASK_{name}", raising=False)


def test_a_port_that_is_taken_is_named_with_the_remedy(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", f"127.0.0.1:{port}")
        with pytest.raises(CommandError, match=rf"'127.0.0.1:{port}'.*FLOWREADER_ASK_ADDRESS"):
            check_question_settings()
    check_question_settings()
    check_question_settings()  # one that is free stays so


def test_an_address_of_another_machine_is_named():
    with pytest.raises(CommandError, match=r"192\.0\.2\.1"):
        listen("192.0.2.1", 0)


def test_a_token_is_needed_where_others_may_ask(monkeypatch):
    assert [required_token(host) for host in ("127.0.0.1", "localhost")] == ["", ""]
    monkeypatch.setenv("FLOWREADER_ASK_TOKEN", "sesame")
    assert [required_token(host) for host in ("127.0.0.1", "0.0.0.0")] == ["sesame", "sesame"]


def test_the_room_has_a_default_and_a_form(monkeypatch):
    assert room() == USUAL_ROOM
    for number in (1, 3, MOST_ROOM):
        monkeypatch.setenv("FLOWREADER_ASK_QUEUE", str(number))
        assert room() == number


def test_an_address_of_ipv6_is_one():
    with listen("::1", 0) as listening:
        assert listening.getsockname()[0] == "::1"


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("ADDRESS", "::1:4280", "'::1:4280' is no HOST:PORT; set it to an address such as"),
        ("ADDRESS", "0.0.0.0:4280", "set FLOWREADER_ASK_TOKEN to a secret"),
        ("ADDRESS", "[::]:4280", "listen on '::', where others may ask"),
        *(("QUEUE", named, f"FLOWREADER_ASK_QUEUE is '{named}'") for named in ("", "many", "0", "-1", "1.5", str(MOST_ROOM + 1))),
    ],
)
def test_what_could_not_begin_is_an_error_before_anything_does(monkeypatch, name, value, what):
    monkeypatch.setenv(f"FLOWREADER_ASK_{name}", value)
    with pytest.raises(CommandError) as refused:
        check_question_settings()
    assert what in str(refused.value)


def test_a_disk_that_hangs_does_not_keep_the_doors_shut(home, monkeypatch):
    disk = HungCorpus("far")
    monkeypatch.setattr("flows.service.resident.WARM_UP_SECONDS", 0.2)

    async def world():
        warming = asyncio.create_task(warmed_up())
        await asyncio.wait_for(disk.asked(), 20)
        await asyncio.wait_for(warming, 2)
        disk.end()

    asyncio.run(world())


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ExceptionGroup("", [ExceptionGroup("", [ConnectionRefusedError(111, "no")])]), "Prefect's server is not there"),
        (ValueError("http://me:secret@server"), "ValueError: http://server"),
    ],
)
def test_what_loses_the_server_is_said_in_words_once_and_tried_again(monkeypatch, capsys, error, words):
    monkeypatch.setattr("flows.service.resident.PAUSE_SECONDS", 0.0)
    tries = []

    async def work():
        tries.append(1)
        if len(tries) == 3:
            raise asyncio.CancelledError
        raise error

    async def world():
        with pytest.raises(asyncio.CancelledError):
            await staying("what makes the pages", work)

    asyncio.run(world())
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"what makes the pages stopped: {words}") and "it tries again" in line and "secret" not in line
