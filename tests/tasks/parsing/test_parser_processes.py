"""The processes that parse: warm, confined, ended in time, and replaced where one is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from storage.records.documents import DocumentState
from tasks.parsing.jobs import ANSWER, CONFINEMENT, CONFINEMENTS, Job, Work, read_left_json
from tasks.parsing.supervisor import Children, ForkServer
from tasks.parsing.supervisor import _account as account
from tasks.settings.ingest import LimitSettings, OcrSettings, ParseSettings
from tests import hostile
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]


def job_for(source: Path, folder: Path, **changes) -> Job:
    folder.mkdir(parents=True)
    given = {"work": Work.SURVEY, "cpu_seconds": 20, "wall_seconds": 60, "limits": LimitSettings(), "parse": ParseSettings()}
    return Job(source=source, folder=folder, name=source.name, ocr=OcrSettings(), **given | changes)


def test_a_parser_process_ends_before_it_is_warm_when_another_process_is_its_parent():
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tasks.parsing.fork_server", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT) as fork_server:
        assert fork_server.stdout.readline() == b""
        assert fork_server.wait(60) == 1


@pytest.fixture(scope="module")
def children():
    pool = Children()
    yield pool
    pool.stop()


def reply(**changes) -> dict[str, object]:
    return {"late": False, "code": 0, "cpu_seconds": 1.5, "peak_megabytes": 90.0} | changes


@pytest.mark.torture
def test_a_parser_that_was_warmed_does_the_first_job(tmp_path):
    children = Children()
    try:
        children.warm()
        deadline = time.monotonic() + 60
        while not children._idle and time.monotonic() < deadline:
            time.sleep(0.05)
        (warmed,) = children._idle
        assert children.run(job_for(hostile.plain_pdf(tmp_path), tmp_path / "job"), at_once=1).answered
        assert children._idle == [warmed]
    finally:
        children.stop()


def test_a_child_answers_fully_confined_and_accounts_for_itself(children, tmp_path):
    ending = children.run(job_for(hostile.plain_pdf(tmp_path), tmp_path / "job"), at_once=1)
    assert (ending.problem, ending.refusal, ending.answered) == ("", None, True)
    assert 0 < ending.cpu_seconds < 20
    assert read_left_json(tmp_path / "job", CONFINEMENT, CONFINEMENTS, most_bytes=999) == ()


def test_a_refusal_is_final_and_an_exception_is_not(children, tmp_path):
    refused = children.run(job_for(hostile.zero_bytes(tmp_path), tmp_path / "one"), at_once=1)
    assert refused.refusal.state is DocumentState.FAILED and "zero bytes" in refused.refusal.reason and not refused.answered
    beyond = {"work": Work.TEXT_LAYER, "first_page": 9, "last_page": 9}
    failed = children.run(job_for(hostile.plain_pdf(tmp_path), tmp_path / "two", **beyond), at_once=1)
    assert failed.problem.startswith("failed (") and (failed.refusal, failed.answered) == (None, False)


@pytest.mark.torture
def test_a_child_that_hangs_is_ended(children, tmp_path):
    job = job_for(hostile.cpu_burning_pdf(tmp_path), tmp_path / "job", work=Work.MINERU, wall_seconds=2)
    assert children.run(job, at_once=1).problem == "hung for 2 s"


@pytest.mark.torture
def test_a_lost_fork_server_is_replaced(children, tmp_path):
    path = hostile.plain_pdf(tmp_path)
    children.run(job_for(path, tmp_path / "first"), at_once=1)
    for fork_server in children._idle:
        fork_server._process.kill()
    assert children.run(job_for(path, tmp_path / "second"), at_once=1).answered


def test_a_parser_that_was_stopped_while_it_warmed_is_ended():
    pool = Children()
    pool.warm()
    (warming,) = wait_until(lambda: set(pool._busy))
    pool.stop()
    assert warming._process.wait(60) == -signal.SIGKILL
    wait_until(lambda: not pool._busy)
    assert not pool._idle


@pytest.mark.torture
def test_no_more_children_work_at_once_than_allowed(children, tmp_path, monkeypatch):
    serve, seen = ForkServer.serve, []

    def counted(self, job):
        seen.append(len(children._busy))
        return serve(self, job)

    monkeypatch.setattr(ForkServer, "serve", counted)
    path = hostile.plain_pdf(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(children.run, job_for(path, tmp_path / str(place)), at_once=2) for place in range(8)]
    assert all(job.result().answered for job in jobs)
    assert len(seen) == 8 and max(seen) <= 2 and len(children._idle) <= 2


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (reply(code=-signal.SIGXCPU), "used more than 20 s of CPU time"),
        (reply(code=4), "used more than 3072 MB"),
        (reply(code=-signal.SIGSEGV, peak_megabytes=3000.0), "used more than 3072 MB"),
        (reply(code=-signal.SIGSEGV), "crashed (SIGSEGV)"),
        (reply(code=7), "ended with code 7"),
        (reply(), ""),
    ],
)
def test_the_end_of_a_child_is_reported_in_words(ended, words, tmp_path):
    assert account(job_for(tmp_path, tmp_path / "job"), ended).problem == words


@pytest.mark.parametrize(
    ("work", "limit", "problem"),
    [
        (Work.WHOLE, "output_megabytes", "wrote more than 1 MB"),
        (Work.WHOLE, "answer_megabytes", "found more than 1 MB of text"),
        (Work.RENDER, "answer_megabytes", ""),
    ],
)
def test_an_answer_over_the_limit_is_not_read_but_a_large_drawing_is_no_text(work, limit, problem, tmp_path):
    job = job_for(tmp_path, tmp_path / "job", limits=LimitSettings(**{limit: 1}), work=work)
    (job.folder / ANSWER).write_bytes(bytes(2 << 20))
    ending = account(job, reply())
    assert (ending.problem, ending.answered) == (problem, not problem)


def test_the_parser_process_is_of_one_thread_knows_no_secret_and_ignores_ctrl_c(monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_API_KEY", "sk-secret")
    fork_server = ForkServer()
    try:
        fork_server.wait_until_warm()
        process = Path(f"/proc/{fork_server._process.pid}")
        assert len(list((process / "task").iterdir())) == 1
        assert b"sk-secret" not in (process / "environ").read_bytes()
        kept = {Path(entry).readlink() for entry in (process / "fd").iterdir()}
        assert all(str(target).startswith(("pipe:", "/dev/")) for target in kept)
        fork_server._process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert fork_server._process.poll() is None
    finally:
        fork_server.close()
    assert fork_server._process.returncode == 0


CONFINED = """
import errno, json, os, socket, subprocess, sys
from pathlib import Path
from tasks.parsing.jobs import Job
from tasks.parsing.child import confine
job = Job.model_validate_json(sys.argv[1])
missing = confine(job)

