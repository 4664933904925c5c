"""Processes that are started together end together."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from deployments.children import ROOT, descendants, end_all, start
from deployments.up import wait_until_ready
from storage.errors import ExpectedError
from tests.waiting import wait_until

PARENT = """
import sys, time
from pathlib import Path
from deployments.children import adopt_orphans, kill_all, start
adopt_orphans()
child = start("sleeper", "tests_sleeper", log=Path(sys.argv[1]) / "log")
while len(Path(sys.argv[1], "log").read_text().split()) < 2:
    time.sleep(0.02)
print(child.process.pid, *Path(sys.argv[1], "log").read_text().split(), flush=True)
if sys.argv[2] == "orphan":
    child.process.kill()
    time.sleep(0.2)
    kill_all()
    print("killed", flush=True)
time.sleep(60)
"""
SLEEPER = """
import os, subprocess, sys, time
inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(os.getpid(), inner.pid, flush=True)
time.sleep(60)
"""


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def parent(tmp_path):
    (tmp_path / "tests_sleeper.py").write_text(textwrap.dedent(SLEEPER))
    started = []

    def run(what):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
        process = subprocess.Popen(
            [sys.executable, "-c", PARENT, str(tmp_path), what], env=environment, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process, [int(word) for word in process.stdout.readline().split()]

    yield run
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_child_ends_with_a_parent_that_is_killed(parent):
    process, (child, said, inner) = parent("wait")
    assert child == said and os.getpgid(child) == os.getpgid(process.pid)
    process.kill()
    wait_until(lambda: not is_alive(child), 5)
    os.kill(inner, signal.SIGKILL)


def test_what_a_dead_child_left_is_found_and_killed(parent):
    process, (_child, _said, inner) = parent("orphan")
    assert process.stdout.readline() == "killed\n"
    wait_until(lambda: not is_alive(inner), 5)


def test_ctrl_c_is_not_for_the_children(parent):
    _process, (child, _said, _inner) = parent("wait")
    os.kill(child, signal.SIGINT)
    time.sleep(0.5)
    assert is_alive(child)


READY = """
import sys, time
time.sleep(1.2)
from deployments.children import say_ready
say_ready("what it does", "at this address")
time.sleep(60)
"""


def test_a_child_says_when_it_is_ready_and_ends_when_asked(tmp_path, monkeypatch, capfd):
    (tmp_path / "tests_ready.py").write_text(READY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    child = start("the sleeper", "tests_ready")
    monkeypatch.setattr("deployments.up.SILENCE_SECONDS", 0.0)
    assert wait_until_ready([child]) == ["at this address"]
    shown = capfd.readouterr().out
    assert re.fullmatch(r"(still starting after \d s: the sleeper \.\.\.\n)+the sleeper is up after \d s\n", shown), shown
    end_all([child.process.pid], seconds=0.2)
    assert child.process.wait(timeout=5) == -signal.SIGTERM and child.process.pid not in descendants(os.getpid())


def test_a_child_that_ends_before_it_is_ready_is_an_error_with_its_last_lines(tmp_path):
    with pytest.raises(ExpectedError, match=r"^the parser ended with code 2, and everything with it \(.*arguments are required"):
        wait_until_ready([start("the parser", "py_compile", log=tmp_path / "log")])
