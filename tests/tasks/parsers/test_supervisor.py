"""Children are lent a few at a time, their ends are told in words, and one that hangs is ended."""

import signal
import threading
import time
from pathlib import Path

import pytest

from storage.records import DocumentState
from tasks.parsers.jobs import ANSWER, REFUSAL, REFUSALS, Job, Refusal, Work
from tasks.parsers.supervisor import Children, Zygote, missing_confinement
from tasks.parsers.supervisor import _account as account
from tasks.settings import LimitSettings, OcrSettings, ParseSettings
from tests import hostile


@pytest.fixture
def children():
    pool = Children()
    yield pool
    pool.stop()


def job_for(source: Path, folder: Path, **changes) -> Job:
    folder.mkdir()
    given = {"work": Work.SURVEY, "cpu_seconds": 20, "wall_seconds": 60, "limits": LimitSettings()} | changes
    return Job(source=source, folder=folder, name=source.name, parse=ParseSettings(), ocr=OcrSettings(), **given)


def reply(**changes) -> dict[str, object]:
    return {"late": False, "code": 0, "cpu_seconds": 1.5, "peak_megabytes": 90.0} | changes


def test_a_child_answers_fully_confined_and_accounts_for_itself(children, tmp_path):
    ending = children.run(job_for(hostile.plain_pdf(tmp_path), tmp_path / "job"), at_once=1)
    assert (ending.problem, ending.refusal, ending.answered) == ("", None, True)
    assert 0 < ending.cpu_seconds < 20
    assert 20 < ending.peak_megabytes < 1000
    assert missing_confinement(tmp_path / "job") == ()


def test_a_child_that_hangs_is_ended(children, tmp_path):
    job = job_for(hostile.cpu_burning_pdf(tmp_path), tmp_path / "job", work=Work.MINERU, wall_seconds=2)
    assert children.run(job, at_once=1).problem == "hung for 2 s"


def test_a_lost_zygote_is_replaced(children, tmp_path):
    path = hostile.plain_pdf(tmp_path)
    children.run(job_for(path, tmp_path / "first"), at_once=1)
    children._idle[0]._process.kill()
    assert children.run(job_for(path, tmp_path / "second"), at_once=1).answered


def test_a_parser_that_was_warmed_does_the_first_job(children, tmp_path):
    children.warm()
    deadline = time.monotonic() + 60
    while not children._idle and time.monotonic() < deadline:
        time.sleep(0.05)
    (warmed,) = children._idle
    assert children.run(job_for(hostile.plain_pdf(tmp_path), tmp_path / "job"), at_once=1).answered
    assert children._idle == [warmed]


def test_a_parser_that_was_stopped_while_it_warmed_is_ended():
    pool = Children()
    pool.warm()
    while not pool._busy:
        time.sleep(0.01)
    pool.stop()
    began = time.monotonic()
    while pool._busy:
        time.sleep(0.05)
    assert not pool._idle
    assert time.monotonic() - began < 3


def test_no_more_children_work_at_once_than_allowed(children, tmp_path, monkeypatch):
    path, most, inside, guard = hostile.plain_pdf(tmp_path), [0], [0], threading.Lock()
    serve = Zygote.serve

    def counted(self, job):
        with guard:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        try:
            return serve(self, job)
        finally:
            with guard:
                inside[0] -= 1

    monkeypatch.setattr(Zygote, "serve", counted)
    jobs = [job_for(path, tmp_path / str(place)) for place in range(8)]
    threads = [threading.Thread(target=children.run, args=(job,), kwargs={"at_once": 2}) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most[0] <= 2
    assert len(children._idle) <= 2


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (reply(code=-signal.SIGXCPU), "used more than 20 s of CPU time"),
        (reply(code=4), "used more than 3072 MB"),
        (reply(code=-signal.SIGSEGV, peak_megabytes=3000.0), "used more than 3072 MB"),
        (reply(code=-signal.SIGSEGV), "crashed (SIGSEGV)"),
        (reply(code=7), "ended with code 7"),
        (reply(), ""),
    ],
)
def test_an_end_is_told_in_words(told, words, tmp_path):
    assert account(job_for(tmp_path, tmp_path / "job"), told).problem == words


def test_an_exception_is_told_and_a_refusal_is_handed_on(tmp_path):
    job = job_for(tmp_path, tmp_path / "job")
    words = Refusal(state=DocumentState.FAILED, reason="ValueError: no", final=False)
    (job.folder / REFUSAL).write_bytes(REFUSALS.dump_json(words))
    assert account(job, reply(code=5)).problem == "failed (ValueError: no)"
    assert account(job, reply(code=5)).refusal is None
    final = Refusal(state=DocumentState.NEEDS_PASSWORD, reason="it is encrypted", final=True)
    (job.folder / REFUSAL).write_bytes(REFUSALS.dump_json(final))
    assert account(job, reply(code=3)).refusal == final


def test_an_answer_over_the_limit_is_not_read(tmp_path):
    job = job_for(tmp_path, tmp_path / "job", limits=LimitSettings(output_megabytes=1))
    (job.folder / ANSWER).write_bytes(bytes(2 << 20))
    ending = account(job, reply())
    assert (ending.problem, ending.answered) == ("wrote more than 1 MB", False)


def test_more_text_than_we_can_read_whole_is_not_read_but_a_large_drawing_is(tmp_path):
    limits = LimitSettings(answer_megabytes=1)
    job, drawing = (job_for(tmp_path, tmp_path / work, limits=limits, work=work) for work in (Work.WHOLE, Work.RENDER))
    for one in (job, drawing):
        (one.folder / ANSWER).write_bytes(bytes(2 << 20))
    assert (account(job, reply()).problem, account(job, reply()).answered) == ("found more than 1 MB of text", False)
    assert account(drawing, reply()).answered


def test_the_parser_process_is_of_one_thread_and_knows_no_secret(monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_API_KEY", "sk-secret")
    zygote = Zygote()
    try:
        zygote.wait_until_warm()
        process = Path(f"/proc/{zygote._process.pid}")
        assert len(list((process / "task").iterdir())) == 1
        assert b"sk-secret" not in (process / "environ").read_bytes()
        kept = {Path(entry).readlink() for entry in (process / "fd").iterdir()}
        assert all(str(target).startswith(("pipe:", "/dev/")) for target in kept)
    finally:
        zygote.close()
