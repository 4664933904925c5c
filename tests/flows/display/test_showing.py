"""Output is for people or for programs, and a document's name is never markup."""

import json

import pytest

from flows.display.corpus_tables import corpus_json, show_corpus, show_findings, show_settings
from flows.display.output import CommandError, Output
from storage.corpus.snapshot import open_for_reading
from storage.errors import Finding
from storage.locations import corpus_location
from storage.records.documents import SkippedFile
from tasks.settings.ask import AllSettings, load_settings, method_of
from tests.program import terminal


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


def test_on_a_terminal_a_paragraph_breaks_between_words_and_stays_below_where_its_words_begin(monkeypatch):
    with terminal(monkeypatch, 20) as lines:
        output = Output(as_json=False)
        output.paragraph("one two three four five\nsix [b]seven", first="[1] ")
        output.paragraph("incomprehensibilities \x1b[31m 日本語の長い文章の長い文章")
    assert lines[:3] == ["[1] one two three", "    four five", "[1] six [b]seven"]
    assert lines[3:] == ["incomprehensibilitie", "s \\x1b[31m", "日本語の長い文章の長", "い文章"]


def test_a_pipe_gets_every_line_of_a_paragraph_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    Output(as_json=False).paragraph("one two three four five\n" + "six  " * 40, first="[1] ")
    assert capsys.readouterr().out == "[1] one two three four five\n[1] " + "six  " * 40 + "\n"


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


@pytest.mark.parametrize("name", ["a; b.pdf", "it's a; b.pdf", '"a; b".pdf', 'it\'s "a; b".pdf', "a\\'; b.pdf", "; "])
def test_a_value_that_holds_a_semicolon_does_not_end_the_sentence(name):
    error = CommandError.from_error(LookupError(f"no document {name!r} in the writers' corpus; take {name!r}; or none"))
    assert (error.what, error.remedy) == (f"no document {name!r} in the writers' corpus", f"take {name!r}; or none")
    assert error.value == name


@pytest.mark.parametrize(
    ("error", "value"),
    [
        (LookupError("there is no corpus 'mm'; make it"), "mm"),
        (ValueError("settings file '/in/a b.toml': work.x = 3: too many; see settings"), "/in/a b.toml"),
        (ValueError("/in/a.toml is damaged; see settings"), "/in/a.toml"),
        (ValueError(f"no document {'it' + chr(39) + 's.pdf'!r}; name another"), "it's.pdf"),
        (ValueError(f"no document {'a' + chr(92) + 'b.pdf'!r}; name another"), "a\\b.pdf"),
        (OSError(28, "disk full at /x; free 3 MB", "/x/y"), "/x/y"),
        (ValueError("pages per second/hour are wrong; mend them"), ""),
    ],
)
def test_an_error_of_the_house_names_the_value_at_fault(error, value):
    assert CommandError.from_error(error).value == value


def test_only_the_asked_documents_are_listed_and_long_lists_are_cut(in_library, capsys):
    skipped = [SkippedFile(path=f"/in/{number}\n.pdf", reason="a symbolic link") for number in range(30)]
    with open_for_reading(corpus_location("small")) as snapshot:
        one = snapshot.documents()[0]
        show_corpus("small", snapshot, skipped, Output(as_json=False), only={one.id})
        listed = corpus_json("small", snapshot, skipped)
    shown = capsys.readouterr().out
    assert one.name in shown and shown.count("\nskipped ") + shown.startswith("skipped ") == 20 and "10 more skipped" in shown
    assert "\n.pdf" not in shown and len(listed["skipped"]) == 30


def test_findings_come_with_their_remedy(capsys):
    show_findings("small", [Finding("artifacts", "artifact ab is missing", "ingest it again")], Output(as_json=False))
    shown = capsys.readouterr().out
    assert "artifact ab is missing" in shown and "ingest it again" in shown and "1 finding" in shown


def test_settings_show_value_bounds_and_reason_and_can_stand_in_a_file(capsys, tmp_path):
    show_settings(AllSettings(), Output(as_json=False), method=False)
    lines = capsys.readouterr().out.splitlines()
    assert "limits.memory_megabytes = 3072  # private memory of one parser child (ge=256, le=65536)" in lines
    assert "# models.budget.calls is not set" in " ".join(lines) and len(lines) <= 70
    (tmp_path / "all.toml").write_text("\n".join(lines))
    assert load_settings(tmp_path / "all.toml") == AllSettings()
    assert load_settings(tmp_path / "all.toml", "paper") == method_of("paper"), "what users turn no preset sets"


def test_the_method_is_shown_with_what_the_preset_makes_of_it(capsys):
    show_settings(method_of("paper"), Output(as_json=False), method=True)
    lines = capsys.readouterr().out.splitlines()
    assert 'ask.routing.network = "paper"' in lines and "ask.score.damping = 0.85" in lines
    assert not any(line.startswith("limits.memory_megabytes") for line in lines)
