"""A line says what happened, to which document, and how loud; never what a text said."""

import logging

import pytest

from tasks.happening_lines import LONGEST_TEXT, level_of, line_of, words_of
from tasks.models.chat_errors import Outcome
from tests.tasks import happening_worlds as worlds

NAMES = {worlds.DOCUMENT: "report.pdf"}


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


def test_of_an_error_only_the_kind_is_said_for_its_words_may_quote_a_document():
    line = line_of(worlds.step("ValueError: the revenue was 4 million"), NAMES)
    assert (line["outcome"], line["error"]) == ("failed", "ValueError") and "revenue" not in str(line)
    assert "secret words" not in str(line_of(worlds.call(Outcome.INVALID), NAMES))


@pytest.mark.parametrize(
    ("happening", "level"),
    [
        (worlds.RUN_BEGAN, logging.INFO),
        (worlds.RUN_ENDED, logging.INFO),
        (worlds.RUN_BROKE, logging.ERROR),
        (worlds.RUN_KILLED, logging.ERROR),
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
def test_what_failed_is_louder(happening, level):
    assert level_of(line_of(happening, NAMES)) == level


def test_a_step_that_was_stopped_did_not_fail():
    line = line_of(worlds.step("StoppedError: the parser children were stopped"), NAMES)
    assert line["outcome"] == "stopped" and "error" not in line


def test_names_are_written_so_that_no_sign_of_them_does_anything():
    name = line_of(worlds.ended(name="a\n\x1b[31mb\u202ec\udcff" + "x" * 400), {})["name"]
    assert name.startswith("a\\n\\x1b[31mb\\u202ec\\udcff") and name.endswith("…")
    assert len(line_of(worlds.ended(error="x" * 400), {})["error"]) == LONGEST_TEXT


def test_in_words_a_document_is_its_name_and_a_run_its_flow():
    failed = words_of(line_of(worlds.ended("failed", "the file is cut"), {}))
    assert failed == "document ended: report.pdf (state failed, pages 12, nodes 340, seconds 5.0, error the file is cut)"
    assert words_of(line_of(worlds.RUN_BEGAN, {})) == "run began: ingest (corpus small)"
