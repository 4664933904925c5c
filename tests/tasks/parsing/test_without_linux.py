"""What Linux alone has is hidden in a process: parsing goes on without it, says what is lost, and leaves no process behind."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.parsing.jobs import ANSWER, CONFINEMENT, CONFINEMENTS, Work, read_left_bytes, read_left_json
from tests import hostile
from tests.tasks.parsing.test_parser_processes import job_for
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
HIDDEN = """
import ctypes, os, runpy, sys
def found(library, name, found=ctypes.CDLL.__getattr__):
    if name in {"prctl", "unshare", "syscall", "mallopt", "malloc_trim"}:
        raise AttributeError(name)
    return found(library, name)
ctypes.CDLL.__getattr__ = found
del os.pidfd_open, os.O_PATH
"""
WARM = HIDDEN + "sys.argv = ['fork_server', str(os.getppid())]; runpy.run_module('tasks.parsing.fork_server', run_name='__main__')"


@pytest.fixture
def fork_server():
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", WARM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd="/", bufsize=0) as process:
        try:
            assert b"ready" in process.stdout.readline()
            yield process
        finally:
            process.kill()


def send(fork_server, job):
    fork_server.stdin.write(job.model_dump_json().encode() + b"\n")


def test_a_document_is_parsed_and_what_is_lost_is_said(fork_server, tmp_path):
    for folder in ("one", "two"):
        job = job_for(hostile.plain_pdf(tmp_path), tmp_path / folder, work=Work.TEXT_LAYER)
        send(fork_server, job)
        reply = fork_server.stdout.readline()
        assert b'"late": false, "code": 0' in reply, reply
        assert read_left_bytes(job.folder, ANSWER, most_bytes=0) is not None
        (words,) = read_left_json(job.folder, CONFINEMENT, CONFINEMENTS, most_bytes=999)
        assert "neither Landlock nor seccomp" in words


def test_a_child_ends_with_a_fork_server_that_is_killed():
    lines = "import signal, sys, time\nfrom storage.system import end_with_parent, is_running\n"
    inner = f"{HIDDEN}{lines}end_with_parent(signal.SIGKILL); print(os.getpid(), flush=True); time.sleep(60)"
    outer = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {inner!r}]); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", outer], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        descriptor = os.pidfd_open(child)
        try:
            parent.send_signal(signal.SIGKILL)
            wait_until(lambda: select.select([descriptor], [], [], 0)[0], 30)
        finally:
            os.close(descriptor)
