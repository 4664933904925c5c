import fcntl
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from storage.errors import ExpectedError
from storage.records.steps import StepRecord
from storage.runs.log import RunLog, is_cut
from storage.runs.views import read_run
from storage.system import DiskFullError
from tests.storage.answer_worlds import asking_log
from tests.storage.worlds import corpus_in

STEP = StepRecord("r1", "parse", "1", "k", "a.pdf", "2026-01-01T00:00:00Z", 0.5, 1, False, {"parsed": "h"})


def test_a_run_is_read_as_it_was_written(tmp_path):
    log = RunLog(tmp_path / "runs" / "r1.jsonl")
    log.begin(run_id="r1", parameters={"paths": ["a"]}, settings={"x": 1}, code_version="abc")
    log.plan(documents=2)
    log.step(replace(STEP, subject="a\udcff.pdf"))
    log.step(replace(STEP, error="it failed"))
    log.call({"purpose": "analyze", "input_tokens": 7})
    log.end(run_id="r1", outcome="done", snapshot=3)
    run = read_run(log.path)
    assert run.steps() == [replace(STEP, subject="a\\udcff.pdf"), replace(STEP, error="it failed")]
    assert [entry["kind"] for entry in run.entries] == ["run", "plan", "step", "step", "call", "end"]
    assert (run.entries[4]["purpose"], run.entries[4]["input_tokens"]) == ("analyze", 7)
    assert (run.torn, run.entries[1]["documents"], run.entries[-1]["snapshot"]) == (0, 2, 3)


def test_order_is_by_sequence(tmp_path):
    log = RunLog(tmp_path / "r1.jsonl")
    for number in range(3):
        log.step(replace(STEP, attempts=number))
    log.path.write_bytes(b"".join(log.path.read_bytes().splitlines(keepends=True)[::-1]))
    assert [step.attempts for step in read_run(log.path).steps()] == [0, 1, 2]


def test_threads_write_whole_lines(tmp_path):
    log = RunLog(tmp_path / "r1.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: log.step(replace(STEP, attempts=number)), range(200)))
    run = read_run(log.path)
    assert (run.torn, sorted(step.attempts for step in run.steps())) == (0, list(range(200)))
    assert [entry["sequence"] for entry in run.entries] == list(range(200))


def test_a_write_that_is_cut_short_goes_on(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    RunLog(tmp_path / "r1.jsonl").step(STEP)
    assert read_run(tmp_path / "r1.jsonl").steps() == [STEP]


def test_a_full_disk_names_the_folder(tmp_path):
    path = tmp_path / "r1.jsonl"
    path.symlink_to("/dev/full")
    with pytest.raises(DiskFullError, match=f"disk full at '{tmp_path}'"):
        RunLog(path).step(STEP)


def test_a_line_that_a_full_disk_cut_costs_no_other(tmp_path):
    log = RunLog(tmp_path / "r1.jsonl")
    log.step(STEP)
    log.path.write_bytes(log.path.read_bytes() + b'{"kind": "st')
    log.step(STEP)
    log.answer({"answer_id": "a"})
    run = read_run(log.path)
    assert ([entry["kind"] for entry in run.entries], run.torn) == (["step", "step", "answer"], 1)
    assert [is_cut(line) for line in log.path.read_bytes().splitlines()] == [False, True, False, False]


@pytest.mark.parametrize("line", [b"", b"3", b'{"kind"', b"\xff"])
def test_what_is_no_object_was_cut(line):
    assert is_cut(line) and not is_cut(b'{"kind": "of tomorrow"}')


def test_a_run_does_not_bring_back_a_corpus_that_was_removed_meanwhile(tmp_path):
    location = corpus_in(tmp_path)
    log = asking_log(location, "r1")
    log.begin(run_id="r1", parameters={}, settings={}, code_version="1")
    shutil.rmtree(location.folder)
    with pytest.raises(ExpectedError, match="removed meanwhile; ingest"):
        log.answer({"answer_id": "a"})
    assert not location.folder.exists()


def test_who_waited_for_a_file_that_was_replaced_writes_to_the_new_one(tmp_path):
    log = RunLog(tmp_path / "r1.jsonl")
    log.step(STEP)
    with ThreadPoolExecutor() as pool, log.path.open("rb") as old:
        fcntl.flock(old, fcntl.LOCK_EX)
        waiting = pool.submit(log.step, replace(STEP, attempts=2))
        with pytest.raises(TimeoutError):
            waiting.result(0.2)
        (tmp_path / "new").write_bytes(log.path.read_bytes())
        (tmp_path / "new").replace(log.path)
        fcntl.flock(old, fcntl.LOCK_UN)
        waiting.result(20)
    assert [step.attempts for step in read_run(log.path).steps()] == [1, 2]


def test_lines_that_are_held_are_written_when_they_are_released_and_once(tmp_path):
    log = RunLog(tmp_path / "r.jsonl")
    together = log.holding()
    together.step(STEP)
    log.step(replace(STEP, subject="at once"))
    assert [record.subject for record in read_run(log.path).steps()] == ["at once"]
    for _ in range(2):
        together.release()
    assert [record.subject for record in read_run(log.path).steps()] == [STEP.subject, "at once"]
