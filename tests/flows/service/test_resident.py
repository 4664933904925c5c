"""The query service by itself: what is wrong in its settings is said before it begins, and Ctrl-C ends all that it started."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from deployments.children import descendants
from flows.service.listening import MOST_ROOM, USUAL_ROOM, check_question_settings, listen, required_token, room
from flows.service.resident import keep_running, warm_up
from storage.errors import RequestError
from tests.hung_corpus import HungCorpus
from tests.kept_worlds import give_prefect_data
from tests.listening import free_port
from tests.program import CORPUS, started
from tests.session_server import session_server
from tests.waiting import wait_until


def temporary_server(pid):
    """Return the address of the temporary Prefect server below the process."""
    return next(f"http://127.0.0.1:{line[3]}/api" for line in commands_below(pid) if "flows.prefect_runs.server" in line)


def commands_below(pid):
    """Return the command lines of the processes below that are there."""
    for child in descendants(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            yield Path(f"/proc/{child}/cmdline").read_text().split("\0")


@pytest.mark.parametrize("alone", [False, pytest.param(True, marks=pytest.mark.torture)])
def test_it_says_where_its_page_is_declares_ask_and_ends_with_ctrl_c_and_all_its_processes(own_home, tmp_path, alone):
    address, environment = f"127.0.0.1:{free_port()}", {name: value for name, value in os.environ.items() if "PREFECT" not in name}
    command = [sys.executable, "-m", "flows.cli.main", "serve", "--address", address]
    give_prefect_data(own_home)
    if not alone:
        environment |= {"PREFECT_API_URL": session_server()}
    with (
        (tmp_path / "errors").open("wb") as errors,
        started(command, env=environment, stdout=subprocess.PIPE, stderr=errors, start_new_session=True) as running,
    ):
        said = running.stdout.readline().decode()
        assert said == f"open http://{address}/ to ask; Ctrl-C ends it\n", (tmp_path / "errors").read_text()
        assert httpx.get(f"http://{address}/health", timeout=60).json() == {"waiting": 0, "room": 64}
        prefect = temporary_server(running.pid) if alone else session_server()
        assert httpx.get(f"{prefect}/deployments/name/ask/ask", timeout=60).json()["work_pool_name"] == "flowreader-questions"
        upload = f"http://{address}/api/v1/corpora/small/uploads/scan.png"
        assert httpx.put(upload, content=next(CORPUS.glob("*.pdf")).read_bytes(), timeout=60).status_code == 202
        wait_until(lambda: any("flows.cli.child" in line for line in commands_below(running.pid)))
        below = descendants(running.pid)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(20) == 0, (tmp_path / "errors").read_text()
        wait_until(lambda: not any(Path(f"/proc/{each}").exists() for each in below), 20, lambda: below)
    assert (tmp_path / "errors").read_text() == ""


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch):
    for name in ("ADDRESS", "TOKEN", "QUEUE"):
        monkeypatch.delenv(f"FLOWREADER_ASK_{name}", raising=False)


def test_a_port_that_is_taken_is_named_with_the_remedy(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", f"127.0.0.1:{port}")
        with pytest.raises(RequestError, match=rf"'127.0.0.1:{port}'.*FLOWREADER_ASK_ADDRESS"):
            check_question_settings()
    check_question_settings()
    check_question_settings()  # one that is free stays so


def test_an_address_of_another_machine_is_named():
    with pytest.raises(RequestError, match=r"192\.0\.2\.1"):
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
    with pytest.raises(RequestError) as refused:
        check_question_settings()
    assert what in str(refused.value)


def test_a_disk_that_hangs_does_not_keep_the_doors_shut(home, monkeypatch):
    disk = HungCorpus("far")
    monkeypatch.setattr("flows.service.resident.WARM_UP_SECONDS", 0.2)

    async def world():
        warming = asyncio.create_task(warm_up())
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
            await keep_running("what makes the pages", work)

    asyncio.run(world())
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"what makes the pages stopped: {words}") and "it tries again" in line and "secret" not in line
