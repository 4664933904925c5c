"""A PDF's pages, range by range in children side by side, with a fallback for each page that misbehaves."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from storage.records import PageParser, ParsedPage
from tasks.parsers.desk import Desk
from tasks.parsers.jobs import Work
from tasks.parsers.supervisor import Ending


def read_page_ranges(desk: Desk, total: int, on_pages: Callable[[int, int], None]) -> tuple[ParsedPage, ...]:
    """Read all pages, in order; a page that nobody could read is empty, its parser `none`, and its note says why."""
    pages: list[ParsedPage] = []
    with ThreadPoolExecutor(desk.rules.work.parsers_at_once, thread_name_prefix="parse") as threads:
        pending: set[Future[list[ParsedPage]]] = {
            threads.submit(_read_range, desk, first, last) for first, last in cut_ranges(total, desk.rules.parse.pages_per_range)
        }
        try:
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    pages.extend(future.result())
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


def _read_range(desk: Desk, first: int, last: int) -> list[ParsedPage]:
    """Read a range with MinerU; where that fails, each of its pages alone, in a child with a page's limits."""
    numbers = range(first, last + 1)
    if desk.exhausted:
        problem = f"the document used more than {desk.rules.limits.cpu_seconds_per_document:.0f} s of CPU time"
        return [_read_text_layer(desk, number, problem) for number in numbers]
    ending, folder = desk.run(Work.MINERU, pages=len(numbers), first=first, last=last)
    if ending.problem and len(numbers) > 1:
        return [page for number in numbers for page in _read_range(desk, number, number)]
    read = _pages(desk, ending, folder)
    if ending.problem:
        note = f"the pictures of the page could not be cut: pdfium {ending.problem}"
        read = {number: replace(page, note=note) for number, page in read.items()}
    problem = f"MinerU {ending.problem or 'left the page out'}"
    return [read.get(number) or _read_text_layer(desk, number, problem) for number in numbers]


def _read_text_layer(desk: Desk, number: int, problem: str) -> ParsedPage:
    """Read a page by pdfium; where that fails too it stays empty. The note says both."""
    ending, folder = desk.run(Work.TEXT_LAYER, pages=1, first=number, last=number)
    page = _pages(desk, ending, folder).get(number)
    if page is not None:
        return replace(page, note=f"{problem}; text layer read by pdfium")
    return ParsedPage(
        number=number, width_points=0.0, height_points=0.0, parser=PageParser.NONE, blocks=(),
        note=f"{problem}; pdfium {ending.problem or 'found no such page'}",
    )  # fmt: skip


def _pages(desk: Desk, ending: Ending, folder: Path) -> dict[int, ParsedPage]:
    """Return the pages that a child left, by their number."""
    reading = desk.take_answer(ending, folder)
    return {page.number: page for page in reading.pages} if reading else {}