def attempt(act):
    try:
        act()
    except MemoryError:
        return "MemoryError"
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"

secret, outside = Path(sys.argv[2]), Path(sys.argv[3])
print(json.dumps({
    "missing": missing,
    "internet": attempt(lambda: socket.socket(socket.AF_INET)),
    "unix": attempt(lambda: socket.socket(socket.AF_UNIX)),
    "program": attempt(lambda: os.execv("/bin/true", ["true"])) if job.confined else "",
    "secret": attempt(secret.read_bytes),
    "passwords": attempt(Path("/etc/passwd").read_bytes),
    "environment": attempt(Path(f"/proc/{os.getppid()}/environ").read_bytes),
    "outside": attempt(lambda: outside.write_text("x")),
    "document": attempt(job.source.read_bytes),
    "folder": attempt(lambda: (job.folder / "x").write_text("x")),
    "large": attempt(lambda: (job.folder / "y").write_bytes(bytes(3 << 20))),
    "memory": attempt(lambda: bytearray(600 << 20)),
}))
"""


def attempts(folder: Path, tier: str) -> dict[str, object]:
    (folder / "document").write_text("a document")
    (folder / "secret").write_text("secret")
    limits = LimitSettings(memory_megabytes=512, output_megabytes=2)
    job = job_for(folder / "document", folder / "job", work=Work.MINERU, parse=ParseSettings(tier=tier), limits=limits)
    command = [sys.executable, "-c", CONFINED, job.model_dump_json(), str(folder / "secret"), str(folder / "outside")]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)


def test_a_confined_process_has_no_network_no_other_program_and_no_file_but_its_own(tmp_path):
    found = attempts(tmp_path, "flash")
    assert not [words for words in found["missing"] if "network" in words]
    assert found["internet"] == found["unix"] == found["program"] == "EPERM"
    assert found["document"] == found["folder"] == "done"
    assert (found["large"], found["memory"]) == ("EFBIG", "MemoryError")
    if found["missing"]:
        pytest.skip("this kernel has no Landlock")
    assert found["secret"] == found["passwords"] == found["environment"] == found["outside"] == "EACCES"
    assert not (tmp_path / "outside").exists()


def test_a_model_tier_keeps_its_network_and_has_the_limits(tmp_path):
    found = attempts(tmp_path, "standard")
    assert found["internet"] == found["secret"] == "done"
    assert found["memory"] == "MemoryError"
