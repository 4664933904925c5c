"""The log is JSON by the line: what happened, to which document, how loud, never the words of a text; shared by processes."""

import json
import logging
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tasks.events import QueueSeen, emit
from tasks.models.chat.errors import Outcome
from tasks.watching.json_log import LONGEST_TEXT, LogFileError, level_of, line_of, logging_to
from tests.tasks import event_worlds as worlds

NAMES = {worlds.DOCUMENT: "report.pdf"}


def lines(path):
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def test_each_thing_that_happens_is_a_line_with_time_and_level(tmp_path):
    with logging_to(str(tmp_path / "log")):
        for event in (worlds.RUN_BEGAN, worlds.began(), worlds.step(), worlds.ended("failed", "cut"), worlds.step()):
            emit(event)
        emit(QueueSeen(1))
    emit(worlds.RUN_ENDED)
    written = lines(tmp_path / "log")
    assert [line["event"] for line in written] == ["run-began", "document-began", "step-ended", "document-ended", "step-ended"]
    assert [line["level"] for line in written] == ["info", "info", "info", "warning", "info"]
    assert written[2]["name"] == "report.pdf" and "name" not in written[4], "a document that ended is forgotten"
    assert datetime.now(UTC) - datetime.fromisoformat(written[0]["time"]) < timedelta(minutes=1) and written[0]["time"].endswith(
        "Z"
    )


def test_a_file_that_was_moved_away_is_made_anew(tmp_path):
    with logging_to(str(tmp_path / "log")):
        emit(worlds.RUN_BEGAN)
        (tmp_path / "log").rename(tmp_path / "log.1")
        emit(worlds.RUN_ENDED)
    assert [line["event"] for line in lines(tmp_path / "log.1") + lines(tmp_path / "log")] == ["run-began", "run-ended"]


def test_a_dash_is_standard_error(capsys):
    with logging_to("-"):
        emit(worlds.RUN_BEGAN)
    shown = capsys.readouterr()
    assert json.loads(shown.err)["flow"] == "ingest" and shown.out == ""


def test_a_file_that_cannot_be_written_is_named_with_the_remedy(tmp_path):
    with (
        pytest.raises(LogFileError, match=r"FLOWREADER_LOG names '.*/no/log', which cannot be written \(No such"),
        logging_to(str(tmp_path / "no" / "log")),
    ):
        pass


def test_a_full_disk_is_one_warning_and_the_run_goes_on(capsys):
    with logging_to("/dev/full"):
        emit(worlds.RUN_BEGAN)
        emit(worlds.RUN_ENDED)
    assert capsys.readouterr().err.count("cannot be written any more ([Errno 28]") == 1


WRITER = """
import sys
from tasks.events import RunBegan, emit
from tasks.watching.json_log import logging_to
with logging_to(sys.argv[1]):
    for number in range(500):
        emit(RunBegan(sys.argv[2] * 200, "ingest", "small"))
"""


def test_processes_that_share_a_file_cut_no_line_of_one_another(tmp_path):
    started = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "log"), letter]) for letter in "abc"]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    written = lines(tmp_path / "log")
    assert len(written) == 1500 and {line["run"] for line in written} == {letter * 200 for letter in "abc"}


def test_a_step_names_its_document_and_says_how_it_went():
    assert line_of(worlds.step(cached=True), NAMES) == {
        "event": "step-ended",
        "run": "r1",
        "step": "parse",
        "document": worlds.DOCUMENT,
        "name": "report.pdf",
        "outcome": "remembered",
        "seconds": 1.2346,
        "attempts": 1,
    }
    assert line_of(worlds.step(subject="corpus"), NAMES)["subject"] == "corpus"


def test_a_line_has_only_the_kind_of_an_error_for_its_words_may_quote_a_document():
    line = line_of(worlds.step("ValueError: the revenue was 4 million"), NAMES)
    assert (line["outcome"], line["error"]) == ("failed", "ValueError") and "revenue" not in str(line)
    assert "secret words" not in str(line_of(worlds.call(Outcome.INVALID), NAMES))


@pytest.mark.parametrize(
    ("event", "level"),
    [
        (worlds.RUN_BEGAN, logging.INFO),
        (worlds.RUN_ENDED, logging.INFO),
        (worlds.RUN_BROKE, logging.ERROR),
        (worlds.step(), logging.INFO),
        (worlds.step("OSError: x"), logging.WARNING),
        (worlds.step("StoppedError: "), logging.INFO),
        (worlds.ended("stopped"), logging.INFO),
        (worlds.question("stopped"), logging.INFO),
        (worlds.call(Outcome.CACHED), logging.INFO),
        (worlds.call(Outcome.INVALID), logging.WARNING),
        (worlds.ended(), logging.INFO),
        (worlds.ended("needs_password", "give it"), logging.WARNING),
        (worlds.question("not_found"), logging.INFO),
        (worlds.question("failed", "KeyError"), logging.WARNING),
    ],
)
def test_what_failed_is_louder(event, level):
    assert level_of(line_of(event, NAMES)) == level


def test_names_are_written_so_that_no_sign_of_them_does_anything():
    name = line_of(worlds.ended(name="a\n\x1b[31mb\u202ec\udcff" + "x" * 400), {})["name"]
    assert name.startswith("a\\n\\x1b[31mb\\u202ec\\udcff") and name.endswith("…")
    assert len(line_of(worlds.ended(error="x" * 400), {})["error"]) == LONGEST_TEXT
