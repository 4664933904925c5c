"""Output is for people or for programs: an answer, how far it is, errors and settings; a document's name is never markup."""

import io
import pickle
from contextlib import nullcontext
from dataclasses import replace

import pytest
from rich.console import Console

from flows.display.answer_tables import show_answer
from flows.display.followed import WITHDRAWN, follow_questions
from flows.display.output import Output
from flows.display.progress import WorkMeter, print_news, step_shares
from flows.display.progress import show_ingest as progress_shown
from storage.errors import RequestError
from storage.records.answers import AnswerStatus
from storage.system import DiskFullError, is_full_disk
from tasks.events import DraftGrown, QueueSeen, StageReached, emit
from tasks.finding.plan import DocumentWork
from tasks.progress import Progress, report
from tasks.settings.ingest import ReadingSettings
from tasks.views.errors import ErrorView, RefusedError, view_error
from tests.program import terminal
from tests.storage.answer_worlds import answer, citation, view_of
from tests.storage.answer_worlds import answer as an_answer
from tests.waiting import wait_until


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
    output.error(RequestError("what\x1b[2J", "", "remedy\x1b[2J"))
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err and "\x07" not in shown.out
    assert "\\x1b[31m\\x07 of two\nlines" in shown.out and "what\\x1b[2J" in shown.err


def test_on_a_terminal_a_paragraph_breaks_between_words_and_stays_below_where_its_words_begin(monkeypatch):
    with terminal(monkeypatch, 20) as lines:
        output = Output(as_json=False)
        output.paragraph("one two three four five\nsix [b]seven", first="[1] ")
        output.paragraph("incomprehensibilities \x1b[31m 日本語の長い文章の長い文章")
    assert lines[:3] == ["[1] one two three", "    four five", "    six [b]seven"]
    assert lines[3:] == ["incomprehensibilitie", "s \\x1b[31m", "日本語の長い文章の長", "い文章"]


def test_what_is_asked_for_is_bold_on_a_terminal_and_plain_in_a_pipe():
    quoted = (replace(citation("report"), quote="a \x0e of pumps [b]"),)
    counted = replace(
        answer("report"), question="Which pump?", asked_as="Which pump?", answer="", status=AnswerStatus.EVIDENCE, citations=quoted
    )
    for shows in (True, False):
        output = Output(as_json=False)
        output.__dict__["console"] = Console(file=io.StringIO(), force_terminal=shows, width=60, highlight=False, soft_wrap=True)
        show_answer(view_of(counted), output, with_question=False)
        text = output.console.file.getvalue()
        assert ("a \\x0e of \x1b[1mpumps\x1b[0m [b]" if shows else "a \\x0e of pumps [b]") in text


def test_a_pipe_gets_every_line_of_a_paragraph_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    Output(as_json=False).paragraph("one two three four five\n" + "six  " * 40, first="[1] ")
    assert capsys.readouterr().out == "[1] one two three four five\n    " + "six  " * 40 + "\n"


def test_an_error_has_three_parts_and_a_remedy_for_each_way_that_it_comes():
    error = RequestError("there is no corpus 'a; b'", "a; b", "make it by `flowreader`", over_http="make it by PUT")
    assert str(error) == "there is no corpus 'a; b'; make it by `flowreader`"
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert view_error(one) == ErrorView(what="there is no corpus 'a; b'", value="a; b", remedy="make it by `flowreader`")
        assert view_error(one, over_http=True).remedy == "make it by PUT"
    full = DiskFullError("disk full", "/x", "free some")
    assert isinstance(full, OSError) and is_full_disk(full) and pickle.loads(pickle.dumps(full)).remedy == "free some"
    assert view_error(FileNotFoundError(2, "No such file", "/x/y")) == ErrorView(what="No such file", value="/x/y")
    refused = pickle.loads(pickle.dumps(RefusedError(503, "no room", 4, "later", headers={"Retry-After": "5"})))
    assert (refused.status, refused.what, refused.value, refused.headers) == (503, "no room", "4", {"Retry-After": "5"})
    named = view_error(RequestError("'\\udcff' is no name", "/in/\udcff", "name another"))
    assert named.model_dump_json() and named.value == "/in/\\udcff"


