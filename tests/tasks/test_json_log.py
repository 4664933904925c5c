"""The log is JSON by the line, shared by processes, and follows its name where the file is moved away."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tasks.happenings import QueueSeen, tell
from tasks.json_log import LogFileError, logging_to
from tests.tasks import happening_worlds as worlds


def lines(path):
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def test_each_thing_that_happens_is_a_line_with_time_and_level(tmp_path):
    with logging_to(str(tmp_path / "log")):
        for happening in (worlds.RUN_BEGAN, worlds.began(), worlds.step(), worlds.ended("failed", "cut"), worlds.step()):
            tell(happening)
        tell(QueueSeen(1))
    tell(worlds.RUN_ENDED)
    told = lines(tmp_path / "log")
    assert [line["event"] for line in told] == ["run-began", "document-began", "step-ended", "document-ended", "step-ended"]
    assert [line["level"] for line in told] == ["info", "info", "info", "warning", "info"]
    assert told[2]["name"] == "report.pdf" and "name" not in told[4], "a document that ended is forgotten"
    assert datetime.now(UTC) - datetime.fromisoformat(told[0]["time"]) < timedelta(minutes=1) and told[0]["time"].endswith("Z")


def test_a_file_that_was_moved_away_is_made_anew(tmp_path):
    with logging_to(str(tmp_path / "log")):
        tell(worlds.RUN_BEGAN)
        (tmp_path / "log").rename(tmp_path / "log.1")
        tell(worlds.RUN_ENDED)
    assert [line["event"] for line in lines(tmp_path / "log.1") + lines(tmp_path / "log")] == ["run-began", "run-ended"]


def test_a_dash_is_standard_error(capsys):
    with logging_to("-"):
        tell(worlds.RUN_BEGAN)
    said = capsys.readouterr()
    assert json.loads(said.err)["flow"] == "ingest" and said.out == ""


def test_a_file_that_cannot_be_written_is_named_with_the_remedy(tmp_path):
    with (
        pytest.raises(LogFileError, match=r"FLOWREADER_LOG names '.*/no/log', which cannot be written \(No such"),
        logging_to(str(tmp_path / "no" / "log")),
    ):
        pass


def test_a_disk_that_is_full_is_told_of_once_and_the_run_goes_on(capsys):
    with logging_to("/dev/full"):
        tell(worlds.RUN_BEGAN)
        tell(worlds.RUN_ENDED)
    assert capsys.readouterr().err.count("cannot be written any more ([Errno 28]") == 1


WRITER = """
import sys
from tasks.happenings import RunBegan, tell
from tasks.json_log import logging_to
with logging_to(sys.argv[1]):
    for number in range(500):
        tell(RunBegan(sys.argv[2] * 200, "ingest", "small"))
"""


def test_processes_that_share_a_file_cut_no_line_of_one_another(tmp_path):
    started = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "log"), letter]) for letter in "abc"]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    told = lines(tmp_path / "log")
    assert len(told) == 1500 and {line["run"] for line in told} == {letter * 200 for letter in "abc"}
