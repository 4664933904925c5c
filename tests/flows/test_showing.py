"""Output is for people or for programs, and a document's name is never markup."""

import json

import pytest

from flows.showing import CommandError, Output


def test_names_with_brackets_are_shown_as_they_are(capsys):
    output = Output(as_json=False)
    output.line("[red]report[/red].pdf")
    output.table(("name",), [("[bold]x[/bold].pdf",)])
    shown = capsys.readouterr().out
    assert "[red]report[/red].pdf" in shown and "[bold]x[/bold].pdf" in shown


def test_what_a_terminal_would_obey_is_shown_instead(capsys):
    output = Output(as_json=False)
    output.line("a title\x1b[31m\x07 of two\nlines")
    output.table(("title",), [("\x1b]0;owned\x07",)])
    output.error(CommandError("what\x1b[2J", "", "remedy\x1b[2J"))
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err and "\x07" not in shown.out
    assert "\\x1b[31m\\x07 of two\nlines" in shown.out and "what\\x1b[2J" in shown.err


def test_an_error_is_json_for_programs_and_words_for_people(capsys):
    error = CommandError("it is wrong", "value", "mend it")
    Output(as_json=True).error(error)
    assert json.loads(capsys.readouterr().out) == {"error": {"what": "it is wrong", "value": "value", "remedy": "mend it"}}
    Output(as_json=False).error(error)
    said = capsys.readouterr()
    assert not said.out and "it is wrong" in said.err and "mend it" in said.err


def test_an_error_of_the_house_splits_into_what_and_remedy():
    error = CommandError.from_error(ValueError("disk full at /x; free 3 MB; run it again"))
    assert (error.what, error.remedy) == ("disk full at /x", "free 3 MB; run it again")


@pytest.mark.parametrize(
    ("error", "value"),
    [
        (LookupError("there is no corpus 'mm'; make it"), "mm"),
        (ValueError("settings file /in/a.toml: work.x = 3: too many; see settings"), "/in/a.toml"),
        (OSError(28, "disk full at /x; free 3 MB", "/x/y"), "/x/y"),
        (ValueError("pages per second/hour are wrong; mend them"), ""),
    ],
)
def test_an_error_of_the_house_names_the_value_at_fault(error, value):
    assert CommandError.from_error(error).value == value
