"""An answer on a terminal: the words, their places, the status and why."""

import json
from dataclasses import replace

import pytest

from flows.display.answer_tables import QUOTE_SHOWN, show_answer, show_answers
from flows.display.output import Output
from storage.records.answers import AnswerStatus
from tests.program import terminal
from tests.storage.answer_worlds import answer, citation, words_of

PEOPLE = Output(as_json=False)
PROGRAMS = Output(as_json=True)


def shown(capsys, given, **more):
    show_answer(given, PEOPLE, **{"with_question": False} | more)
    return capsys.readouterr().out


GOLDEN = """\
Evidence found, not read by a model:
[1] report.pdf, page 2, probability 0.62, box 0.10 0.20 0.90 0.33, heading of report
    words of report
[2] letter.pdf, page 2, heading of letter
    words of letter
evidence: of 9 passages 2 hold some of what is asked
extractive
answer c5f25f5a, 3 model calls, 0.50 s of work
"""


def test_evidence_says_that_no_model_read_it_then_come_its_quotes_with_their_places_and_why(capsys):
    quotes = (replace(citation("report"), probability=0.618), replace(citation("letter"), box=None))
    found = replace(answer("report", "letter"), answer="", status=AnswerStatus.EVIDENCE, citations=quotes)
    found = replace(found, why="of 9 passages 2 hold some of what is asked")
    assert shown(capsys, replace(found, answer_id="c5f25f5a" * 8)) == GOLDEN


def test_a_quote_is_shown_where_the_answer_says_it_in_other_words(capsys):
    given = answer("report")
    assert shown(capsys, given, with_question=True).startswith(f"How many?\n{words_of('report')}\n")
    assert shown(capsys, given).count(words_of("report")) == 2, "in the answer, and in the reason"
    row = replace(citation("report"), quote="Table 1 | Turbine: CS-09 | Availability %: 71.4")
    assert "    Table 1 | Turbine: CS-09" in shown(capsys, replace(given, citations=(row,)))


def test_on_a_narrow_terminal_places_and_quotes_break_between_words_below_their_number(monkeypatch):
    row = replace(
        citation("report"),
        section=("Annual Report 2024", "2 The year in numbers"),
        quote="Table 1: Bolts and their torque | Joint: Blade root to hub | Bolt: M36",
    )
    with terminal(monkeypatch, 40) as lines:
        show_answer(replace(answer("report"), citations=(row,)), PEOPLE, with_question=False)
    at = lines.index("[1] report.pdf, page 2, box 0.10 0.20")
    assert lines[at + 1 : at + 5] == [
        "    0.90 0.33, Annual Report 2024 > 2",
        "    The year in numbers",
        "    Table 1: Bolts and their torque |",
        "    Joint: Blade root to hub | Bolt: M36",
    ]
    assert max(map(len, lines)) <= 40


def test_a_quote_as_long_as_a_page_is_cut(capsys):
    long = replace(citation("report"), quote="cell | " * 1000)
    lines = shown(capsys, replace(answer("report"), citations=(long,))).splitlines()
    assert max(map(len, lines)) == QUOTE_SHOWN + 4 and any(line.endswith("…") for line in lines)


def test_an_answer_whose_document_is_gone_says_so(capsys):
    gone = replace(answer("report"), answer="", citations=(replace(citation("report"), quote="", section=()),))
    words = shown(capsys, gone)
    assert "document that was removed" in words and "[1] report.pdf, page 2, box 0.10 0.20 0.90 0.33\n" in words
    assert "document that was removed" in shown(capsys, replace(gone, status=AnswerStatus.EVIDENCE))


def test_what_a_document_says_is_no_markup_and_no_command_to_the_terminal(capsys):
    odd = replace(citation("report"), quote="[bold]red[/bold] \x1b[31m")
    words = shown(capsys, replace(answer("report"), citations=(odd,)))
    assert "[bold]red[/bold]" in words and "\x1b" not in words


def test_programs_get_the_whole_answer(capsys):
    show_answer(answer("report"), PROGRAMS, with_question=True)
    told = json.loads(capsys.readouterr().out)
    assert told["citations"][0]["quote"] == words_of("report") and told["status"] == "answered"


def test_a_list_of_answers_has_a_line_for_each(capsys):
    show_answers("small", [answer("report", question="Why " * 40), answer("letter")], PEOPLE)
    words = capsys.readouterr().out
    assert words.count("2026-01-01 00:00") == 2 and "Why Why" in words and "How many?" in words


@pytest.mark.parametrize(
    ("status", "shown_as"),
    [(AnswerStatus.ANSWERED, "removed"), (AnswerStatus.EVIDENCE, "evidence"), (AnswerStatus.NOT_FOUND, "not_found")],
)
def test_the_list_shows_which_answers_lost_their_words_and_which_found_nothing(status, shown_as, capsys):
    show_answers("small", [replace(answer("report"), answer="", status=status)], PEOPLE)
    assert f" {shown_as} " in capsys.readouterr().out


def test_a_corpus_that_was_not_asked_says_how_to_ask(capsys):
    show_answers("small", [], PEOPLE)
    assert 'flowreader ask "QUESTION" --corpus small' in capsys.readouterr().out
