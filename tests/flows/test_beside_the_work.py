"""A page that cannot be kept is a line in the run's log; the run's work is done."""

import logging

import pytest

from flows import beside_the_work as module
from flows.beside_the_work import beside_the_work


@pytest.fixture
def log(monkeypatch, caplog):
    monkeypatch.setattr(module, "get_run_logger", lambda: logging.getLogger("a run"))
    return caplog


def test_what_goes_well_says_nothing(log):
    with beside_the_work("the page"):
        pass
    assert log.records == []


def test_what_fails_is_said_by_its_kind_and_not_in_its_words(log):
    with beside_the_work("the page"):
        raise OSError("http://user:secret@server")
    (record,) = log.records
    assert record.getMessage() == "the page could not be kept (OSError); the work of this run is done, and stays"
    assert record.levelno == logging.WARNING


def test_who_ends_the_run_is_heard(log):
    with pytest.raises(KeyboardInterrupt), beside_the_work("the page"):
        raise KeyboardInterrupt
