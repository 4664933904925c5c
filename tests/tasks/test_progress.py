"""Listeners get what is reported, and a wish to stop reaches the next report."""

import pytest

from tasks import progress


def test_listeners_hear_inside_their_block_only():
    reports = []
    with progress.listening(reports.append):
        progress.report("a.pdf", "parse", 1, 2)
    progress.report("a.pdf", "parse", 2, 2)
    assert reports == [progress.Progress("a.pdf", "parse", 1, 2)]


def test_what_breaks_after_the_wish_to_stop_is_the_end_that_was_asked_for():
    assert [progress.kind_of(each) for each in (OSError(), KeyboardInterrupt())] == ["OSError", progress.STOPPED]
    progress.request_stop()
    try:
        assert progress.kind_of(OSError()) == progress.STOPPED and not progress.is_broken_off(OSError())
    finally:
        progress.forget_stop()
    assert progress.is_broken_off(progress.StoppedError()) and progress.is_broken_off(KeyboardInterrupt())


def test_a_wish_to_stop_ends_work_at_its_next_report():
    progress.request_stop()
    try:
        assert progress.stop_requested()
        with pytest.raises(progress.StoppedError):
            progress.report("a.pdf", "parse", 1, 2)
    finally:
        progress.forget_stop()
    progress.report("a.pdf", "parse", 1, 2)
