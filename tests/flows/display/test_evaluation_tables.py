"""An evaluation on a terminal says what was asked of what and how it went; programs get the same figures, unrounded."""

import io
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from flows.cli import evaluate_commands
from flows.cli.evaluate_commands import AskingMeter
from flows.display.evaluation_tables import show_changes, show_evaluation, show_missed
from flows.display.output import Output
from storage.records.evaluations import BenchmarkQuestion, Figure
from tasks.evaluation.comparing import Difference, MetricChange
from tasks.progress import Progress, forget_stop, report, request_stop
from tests.program import terminal
from tests.storage.evaluation_worlds import evaluation, scored

RUN = "0a63db1e-f736-43bb-9d26-8d8d654582c5"
OTHER = "5f9ed5fc-4f3a-4abb-bfaa-e472561cd899"
RECALL = MetricChange("flow", "recall@5", 40, 0.5, 0.625, 0.125, 0.05, 0.2, 6)
PERHAPS = MetricChange("flow", "seconds", 40, 0.75, 0.5, -0.25, -0.75, 0.25, 6)
WHOLE = MetricChange("flow", "perfect recall", 40, 0.5, 0.625, 0.125, 0.05, 0.2, 6)
SAME = MetricChange("top-k", "recall@5", 40, 0.5, 0.5, 0.0, 0.0, 0.0, 6)


@pytest.fixture
def output():
    return Output(as_json=False)


