import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from storage.errors import UnknownError
from tasks.models import process as model_process
from tasks.models.process import ModelProcess, interrupt_models
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
WORKERS = (["tasks.models.ocr_worker"], ["tasks.models.embedding.local_worker", "all-MiniLM-L6-v2", "fp32"])
ECHO = """
import os, time
from storage.errors import ExpectedError
from tasks.models.process import speak
def load():
    if "READY" not in os.environ:
        raise ExpectedError("no such model")
    return reply
def reply(request):
    print("a library prints", flush=True)
    if request == "stop in the middle":
        os.write(0, (1000).to_bytes(4, "big") + b"some")
    if request in ("hang", "stop in the middle"):
        time.sleep(600)
    if request == "die":
        raise SystemExit
    return request
speak(load)
"""


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Starts processes that load nothing: they reply with the request, hang or die on request, and print what they should not."""
    monkeypatch.setattr(model_process, "_living", set())  # models of other tests live on
    (tmp_path / "echo_worker.py").write_text(ECHO)
    processes = []

    def start(**environment):
        environment = {"PYTHONPATH": f"{ROOT}:{tmp_path}"} | environment
        processes.append(ModelProcess("echo_worker", failure=UnknownError, environment=environment))
        return processes[-1]

    yield start
    for process in processes:
        process.close()


@pytest.fixture
def echo(started):
    return started(READY="yes")


def is_alive(process: int) -> bool:
    try:
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except OSError:
        return False


def test_a_reply_is_whole_however_long_and_what_libraries_print_is_not_in_it(echo):
    request = os.urandom(6_000_000)
    assert echo.ask(request, seconds=30) == request


@pytest.mark.parametrize("fault", ["hang", "stop in the middle", "die"])
def test_a_process_that_hangs_or_dies_is_no_reply_and_the_next_request_starts_another(echo, fault):
    assert echo.ask(b"well", seconds=30) == b"well"
    assert echo.ask(fault, seconds=0.5) is None
    assert echo.ask(b"well again", seconds=30) == b"well again"


def test_a_model_that_does_not_load_is_a_failure_in_its_own_words_or_with_the_command_that_shows_why(started, monkeypatch):
    with pytest.raises(UnknownError, match="no such model"):
        started().ask(b"", seconds=30)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(UnknownError, match=r"echo_worker does not start; `cd .* -m echo_worker` says why"):
        started().ask(b"", seconds=30)


def test_an_interrupt_ends_the_waiting_at_once(echo):
    assert echo.ask(b"", seconds=30) == b""
    threading.Timer(0.3, interrupt_models).start()
    began = time.monotonic()
    assert echo.ask("hang", seconds=60) is None
    assert time.monotonic() - began < 30


@pytest.mark.torture
@pytest.mark.parametrize("arguments", WORKERS)
def test_a_model_ends_with_a_parent_that_was_killed(arguments):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tasks.models.process import ModelProcess;"
        "from storage.errors import UnknownError;"
        "child = ModelProcess(*sys.argv[2:], failure=UnknownError, environment={}); child.start();"
        "print(child._process.pid, child._receive().decode(), flush=True); sys.stdin.read()"
    )
    call = [sys.executable, "-c", code, str(ROOT), *arguments]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        worker, greeting = parent.stdout.readline().split()
        parent.kill()
    assert greeting == b"ready"
    wait_until(lambda: not is_alive(int(worker)), 60)


def test_a_model_whose_parent_was_killed_before_it_could_look_ends_too(started, echo):
    assert echo.ask(b"well", seconds=30) == b"well"
    orphan = started(READY="yes", **{model_process.PARENT: "0"})
    orphan.start()
    assert orphan._process.wait(60) == 1


def test_models_that_are_still_open_end_when_the_program_does(echo):
    assert echo.ask(b"", seconds=30) == b""
    model_process._end_models()
    assert not is_alive(echo._process.pid)
