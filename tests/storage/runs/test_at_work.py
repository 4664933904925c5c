"""Whether a run is at work is known for certain: by a lock that ends with its process, however it ends."""

import fcntl
import os
import signal
import subprocess
import sys
import threading

import pytest

from storage.lock import lock_file
from storage.runs.at_work import at_work, close, find_killed_runs, is_at_work, remove_sign, runs_at_work, sign_of
from storage.runs.log import RunLog
from storage.runs.views import read_run
from tests.storage.worlds import corpus_in

WRITER = """
import sys
from pathlib import Path
from storage.runs.at_work import at_work
from storage.runs.log import RunLog

path = Path(sys.argv[1])
with at_work(path):
    RunLog(path).begin(run_id=path.stem, parameters={}, settings={}, code_version="1")
    print("begun", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def writer(location):
    """A run in a process of its own, in the middle of its work."""
    command = [sys.executable, "-c", WRITER, str(location.runs / "r1.jsonl")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"begun\n"
        yield process
        process.kill()


def begun(location, name):
    path = location.runs / f"{name}.jsonl"
    RunLog(path).begin(run_id=name, parameters={}, settings={}, code_version="1")
    return path


def test_a_run_is_at_work_until_its_process_is_killed(location, writer):
    path = location.runs / "r1.jsonl"
    assert is_at_work(path) and find_killed_runs(location) == [] and [each.path for each in runs_at_work(location)] == [path]
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    assert runs_at_work(location) == []
    assert not is_at_work(path) and [each.path for each in find_killed_runs(location)] == [path]


def test_who_looks_whether_a_run_is_at_work_does_not_keep_its_sign_from_it(location, monkeypatch):
    monkeypatch.setattr("storage.runs.log.LOOK_SECONDS", 60.0)
    path = location.runs / "r1.jsonl"
    location.runs.mkdir(parents=True, exist_ok=True)
    with lock_file(sign_of(path)) as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        threading.Timer(0.3, fcntl.flock, [looking, fcntl.LOCK_UN]).start()
        with at_work(path):
            assert is_at_work(path)


def test_a_run_that_ended_and_one_that_never_was_are_not_at_work_and_not_killed(location):
    path = location.runs / "r1.jsonl"
    with at_work(path):
        begun(location, "r1")
        assert is_at_work(path)
        remove_sign(path)
    assert not is_at_work(path) and not is_at_work(location.runs / "r2.jsonl") and find_killed_runs(location) == []


def test_the_killed_are_told_the_oldest_first(location):
    for name, began in (("r1", 30.0), ("r2", 10.0), ("r3", 20.0)):
        with at_work(begun(location, name)):
            pass
        os.utime(sign_of(location.runs / f"{name}.jsonl"), (began, began))
    assert [(each.path.stem, each.began) for each in find_killed_runs(location)] == [("r2", 10.0), ("r3", 20.0), ("r1", 30.0)]


def test_a_closed_run_has_a_last_line_behind_all_others_even_where_its_own_was_cut(location):
    path = begun(location, "r1")
    with at_work(path):
        path.write_bytes(path.read_bytes() + b'{"sequence": 1, "kind": "st')
    close(path, outcome="killed, taken over by r2", snapshot=4)
    run = read_run(path)
    assert [(entry["sequence"], entry["kind"]) for entry in run.entries] == [(0, "run"), (1, "end")] and run.torn == 1
    assert run.entries[-1]["outcome"] == "killed, taken over by r2" and not sign_of(path).exists()


def test_a_run_that_is_at_work_already_is_not_waited_for(tmp_path):
    path = tmp_path / "runs" / "r1.jsonl"
    with at_work(path), at_work(path):
        assert is_at_work(path)


def test_a_sign_that_goes_while_it_is_looked_at_tells_of_no_kill(tmp_path):
    location = corpus_in(tmp_path)
    location.runs.mkdir(parents=True, exist_ok=True)
    sign_of(location.runs / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    assert find_killed_runs(location) == [] == runs_at_work(location)
