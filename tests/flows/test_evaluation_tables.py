"""An evaluation on a terminal says what was asked of what and how it went; programs get the same figures, unrounded."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from flows.evaluation_tables import compare_json, evaluation_json, show_changes, show_evaluation, show_missed
from flows.showing import Output
from storage.evaluation_records import BenchmarkQuestion, Figure
from tasks.comparing import Change, Difference
from tests.program import terminal
from tests.storage.evaluation_worlds import evaluation, scored

RUN = "0a63db1e-f736-43bb-9d26-8d8d654582c5"
OTHER = "5f9ed5fc-4f3a-4abb-bfaa-e472561cd899"
RECALL = Change("flow", "recall@5", 40, 0.5, 0.625, 0.125, 0.05, 0.2, 6)
PERHAPS = Change("flow", "seconds", 40, 0.75, 0.5, -0.25, -0.75, 0.25, 6)
SAME = Change("top-k", "recall@5", 40, 0.5, 0.5, 0.0, 0.0, 0.0, 6)


@pytest.fixture
def output():
    return Output(as_json=False)


def lines(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_people_read_what_was_asked_of_what_the_figures_and_where_to_go_on(output, capsys):
    show_evaluation(evaluation(RUN, benchmark="annual [reports]"), [Path("/home/one.png"), Path("/home/two.png")], output)
    shown = lines(capsys)
    assert shown[0] == "retrieval: annual [reports]"
    assert shown[1] == "2026-01-01 00:00 UTC, corpus default, snapshot 3, each question asked of its own documents"
    assert "flow 75.0 (50.0-100.0)*" in shown and "Recall of the ranking (%), 4 questions" in shown
    assert "several pages 2 33.3 (0.0-50.0)*" in shown
    assert [line for line in shown if line.startswith("picture")] == ["picture: /home/one.png", "picture: /home/two.png"]
    assert "95 % intervals" in " ".join(shown) and "* fewer than 10 questions or 5 documents" in " ".join(shown)
    assert shown[-1] == "run 0a63db1e; again: flowreader evaluate show 0a63db1e"


def test_questions_that_were_asked_of_everything_are_said_to_be(output, capsys):
    show_evaluation(evaluation(RUN, scope="corpus"), [], output)
    assert "each question asked of all documents" in capsys.readouterr().out


@pytest.mark.parametrize("columns", [80, 200])
def test_a_table_keeps_to_the_width_of_the_terminal(columns, monkeypatch):
    figures = [
        Figure(arm, "all", f"recall@{cut}", 0.57, 0.501, 0.638, 611, 38) for arm in ("flow", "top-k") for cut in (1, 3, 5, 10)
    ]
    with terminal(monkeypatch, columns) as shown:
        show_evaluation(evaluation(RUN, figures=tuple(figures)), [], Output(as_json=False))
    table = [line for line in shown if "57.0 (50.1-63.8)" in line]
    assert len(table) == 2 and all(len(line) <= columns for line in shown)


def test_names_from_a_benchmark_are_no_markup_and_no_commands_to_the_terminal(output, capsys):
    hostile = "[bold]x[/bold]\x1b[2J"
    named = Figure("flow", f"source: {hostile}", "recall@5", 0.5, 0.0, 1.0, 4, 4)
    show_evaluation(evaluation(RUN, benchmark=hostile, figures=(named,)), [], output)
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown and shown.count("[bold]x[/bold]") >= 2


def test_programs_get_every_figure_the_settings_and_the_pictures_but_not_each_question():
    kept = evaluation(RUN, scored("flow", "q1", "a.pdf", recall=1.0), models={"reader": "extractive"})
    told = evaluation_json(kept, [Path("/home/one.png")])
    assert json.dumps(told)
    assert told["run_id"] == RUN and told["pictures"] == ["/home/one.png"] and "scored" not in told
    assert told["figures"][1]["value"] == 1 / 3 and told["settings"]["routing"]["demand"] == 6.0
    assert told["models"] == {"reader": "extractive"}
    assert set(told["figures"][0]) == {"arm", "group", "metric", "value", "low", "high", "questions", "documents"}


def probe(number, document="a.pdf"):
    text = f"Which page says word {number}?"
    return BenchmarkQuestion(f"p{number}", text, (document,), evidence=((document, number),), evidence_sources=("caption",))


def came_back(number, share, arm="flow"):
    return scored(arm, f"p{number}", "a.pdf", **{"recall@5": share})


def test_a_probe_that_did_not_come_back_is_shown_with_its_page_once_for_all_readers(output, capsys):
    asked = [probe(1), probe(2), probe(3)]
    told = evaluation(RUN, came_back(1, 1.0), came_back(2, 0.0), came_back(3, 1.0), came_back(2, 0.0, "top-k"))
    show_missed(asked, told, output)
    assert lines(capsys) == [
        "",
        "1 probes whose page is not among the first five",
        "caption on page 2 of a.pdf: Which page says word 2?",
    ]


def test_where_every_probe_came_back_nothing_more_is_said(output, capsys):
    show_missed([probe(1)], evaluation(RUN, came_back(1, 1.0)), output)
    assert capsys.readouterr().out == ""


def test_of_many_lost_probes_ten_are_shown_and_the_rest_counted(output, capsys):
    asked = [probe(number) for number in range(1, 14)]
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


def test_a_change_that_rounds_to_nothing_has_no_minus(output, capsys):
    show_changes(evaluation(RUN), evaluation(OTHER), [Change("flow", "seconds", 4, 0.1, 0.1, -0.001, -0.002, 0.0, 4)], [], output)
    assert "+0.00 (+0.00 to +0.00)" in capsys.readouterr().out


def test_where_nothing_moved_there_is_no_table(output, capsys):
    show_changes(evaluation(RUN), evaluation(OTHER), [SAME], [Difference("ask.gate.enabled", "true", "false")], output)
    assert lines(capsys)[1:] == [
        "1 of 1 metrics are the same",
        "of 1 compared metrics some 5 % move beyond luck by chance",
        "ask.gate.enabled: true -> false",
    ]


def test_a_change_within_one_document_has_no_interval_and_no_verdict(output, capsys):
    show_changes(evaluation(RUN), evaluation(OTHER), [replace(RECALL, low=0.125, high=0.125, documents=1)], [], output)
    assert "flow recall@5 (%) 50.0 62.5 +12.5 (-)" in lines(capsys)


def test_programs_get_every_change_with_its_verdict_and_what_else_differs():
    told = compare_json(evaluation(RUN), evaluation(OTHER), [RECALL, SAME], [Difference("code", "a", "b")])
    assert (told["before"], told["after"]) == (RUN, OTHER)
    assert [change["beyond_luck"] for change in told["changes"]] == [True, False]
    assert told["changes"][0]["low"] == 0.05 and told["differs"] == [{"name": "code", "before": "a", "after": "b"}]
    assert json.loads(json.dumps(told)) == told
