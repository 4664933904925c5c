"""No word of a removed document stays in the files, and no answer is lost for it."""

import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from storage import artifacts
from storage.cleaning import erasing
from storage.cleaning.erasing import erase_quotes
from storage.runs import log
from storage.runs.answer_json import answer_json
from storage.runs.answers import find_answer, read_answers
from storage.runs.log import asking_files
from storage.runs.views import read_run
from storage.system import DiskFullError
from tests.storage.answer_worlds import answer, asking_log, numbered, words_of
from tests.storage.worlds import corpus_in, document_id

ROOT = Path(__file__).parents[3]
REPORT, PAPER = document_id("report"), document_id("paper")


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def keep(location, *answers, run="r1"):
    log = asking_log(location, run)
    log.begin(run_id=run, parameters={}, settings={}, code_version="1")
    for each in answers:
        log.answer(answer_json(each))
    return log.path


def files(location):
    return b"".join(found.read_bytes() for found in location.runs.iterdir())


def test_quotes_are_erased_from_every_file_and_counted_by_answer(location):
    both, other = answer("report", "paper"), answer("report")
    keep(location, both, other, run="a")
    untouched = keep(location, replace(other, answer_id="f" * 64), run="b").stat().st_ino
    keep(location, replace(both, answer_id="e" * 64), run="c")
    assert erase_quotes(location, {PAPER}) == 2
    assert b"of paper" not in files(location) and b"paper.pdf was removed" in files(location)
    assert (location.runs / "ask-b.jsonl").stat().st_ino == untouched
    assert find_answer(location, other.answer_id, present=()) == other and len(read_answers(location, present=())) == 4
    assert [entry["sequence"] for entry in read_run(location.runs / "ask-a.jsonl").entries] == [0, 1, 2]
    assert erase_quotes(location, {PAPER}) == 0 == erase_quotes(location, [])


def test_where_nobody_asked_nothing_is_erased(location):
    assert erase_quotes(location, {PAPER}) == 0


def test_a_cut_line_goes_for_nobody_knows_whose_words_it_holds(location):
    kept = keep(location, answer("report"), answer("paper"))
    kept.write_bytes(kept.read_bytes()[:-300])
    assert b"of paper" in files(location) and PAPER.encode() in files(location)
    assert erase_quotes(location, {document_id("slides")}) == 0
    assert b"of paper" not in files(location) and read_answers(location, present=()) == [answer("report")]


def test_an_answer_of_another_version_goes_whole_where_it_names_the_document(location):
    log = asking_log(location, "r1")
    for name in ("report", "paper"):
        log.answer({"answer_id": name, "citations": [{"document": {"id": document_id(name)}, "text": words_of(name)}]})
    log.begin(run_id="r1", parameters={"documents": [PAPER]}, settings={}, code_version="1")
    silent = replace(answer("paper"), answer="", citations=(), paths=(), why="")
    log.answer(answer_json(silent))
    assert erase_quotes(location, {PAPER}) == 1
    assert b"of paper" not in files(location) and b"of report" in files(location)
    assert [entry["kind"] for entry in read_run(log.path).entries] == ["answer", "run", "answer"]
    assert read_answers(location, present=()) == [silent]


def test_answers_that_another_process_keeps_meanwhile_are_not_lost(location, tmp_path):
    rounds = []
    command = [sys.executable, "-m", "tests.storage.answering_process", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as busy:
        assert busy.stdout.readline() == "began\n"
        while sum(map(bool, rounds)) < 20:
            rounds.append(erase_quotes(location, {PAPER}))
        busy.stdin.close()
        wanted = int(busy.stdout.readline())
    assert busy.returncode == 0
    erased = sum(rounds) + erase_quotes(location, {PAPER})
    kept = read_answers(location, present=())
    assert len(kept) == len({each.answer_id for each in kept}) == wanted == erased
    assert read_run(asking_files(location)[0]).torn == 0
    assert b"words of paper" not in files(location) and all(each.citations[0].quote == "words of report" for each in kept)


def erase_killed_at(location, moment):
    """Erase in a child that is killed at its n-th line; return its exit status, 0 where it lived to the end."""
    child = os.fork()
    if not child:
        left = moment

        def step(frame, event, _argument):
            nonlocal left
            if frame.f_code.co_filename not in (artifacts.__file__, erasing.__file__, log.__file__):
                return None
            left -= event == "line"
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return step

        sys.settrace(step)
        erase_quotes(location, {PAPER})
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.torture
def test_a_kill_at_any_moment_leaves_every_answer_whole_and_the_next_removal_finishes(location):
    answers = numbered(2, "report", "paper")
    kept = keep(location, *answers)
    before = kept.read_bytes()
    leftovers = 0
    for moment in count(1, 7):
        kept.write_bytes(before)
        exit_code = erase_killed_at(location, moment)
        assert [each.answer_id for each in read_answers(location, present=())] == [each.answer_id for each in answers[::-1]]
        leftovers += len(list(location.runs.iterdir())) - 1
        erase_quotes(location, {PAPER})
        assert b"of paper" not in files(location) and len(list(location.runs.iterdir())) == 1
        assert [each.citations[0].quote for each in read_answers(location, present=())] == ["words of report"] * 2
        if exit_code == 0:
            break
        assert exit_code == -signal.SIGKILL
    assert moment > 60 and leftovers


def test_a_full_disk_leaves_the_file_as_it_was(location):
    kept = keep(location, *numbered(20, "report", "paper"))
    before = kept.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
    try:
        with pytest.raises(DiskFullError, match=str(location.runs)):
            erase_quotes(location, {PAPER})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert kept.read_bytes() == before and list(location.runs.iterdir()) == [kept]
    assert erase_quotes(location, {PAPER}) == 20
