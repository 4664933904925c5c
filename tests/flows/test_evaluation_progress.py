"""While an evaluation works, people see how far it is: documents read in, questions asked, and by whom; programs see nothing."""

import io
import re
import threading

from rich.console import Console

from flows import evaluation_progress
from flows.evaluation_progress import AskingMeter, shown
from tasks.progress import Progress, forget_stop, report, request_stop


def asked(arm):
    return Progress(subject=arm, step="ask", done=1, total=1)


def test_before_anything_is_asked_nothing_is_claimed():
    assert AskingMeter(6).describe() == "0 of 6 questions asked; starting"


def test_questions_are_counted_under_all_arms_and_the_arm_at_work_is_named():
    meter = AskingMeter(4)
    for arm in ("flow", "flow", "top-k"):
        meter.hear(asked(arm))
    assert meter.describe() == "3 of 4 questions asked; asking: top-k"


def test_documents_that_are_read_in_first_are_told_one_by_one_and_count_as_no_question():
    meter = AskingMeter(4)
    meter.hear(Progress("a" * 64, "parse", 1, 3))
    assert "0 of 4 questions asked" in meter.describe() and "0 done; parse" in meter.describe()
    for letter in "ab":
        meter.hear(Progress(letter * 64, "done", 1, 3))
    assert "0 of 4 questions asked" in meter.describe() and "2 done" in meter.describe()
    meter.hear(asked("flow"))
    assert meter.describe() == "1 of 4 questions asked; asking: flow"


def test_no_report_of_many_threads_is_lost():
    meter = AskingMeter(4000)
    threads = [threading.Thread(target=lambda: [meter.hear(asked("flow")) for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert meter.describe().startswith("4000 of 4000 ")


def test_who_asked_for_the_end_is_told_that_it_comes_and_how_it_comes_at_once():
    meter = AskingMeter(4)
    meter.hear(asked("flow"))
    request_stop()
    try:
        assert meter.describe() == "stopping; a second Ctrl-C ends it at once"
    finally:
        forget_stop()
    assert meter.describe().startswith("1 of 4 ")


def display(monkeypatch, terminal, quiet=False):
    """Return what is shown of two questions, looked at often."""
    monkeypatch.setattr(evaluation_progress, "LINE_SECONDS", 0.05)
    stream, seen = io.StringIO(), threading.Event()
    console = Console(file=stream, force_terminal=terminal, width=100)
    with shown(2, console=console, quiet=quiet):
        for _ in range(2):
            report("flow", "ask", 1, 1)
        seen.wait(0.5)
    return stream.getvalue()


def test_a_terminal_gets_a_line_that_changes_and_a_pipe_gets_plain_lines(monkeypatch):
    on_terminal, in_pipe = display(monkeypatch, terminal=True), display(monkeypatch, terminal=False)
    assert "\x1b[" in on_terminal and "2 of 2 questions asked; asking: flow" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", on_terminal)
    assert "\x1b[" not in in_pipe and "2 of 2 questions asked; asking: flow" in in_pipe.splitlines()


def test_programs_get_nothing(monkeypatch):
    assert display(monkeypatch, terminal=True, quiet=True) == ""


def test_after_the_block_nothing_more_is_said(monkeypatch):
    monkeypatch.setattr(evaluation_progress, "LINE_SECONDS", 0.02)
    stream, waiting = io.StringIO(), threading.Event()
    with shown(1, console=Console(file=stream), quiet=False):
        waiting.wait(0.2)
    said = stream.getvalue()
    report("flow", "ask", 1, 1)
    waiting.wait(0.1)
    assert "0 of 1 questions asked" in said and stream.getvalue() == said
