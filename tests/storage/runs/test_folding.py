"""Closed runs are folded into Parquet: nothing is lost, nothing counts twice, and what is removed is erased there too."""

import os
import signal
import sys
import time
from itertools import count

import pytest

from storage import artifacts
from storage.runs import folding
from storage.runs.answer_json import answer_json
from storage.runs.answers import find_answer, read_answers
from storage.runs.at_work import at_work
from storage.runs.erasing import erase_quotes
from storage.runs.folding import fold_closed_runs, unfold
from storage.runs.log import RunLog
from storage.runs.views import opened_runs, read_run
from storage.system import DiskFullError
from tests.storage.answer_worlds import answer, asking_log, numbered
from tests.storage.worlds import corpus_in, document_id

REPORT, PAPER = document_id("report"), document_id("paper")


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def keep(location, *answers, run="r1", ended=True):
    log = asking_log(location, run)
    log.begin(run_id=run, parameters={}, settings={}, code_version="1")
    for each in answers:
        log.answer(answer_json(each))
    if ended:
        log.end(run_id=run, outcome="ended", snapshot=3)
    return log.path


def fold(location):
    return fold_closed_runs(location, before=time.time() + 1)


def suffixes(location):
    return sorted(path.suffix for path in location.runs.iterdir())


def everything(location):
    with opened_runs(location.runs) as runs:
        return runs.read("true")


def test_what_was_folded_is_read_as_it_was_written(location):
    answers = numbered(3, "report", "paper")
    keep(location, *answers[:2], run="a")
    keep(location, answers[2], run="b")
    before = everything(location)
    assert fold(location) == 2 and suffixes(location) == [".parquet"]
    assert everything(location) == before
    assert len(read_answers(location, present=())) == 3
    assert find_answer(location, answers[1].answer_id[:8], present=()) == answers[1]
    with opened_runs(location.runs) as runs:
        assert runs.ids() == ["ask-a", "ask-b"]
    keep(location, answer("report"), run="c")
    assert fold(location) == 1 and suffixes(location) == [".parquet", ".parquet"] and len(everything(location)) == 3
    assert fold(location) == 0 == fold_closed_runs(corpus_in(location.folder / "nothing"), before=0)


def test_runs_that_are_not_closed_or_are_damaged_or_young_stay(location):
    keep(location, answer("report"), run="open", ended=False)
    damaged = keep(location, answer("report"), run="damaged")
    damaged.write_bytes(damaged.read_bytes() + b'{"sequence"')
    with at_work(keep(location, answer("report"), run="busy")):
        assert fold(location) == 0
    young = keep(location, answer("paper"), run="young")
    assert fold_closed_runs(location, before=young.stat().st_mtime - 60) == 0
    assert ".parquet" not in suffixes(location)


def test_words_of_a_removed_document_are_erased_from_what_was_folded(location):
    keep(location, answer("report", "paper"), run="a")
    keep(location, answer("report"), run="b")
    fold(location)
    keep(location, answer("report", question="What else?"), run="c")
    fold(location)
    assert erase_quotes(location, {PAPER}) == 1
    assert suffixes(location) == [".jsonl", ".parquet", ".parquet"]
    assert b"of paper" not in (location.runs / "ask-a.jsonl").read_bytes()
    with opened_runs(location.runs) as runs:
        assert sorted(runs.rows("SELECT DISTINCT run_id FROM parquet")) == [("ask-b",), ("ask-c",)]
    assert erase_quotes(location, {REPORT}) == 3 and suffixes(location) == [".jsonl"] * 3
    assert fold(location) == 3 and len(read_answers(location, present=())) == 3


def test_a_run_that_is_tried_again_goes_on_in_its_file(location):
    path = keep(location, answer("report"), run="a")
    before = path.read_bytes()
    fold(location)
    unfold(location.runs, "run_id = $run_id", run_id="ask-a")
    assert path.read_bytes() == before and suffixes(location) == [".jsonl"]
    unfold(location.runs, "true")
    assert path.read_bytes() == before


def test_a_run_in_both_forms_counts_once_and_the_file_with_more_lines_stays(location):
    path = keep(location, answer("report"), run="a")
    before = path.read_bytes()
    fold(location)
    path.write_bytes(before)
    assert len(read_answers(location, present=())) == 1
    assert fold(location) == 1 and suffixes(location) == [".parquet"]
    path.write_bytes(before)
    RunLog(path, iter([7])).end(run_id="ask-a", outcome="ended", snapshot=4)
    assert fold(location) == 0 and len(read_run(path).entries) == 4


def in_child(location, act, moment):
    """Act in a child that is killed at its n-th line; return its exit status, 0 where it lived to the end."""
    child = os.fork()
    if not child:
        left = moment

        def step(frame, event, _argument):
            nonlocal left
            if frame.f_code.co_filename not in (artifacts.__file__, folding.__file__):
                return None
            left -= event == "line"
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return step

        sys.settrace(step)
        act()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("back", [False, True])
def test_a_kill_at_any_moment_of_folding_loses_nothing_and_the_next_time_finishes(location, back):
    answers = numbered(2, "report", "paper")
    paths = [keep(location, each, run=name) for each, name in zip(answers, "ab", strict=True)]
    whole = [path.read_bytes() for path in paths]
    for moment in count(1, 5):
        for path in location.runs.iterdir():
            path.unlink()
        for path, data in zip(paths, whole, strict=True):
            path.write_bytes(data)
        expected = everything(location)
        if back:
            fold(location)
        act = (lambda: unfold(location.runs, "true")) if back else (lambda: fold(location))
        exit_code = in_child(location, act, moment)
        assert everything(location) == expected
        act()
        assert everything(location) == expected
        assert suffixes(location) == ([".jsonl", ".jsonl"] if back else [".parquet"])
        if exit_code == 0:
            break
    assert moment > 15


def test_a_full_disk_while_folding_leaves_the_files(location, monkeypatch):
    keep(location, answer("report"), run="a")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(DiskFullError, match=str(location.runs)):
        patched.setattr(os, "fsync", full)
        fold(location)
    assert len(read_answers(location, present=())) == 1 and fold(location) == 1 and suffixes(location) == [".parquet"]


def test_a_file_that_may_not_be_read_is_named(location, monkeypatch):
    keep(location, answer("report"), run="a")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert [run.unreadable for run in everything(location)] == ["Permission denied"]


def test_a_damaged_parquet_file_is_named_and_hides_no_other(location):
    keep(location, answer("report"), run="a")
    fold(location)
    keep(location, answer("paper"), run="b")
    (damaged,) = location.runs.glob("*.parquet")
    damaged.write_bytes(damaged.read_bytes()[:-3])
    assert [(run.run_id, run.unreadable) for run in everything(location)] == [("00000001", "it is damaged"), ("ask-b", "")]
    assert fold(location) == 1 and [run.run_id for run in everything(location)] == ["00000001", "ask-b"]
    unfold(location.runs, "true")
    assert suffixes(location) == [".jsonl", ".parquet"]
