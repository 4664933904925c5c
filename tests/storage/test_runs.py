from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from storage.disk import DiskFullError
from storage.records import StepRecord
from storage.runs import RunLog, read_run, write_whole

STEP = StepRecord("r1", "parse", "1", "k", "a\udcff.pdf", "2026-01-01T00:00:00Z", 0.5, 1, False, {"parsed": "h"})


def test_a_run_is_read_as_it_was_written(tmp_path):
    log = RunLog(tmp_path / "runs" / "r1.jsonl")
    log.begin(run_id="r1", parameters={"paths": ["a"]}, settings={"x": 1}, code_version="abc")
    log.step(STEP)
    log.step(replace(STEP, error="it failed"))
    log.end(run_id="r1", outcome="done", snapshot=3)
    run = read_run(log.path)
    assert run.steps() == [STEP, replace(STEP, error="it failed")]
    assert [entry["kind"] for entry in run.entries] == ["run", "step", "step", "end"]
    assert (run.torn, run.entries[-1]["snapshot"]) == (0, 3)


def test_lines_cut_by_a_kill_are_left_out_and_counted(tmp_path):
    log = RunLog(tmp_path / "r1.jsonl")
    log.step(STEP)
    log.step(STEP)
    whole = log.path.read_bytes()
    for cut in range(len(whole) // 2 + 1, len(whole) - 1):
        log.path.write_bytes(whole[:cut])
        run = read_run(log.path)
        assert (len(run.steps()), run.torn) == (1, 1)


@pytest.mark.parametrize("line", [b"3", b"null", b"{}", b'{"sequence": 1, "kind": "?"}', b"\xff\xfe"])
def test_a_line_that_is_no_entry_is_counted(tmp_path, line):
    path = tmp_path / "r1.jsonl"
    path.write_bytes(line + b"\n")
    assert read_run(path).torn == 1


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
    import os

    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    RunLog(tmp_path / "r1.jsonl").step(STEP)
    assert read_run(tmp_path / "r1.jsonl").steps() == [STEP]


def test_a_full_disk_is_said():
    import os

    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(OSError, match="No space"):
            write_whole(full, b"x")
    finally:
        os.close(full)


def test_a_full_disk_names_the_folder(tmp_path):
    path = tmp_path / "r1.jsonl"
    path.symlink_to("/dev/full")
    with pytest.raises(DiskFullError, match=f"disk full at {tmp_path}"):
        RunLog(path).step(STEP)