def test_a_quote_as_long_as_a_page_is_cut(capsys):
    long = replace(citation("report"), quote="cell | " * 1000)
    show_answer(view_of(replace(answer("report"), citations=(long,))), Output(as_json=False), with_question=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == 800 + 4 and any(line.endswith("…") for line in lines)


def screen(*, terminal=True, as_json=False):
    output = Output(as_json=as_json)
    output.__dict__["side"] = Console(file=io.StringIO(), force_terminal=terminal, width=60, highlight=False)
    return output


def written(output):
    return output.side.file.getvalue()


def of(words):
    return replace(an_answer("report"), answer=words)


def test_the_line_says_how_far_it_is_then_the_draft_and_goes_before_the_answer():
    output = screen()
    with follow_questions(output, 2) as aside:
        emit(QueueSeen(3))
        emit(StageReached("a", "found [3] pages"))
        output.side._live_stack[-1].refresh()
        emit(DraftGrown("a", "It is [bold]20 metres"))
        output.side._live_stack[-1].refresh()
        with aside(of("It is [bold]20 metres deep.")):
            assert not output.side._live_stack
            before = written(output)
        assert before.endswith("\x1b[1A\x1b[2K") or "\x1b[2K" in before.rpartition("20 metres")[2]
        output.side._live_stack[-1].refresh()
        with aside(of("Another.")):
            pass
        assert not output.side._live_stack
    shown = written(output)
    assert "found [3] pages" in shown and "It is [bold]20 metres" in shown and WITHDRAWN not in shown
    assert "1 of 2 questions answered, looking" in shown and "20 metres" not in shown.rpartition("questions answered")[2]
    emit(StageReached("a", "later"))
    assert written(output) == shown


def test_a_draft_that_was_not_proven_is_withdrawn_in_words():
    output = screen()
    with follow_questions(output, 1) as aside:
        emit(DraftGrown("a", "It is 7 metres"))
        with aside(of("")):
            assert WITHDRAWN in written(output)


def test_programs_and_files_are_shown_nothing():
    for output in (screen(as_json=True), screen(terminal=False)):
        with follow_questions(output, 1) as aside:
            emit(StageReached("a", "reading 1 of 2", 1, 2))
            emit(DraftGrown("a", "It is"))
            assert isinstance(aside(of("")), nullcontext)
        assert written(output) == ""


def work(letter, size=1_000_000):
    return DocumentWork(letter * 64, "v", f"/in/{letter}.pdf", (f"/in/{letter}.pdf",), size, "")


def test_shares_grow_with_the_steps_and_end_at_one():
    meter = WorkMeter([work("a"), work("b")], ReadingSettings())
    shares = [meter.share_done()]
    for step in ("parse", "read-words", "structure", "analyze", "embed", "evolve", "done"):
        meter.hear(Progress("a" * 64, step, 1, 3 if step == "done" else 1))
        shares.append(meter.share_done())
    assert shares == sorted(shares) and shares[0] == 0 and abs(shares[-1] - 0.5) < 1e-9
    meter.hear(Progress("b" * 64, "done", 1, 4))
    assert meter.share_done() == 1 and meter.describe_counts() == "2/2 documents, 7 pages"
    alone = WorkMeter([work("a")], ReadingSettings())
    alone.hear(Progress("a" * 64, "done", 1, 1))
    assert alone.describe_counts() == "1/1 document, 1 page"


@pytest.mark.parametrize("by", ["rules", "model"])
@pytest.mark.parametrize("map_by", ["rules", "model"])
@pytest.mark.parametrize("mode", ["lite", "model"])
@pytest.mark.parametrize("pages", ["rules", "model"])
def test_whatever_a_model_does_the_steps_that_there_are_make_up_the_whole(by, map_by, mode, pages):
    if (by, pages, mode) == ("rules", "rules", "model"):
        return  # refused by the settings
    analysis = {"by": by, "map": map_by, "pages": pages}
    reading = ReadingSettings.model_validate({"analysis": analysis, "evolution": {"mode": mode}})
    assert ("write-map" in step_shares(reading), "see-pages" in step_shares(reading)) == (map_by == "model", pages == "model")
    meter = WorkMeter([work("a")], reading)
    shares = []
    for step in step_shares(reading):
        meter.hear(Progress("a" * 64, step, 1, 1))
        shares.append(meter.share_done())
    assert shares == sorted(shares) and abs(shares[-1] - 1) < 1e-9


def test_a_pipe_gets_a_line_only_where_it_says_something_new(monkeypatch):
    monkeypatch.setattr("flows.display.progress.LINE_SECONDS", 0.001)
    stream, heard = io.StringIO(), iter(["starting"] * 3 + ["1/2 documents"] * 3)
    described = []

    def describe():
        described.append(next(heard, "1/2 documents"))
        return described[-1]

    with print_news(describe, Console(file=stream)):
        wait_until(lambda: len(described) > 6)
    assert stream.getvalue() == "starting\n1/2 documents\n"


def test_a_terminal_gets_bars_and_a_pipe_does_not():
    for is_terminal in (True, False):
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=is_terminal, width=120)
        with progress_shown([work("a")], ReadingSettings(), console=console, quiet=False):
            report("a" * 64, "parse", 1, 1)
        assert ("\x1b[" in stream.getvalue()) is is_terminal
