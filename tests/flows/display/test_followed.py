"""What a terminal shows while a question is answered: how far it is and a draft, gone again when the answer is shown."""

import io
from contextlib import nullcontext
from dataclasses import replace

from rich.console import Console

from flows.display.followed import WITHDRAWN, followed
from flows.display.output import Output
from tasks.events import DraftGrown, QueueSeen, StageReached, emit
from tests.storage.answer_worlds import answer as an_answer


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
    with followed(output, 2) as aside:
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
    with followed(output, 1) as aside:
        emit(DraftGrown("a", "It is 7 metres"))
        with aside(of("")):
            assert WITHDRAWN in written(output)


def test_programs_and_files_are_shown_nothing():
    for output in (screen(as_json=True), screen(terminal=False)):
        with followed(output, 1) as aside:
            emit(StageReached("a", "reading 1 of 2", 1, 2))
            emit(DraftGrown("a", "It is"))
            assert isinstance(aside(of("")), nullcontext)
        assert written(output) == ""
