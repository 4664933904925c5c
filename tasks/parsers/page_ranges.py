"""A PDF's pages, range by range in children side by side, with a fallback for each page that misbehaves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from storage.records import PageParser, ParsedPage
from tasks.parsers.desk import Desk
from tasks.parsers.jobs import Work
from tasks.parsers.supervisor import Ending

LOOK_BACK = 8
"""A range knows the CPU time of those so far before it: they are done, whoever works on it and with how many children."""


@dataclass(frozen=True, slots=True)
class RangeReading:
    """The pages of a range, and the CPU time that its children used."""

    pages: list[ParsedPage]
    cpu_seconds: float


def read_page_ranges(desk: Desk, total: int, on_pages: Callable[[int, int], None]) -> tuple[ParsedPage, ...]:
    """Read all pages, in order; a page that nobody could read is empty, its parser `none`, and its note says why.

    Once the document has used up its CPU time the text layer is read. Which pages that meets depends on the CPU time of the
    ranges before them alone, not on how many are read at the same time.
    """
    ranges: list[Future[RangeReading]] = []
    pages: list[ParsedPage] = []

    def read(place: int, first: int, last: int) -> RangeReading:
        before = sum(earlier.result().cpu_seconds for earlier in ranges[: max(0, place - LOOK_BACK + 1)])
        return _read_range(desk, first, last, before)

    with ThreadPoolExecutor(desk.rules.work.parsers_at_once, thread_name_prefix="parse") as threads:
        for place, (first, last) in enumerate(cut_ranges(total, desk.rules.parse.pages_per_range)):
            ranges.append(threads.submit(read, place, first, last))
        try:
            for done in as_completed(ranges):
                pages.extend(done.result().pages)
                on_pages(len(pages), total)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return tuple(sorted(pages, key=lambda page: page.number))


def cut_ranges(total: int, most: int) -> list[tuple[int, int]]:
    """Cut pages 1 to `total` into ranges (first, last) of nearly the same length, `most` at most.

    A short last range would show MinerU too few pages to tell a running header from a title.
    """
    ranges = -(-total // most)
    edges = [total * place // ranges for place in range(ranges + 1)]
    return [(first + 1, last) for first, last in itertools.pairwise(edges)]


def _read_range(desk: Desk, first: int, last: int, spent: float) -> RangeReading:
    """Read a range with MinerU; where that fails, each of its pages alone, in a child with a page's limits.

    `spent` is the CPU time that the document has used so far.
    """
    numbers, limit = range(first, last + 1), desk.rules.limits.cpu_seconds_per_document
    if spent > limit:
        return _together(
            _read_text_layer(desk, number, f"the document used more than {limit:.0f} s of CPU time") for number in numbers
        )
    ending, folder = desk.run(Work.MINERU, pages=len(numbers), first=first, last=last)
    if ending.problem and len(numbers) > 1:
        desk.clear(folder)
        return _read_each(desk, numbers, spent, ending.cpu_seconds)
    read = _pages(desk, ending, folder)
    if ending.problem:
        note = f"the pictures of the page could not be cut: pdfium {ending.problem}"
        read = {number: replace(page, note=note) for number, page in read.items()}
    problem = f"MinerU {ending.problem or 'left the page out'}"
    missing = [_read_text_layer(desk, number, problem) for number in numbers if number not in read]
    return _together([RangeReading([read[number] for number in numbers if number in read], ending.cpu_seconds), *missing])


def _read_each(desk: Desk, numbers: range, spent: float, failed: float) -> RangeReading:
    """Read the pages one by one, after the range of them failed and used so much CPU time."""
    readings = [RangeReading([], failed)]
    for number in numbers:
        used = spent + sum(reading.cpu_seconds for reading in readings)
        readings.append(_read_range(desk, number, number, used))
    return _together(readings)


def _together(readings: Iterable[RangeReading]) -> RangeReading:
    parts = list(readings)
    return RangeReading([page for part in parts for page in part.pages], sum(part.cpu_seconds for part in parts))


def _read_text_layer(desk: Desk, number: int, problem: str) -> RangeReading:
    """Read a page by pdfium; where that fails too it stays empty. The note says both."""
    ending, folder = desk.run(Work.TEXT_LAYER, pages=1, first=number, last=number)
    page = _pages(desk, ending, folder).get(number)
    if page is None:
        page = ParsedPage(number=number, width_points=0.0, height_points=0.0, parser=PageParser.NONE, blocks=())
        note = f"{problem}; pdfium {ending.problem or 'found no such page'}"
    else:
        note = f"{problem}; text layer read by pdfium"
    return RangeReading([replace(page, note=note)], ending.cpu_seconds)


def _pages(desk: Desk, ending: Ending, folder: Path) -> dict[int, ParsedPage]:
    """Return the pages that a child left, by their number."""
    reading = desk.take_answer(ending, folder)
    return {page.number: page for page in reading.pages} if reading else {}
