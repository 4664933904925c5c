"""The meter adds up what many threads report, and the display says it in words."""

import io

import pytest
from rich.console import Console

from flows.display.progress import WorkMeter, clock, shown, step_shares
from tasks.finding.plan import DocumentWork
from tasks.progress import Progress, report
from tasks.settings.ingest import ReadingSettings


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
    assert meter.share_done() == 1 and meter.pages == 7 and len(meter.finished) == 2


@pytest.mark.parametrize("by", ["rules", "model"])
@pytest.mark.parametrize("map_by", ["rules", "model"])
@pytest.mark.parametrize("mode", ["lite", "model"])
def test_whatever_a_model_does_the_steps_that_there_are_make_up_the_whole(by, map_by, mode):
    if (by, mode) == ("rules", "model"):
        return  # refused by the settings
    reading = ReadingSettings.model_validate({"analysis": {"by": by, "map": map_by}, "evolution": {"mode": mode}})
    assert ("write-map" in step_shares(reading)) == (map_by == "model")
    meter = WorkMeter([work("a")], reading)
    shares = []
    for step in step_shares(reading):
        meter.hear(Progress("a" * 64, step, 1, 1))
        shares.append(meter.share_done())
    assert shares == sorted(shares) and abs(shares[-1] - 1) < 1e-9


def test_the_line_names_documents_pages_and_what_is_in_work():
    meter = WorkMeter([work("a"), work("b")], ReadingSettings())
    meter.hear(Progress("a" * 64, "parse", 24, 96))
    assert meter.describe() == "0/2 documents, 0 pages, time left unknown; parse 24/96: a.pdf"


def test_times_are_shown_in_usual_words():
    assert clock(44.6) == "45 s" and clock(200) == "3 min 20 s"


def test_a_terminal_gets_bars_and_a_pipe_does_not():
    for terminal in (True, False):
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=terminal, width=120)
        with shown([work("a")], ReadingSettings(), console=console, quiet=False):
            report("a" * 64, "parse", 1, 1)
        assert ("\x1b[" in stream.getvalue()) is terminal


def test_programs_get_nothing():
    stream = io.StringIO()
    with shown([work("a")], ReadingSettings(), console=Console(file=stream, force_terminal=True), quiet=True):
        report("a" * 64, "parse", 1, 1)
    assert stream.getvalue() == ""
