import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tasks.models import process as model_process
from tasks.models.process import READY, ModelProcess, interrupt_models

ROOT = Path(__file__).parents[3]
WORKERS = (["tasks.models.ocr_worker"], ["tasks.models.embedding.local_worker", "all-MiniLM-L6-v2", "fp32"])
ECHO = """
import sys, time
from tasks.models.process import READY, reply, speak
def serve(requests, replies):
    reply(replies, READY)
    while line := requests.readline():
        print("a library prints", flush=True)
        if line == b'"hang"\\n':
            time.sleep(600)
        if line == b'"die"\\n':
            raise SystemExit
        reply(replies, line)
speak(serve)
"""


@pytest.fixture
def echo(tmp_path):
    """A process that loads nothing, says every line back, hangs or dies when told so, and prints what it should not."""
    (tmp_path / "echo_worker.py").write_text(ECHO)
    process = ModelProcess("echo_worker", environment={"PYTHONPATH": f"{ROOT}:{tmp_path}"})
    yield process
    process.close()


def is_alive(process: int) -> bool:
    try:
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    except OSError:
        return False


def test_a_reply_is_whole_however_long_and_what_libraries_print_is_not_in_it(echo):
    assert echo.greeting(30) == READY == echo.greeting(0)
    said = ["ä" * 3_000_000, 1]
    assert json.loads(echo.ask(said, (), seconds=30)) == said


@pytest.mark.parametrize("fault", ["hang", "die"])
def test_a_process_that_hangs_or_dies_is_no_reply(echo, fault):
    assert echo.greeting(30) == READY
    assert echo.ask(fault, (), seconds=0.5) is None


def test_an_interrupt_ends_the_waiting_at_once(echo):
    import threading

    assert echo.greeting(30) == READY
    threading.Timer(0.3, interrupt_models).start()
    began = time.monotonic()
    assert echo.ask("hang", (), seconds=60) is None
    assert time.monotonic() - began < 10
    assert echo.ask("more", (), seconds=60) is None


@pytest.mark.torture
@pytest.mark.parametrize("arguments", WORKERS)
def test_a_model_ends_with_a_parent_that_was_killed(arguments):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tasks.models.process import ModelProcess;"
        "child = ModelProcess(*sys.argv[2:], environment={}); print(child._process.pid, child.greeting(60), flush=True);"
        "sys.stdin.read()"
    )
    call = [sys.executable, "-c", code, str(ROOT), *arguments]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        worker, greeting = parent.stdout.readline().split()
        parent.kill()
    assert greeting.startswith(b"b'\"ready")
    deadline = time.monotonic() + 10
    while is_alive(int(worker)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_alive(int(worker))


def test_models_that_nobody_closed_end_when_the_program_does(echo):
    assert echo.greeting(30) == READY
    pid = echo._process.pid
    model_process._close_models()
    assert not is_alive(pid) and os.getpid() != pid
