"""Ranges cover every page once, and who reads a page does not depend on how many are read at the same time."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records import PageParser, ParsedPage
from tasks.parsers.desk import Rules
from tasks.parsers.jobs import Reading, Work
from tasks.parsers.page_ranges import LOOK_BACK, cut_ranges, read_page_ranges
from tasks.parsers.supervisor import Ending
from tasks.settings import LimitSettings, OcrSettings, ParseSettings, WorkSettings


@given(total=st.integers(1, 3000), most=st.integers(1, 200))
def test_ranges_cover_the_pages_evenly(total, most):
    ranges = cut_ranges(total, most)
    assert [page for first, last in ranges for page in range(first, last + 1)] == list(range(1, total + 1))
    lengths = [last - first + 1 for first, last in ranges]
    assert max(lengths) <= most
    assert max(lengths) - min(lengths) <= 1
    assert len(ranges) == -(-total // most)


class ScriptedDesk:
    """A desk whose children need a set time for each page, fail on some, and end in any order."""

    def __init__(self, seconds: list[float], bad: set[int], *, at_once: int, limit: float) -> None:
        self.seconds, self.bad, self.random = seconds, bad, random.Random(at_once)
        self.rules = Rules(
            parse=ParseSettings(pages_per_range=2),
            ocr=OcrSettings(),
            limits=LimitSettings(cpu_seconds_per_document=limit),
            work=WorkSettings(parsers_at_once=at_once),
            artifacts=None,
        )

    def run(self, work, *, pages, first, last):
        time.sleep(self.random.random() / 500)
        numbers = range(first, last + 1)
        problem = "crashed (SIGSEGV)" if work is Work.MINERU and self.bad & set(numbers) else ""
        used = sum(self.seconds[number - 1] for number in numbers) if work is Work.MINERU else 0.25
        parser = PageParser.MINERU if work is Work.MINERU else PageParser.PDFIUM
        reading = Reading("", tuple(ParsedPage(number, 9, 9, parser, ()) for number in numbers))
        return Ending(problem, None, used, 1.0, answered=not problem), reading

    def clear(self, folder):
        pass

    def take_answer(self, ending, folder):
        return folder if ending.answered else None


def read(seconds, bad, *, at_once, limit):
    return read_page_ranges(ScriptedDesk(seconds, bad, at_once=at_once, limit=limit), len(seconds), lambda done, total: None)


def test_pages_that_fail_are_read_alone_and_then_by_their_text_layer():
    pages = read([1.0] * 6, {4}, at_once=2, limit=1000.0)
    assert [page.number for page in pages] == [1, 2, 3, 4, 5, 6]
    assert [page.parser for page in pages].count(PageParser.PDFIUM) == 1
    assert pages[3].note == "MinerU crashed (SIGSEGV); text layer read by pdfium"


@pytest.mark.parametrize("seed", range(4))
def test_which_pages_are_read_by_mineru_is_the_same_however_many_children_there_are(seed):
    chance = random.Random(seed)
    seconds = [chance.choice([0.5, 1.0, 30.0]) for _ in range(60)]
    bad = {number for number in range(1, 61) if chance.random() < 0.2}
    readings = [read(seconds, bad, at_once=at_once, limit=200.0) for at_once in (1, 2, 5, 32)]
    assert all(reading == readings[0] for reading in readings)
    exhausted = [page.number for page in readings[0] if "200 s of CPU time" in page.note]
    assert exhausted and exhausted[0] > 2 * LOOK_BACK


def test_an_error_of_one_range_ends_the_others():
    class Broken(ScriptedDesk):
        def run(self, work, *, pages, first, last):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        read_page_ranges(Broken([1.0] * 40, set(), at_once=4, limit=10.0), 40, lambda done, total: None)