def lines(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_people_read_what_was_asked_of_what_the_figures_and_where_to_go_on(output, capsys):
    pictures = [Path("/home/one.png"), Path("/home/two.png")]
    show_evaluation(evaluation(RUN, benchmark="annual [reports]", notes=("one was left out",)), pictures, output)
    assert lines(capsys) == [
        "retrieval: annual [reports]",
        "2026-01-01 00:00 UTC, run 0a63db1e, code 0.1.0, benchmark aaaaaaaaaaaa, corpus default, snapshot 3; "
        "each question is asked of its own documents",
        "one was left out",
        "",
        "The ranking, 4 questions",
        "metric flow",
        "recall@5 (%) 75.0 (50.0-100.0)*",
        "",
        "recall@5 (%), by group",
        "part flow",
        "all (4) 75.0 (50.0-100.0)*",
        "several pages (2) 33.3 (0.0-50.0)*",
        "",
        "in brackets: 95 % intervals, by drawing documents anew (- where there is one document only); "
        "* fewer than 10 questions or 5 documents",
        "picture: /home/one.png",
        "picture: /home/two.png",
        "run 0a63db1e; again: flowreader evaluate show 0a63db1e",
    ]


def test_names_from_a_benchmark_are_no_markup_and_no_commands_to_the_terminal(output, capsys):
    hostile = "[bold]x[/bold]\x1b[2J"
    named = Figure("flow", f"source: {hostile}", "recall@5", 0.5, 0.0, 1.0, 4, 4)
    show_evaluation(evaluation(RUN, benchmark=hostile, figures=(named,)), [], output)
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown and shown.count("[bold]x[/bold]") >= 2


def probe(number, document="a.pdf"):
    text = f"Which page says word {number}?"
    return BenchmarkQuestion(f"p{number}", text, (document,), evidence=((document, number),), evidence_sources=("caption",))


def came_back(number, share, arm="flow"):
    return scored(arm, f"p{number}", "a.pdf", **{"recall@5": share})


def test_a_probe_that_did_not_come_back_is_shown_with_its_page_once_for_all_readers(output, capsys):
    asked = [probe(1), probe(2), probe(3)]
    printed = evaluation(RUN, came_back(1, 1.0), came_back(2, 0.0), came_back(3, 1.0), came_back(2, 0.0, "top-k"))
    show_missed(asked, printed, output)
    assert lines(capsys) == [
        "",
        "1 probes whose page is not among the first five",
        "caption on page 2 of a.pdf: Which page says word 2?",
    ]


def test_of_many_lost_probes_ten_are_shown_and_the_rest_counted(output, capsys):
    asked = [probe(number) for number in range(1, 14)]
    show_missed([probe(1)], evaluation(RUN, came_back(1, 1.0)), output)
    assert capsys.readouterr().out == ""
    show_missed(asked, evaluation(RUN, *(came_back(number, 0.0) for number in range(1, 14))), output)
    shown = lines(capsys)
    assert sum(line.startswith("caption on page") for line in shown) == 10
    assert "13 probes" in shown[1] and shown[-1].startswith("and 3 more")


def test_a_change_beyond_luck_says_so_and_what_did_not_move_is_only_counted(output, capsys):
    show_changes(evaluation(RUN), evaluation(OTHER), [RECALL, PERHAPS, SAME], [], output)
    shown = lines(capsys)
    assert shown[0] == "0a63db1e (2026-01-01 00:00) -> 5f9ed5fc (2026-01-01 00:00), reports"
    assert "flow recall@5 (%) 50.0 62.5 +12.5 (+5.0 to +20.0) more than luck" in shown
    assert "flow seconds 0.75 0.50 -0.25 (-0.75 to +0.25)" in shown
    assert "1 of 3 metrics are the same" in shown and not any(line.startswith("top-k") for line in shown)
    assert "of 3 compared metrics some 5 % move beyond luck by chance" in shown
    assert shown[-1] == "nothing else differs: same models, settings, corpus and code"


def test_a_change_of_what_was_fitted_on_these_documents_before_or_after_says_so(monkeypatch):
    fitted = evaluation(RUN, models={"weights": "reports"})
    for pair in ((fitted, evaluation(OTHER)), (evaluation(OTHER), fitted)):
        with terminal(monkeypatch, 200) as shown:
            show_changes(*pair, [RECALL, WHOLE], [], Output(as_json=False))
        words = " ".join(" ".join(shown).split())
        assert "perfect recall (%), fitted on these documents 50.0" in words and "recall@5 (%) 50.0" in words


def test_a_change_within_one_document_has_no_interval_and_one_that_rounds_to_nothing_no_minus(output, capsys):
    alone = replace(RECALL, low=0.125, high=0.125, documents=1)
    nothing = MetricChange("flow", "seconds", 4, 0.1, 0.1, -0.001, -0.002, 0.0, 4)
    show_changes(evaluation(RUN), evaluation(OTHER), [alone, nothing], [Difference("ask.gate.enabled", "true", "false")], output)
    shown = lines(capsys)
    assert "flow recall@5 (%) 50.0 62.5 +12.5 (-)*" in shown and "flow seconds 0.10 0.10 +0.00 (+0.00 to +0.00)*" in shown
    assert shown[-1] == "ask.gate.enabled: true -> false"


def heard(*reports):
    meter = AskingMeter(4)
    for subject, step in reports:
        meter.hear(Progress(subject=subject, step=step, done=1, total=1))
    return meter.describe()


def test_while_it_works_people_see_documents_read_in_questions_asked_and_by_whom():
    assert heard() == "0 of 4 questions asked; starting"
    assert heard(("a" * 64, "done"), ("b" * 64, "parse")) == "0 of 4 questions asked; reading documents in, 1 done; parse"
    assert heard(("a" * 64, "done"), ("flow", "ask"), ("top-k", "ask")) == "2 of 4 questions asked; asking: top-k"
    request_stop()
    try:
        assert heard(("flow", "ask")) == "stopping; a second Ctrl-C ends it at once"
    finally:
        forget_stop()


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_a_line_that_changes_a_pipe_plain_lines_and_programs_nothing(monkeypatch, terminal):
    monkeypatch.setattr(evaluate_commands, "LINE_SECONDS", 0.05)
    written = {}
    for quiet in (False, True):
        stream = io.StringIO()
        with evaluate_commands.shown(2, console=Console(file=stream, force_terminal=terminal, width=100), quiet=quiet):
            report("flow", "ask", 2, 2)
            time.sleep(0.5)
        written[quiet] = stream.getvalue()
    assert written[True] == "" and ("\x1b[" in written[False]) is terminal
    assert "2 of 2 questions asked; asking: flow" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written[False])
