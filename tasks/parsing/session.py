"""The session in which one document is read: its private copy and its scratch folder."""

import errno
import functools
import hashlib
import itertools
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

from storage.artifacts import ArtifactStore
from storage.records.documents import DocumentState, PageParser, ParsedPage
from storage.system import is_running, open_plain
from tasks.parsing.jobs import (
    ANSWER,
    CONFINEMENT,
    CONFINEMENTS,
    READINGS,
    Job,
    ParseError,
    Reading,
    Work,
    read_left_bytes,
    read_left_json,
)
from tasks.parsing.supervisor import CHILDREN, REPLY_BYTES, Ending
from tasks.settings.ingest import IngestSettings

READ_BYTES = 1 << 20
DISK_FULL = f"[Errno {errno.ENOSPC}]"
SCRATCH_NAME = re.compile(r"flowreader-parse-(\d+)-")
PICTURE_NAME = re.compile(r"(?:figure|image)-[0-9-]+")
LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class Session:
    """One document at work. `source` is the copy to read; without `artifacts` its pictures are not kept."""

    source: Path
    name: str
    scratch: Path
    password: str | None
    settings: IngestSettings
    artifacts: ArtifactStore | None

    def run(
        self, work: Work, *, pages: int, first: int = 1, last: int = 1, media_type: str = "", dpi: int = 0
    ) -> tuple[Ending, Path]:
        """Let a child do the work under the limits for this number of pages; return how it ended, and its folder.

        Raises OSError where the disk is full: that is not the document's fault, and no fallback helps.
        """
        limits = self.settings.limits
        cpu_seconds = limits.cpu_seconds_per_range + pages * limits.cpu_seconds_per_page
        folder = Path(tempfile.mkdtemp(prefix=f"{work}-{first}-", dir=self.scratch))
        job = Job(
            work=work, source=self.source, folder=folder, name=self.name, media_type=media_type, first_page=first, last_page=last,
            dpi=dpi, password=self.password, cpu_seconds=cpu_seconds, wall_seconds=cpu_seconds * limits.wall_factor,
            parse=self.settings.reading.parse, ocr=self.settings.reading.ocr, limits=limits,
        )  # fmt: skip
        ending = CHILDREN.run(job, at_once=self.settings.work.parsers_at_once)
        for words in read_left_json(folder, CONFINEMENT, CONFINEMENTS, most_bytes=REPLY_BYTES) or ():
            _warn_once(words)
        if DISK_FULL in ending.problem:
            raise OSError(errno.ENOSPC, "disk full while a document was parsed; free space there, or set TMPDIR", str(self.scratch))
        return ending, folder

    def take_answer(self, ending: Ending, folder: Path) -> Reading | None:
        """Read the pages that the child left, store their pictures, and clear its folder; None where it left none.

        What a child wrote is checked: one that was taken over could have written anything.
        """
        try:
            most = self.settings.limits.answer_megabytes << 20
            reading = read_left_json(folder, ANSWER, READINGS, most_bytes=most) if ending.answered else None
            return replace(reading, pages=tuple(self._with_pictures(page, folder) for page in reading.pages)) if reading else None
        finally:
            self.clear(folder)

    def clear(self, folder: Path) -> None:
        """Drop what a child left: one alone may write half a gigabyte."""
        rmtree(folder)

    def _with_pictures(self, page: ParsedPage, folder: Path) -> ParsedPage:
        blocks = tuple(
            replace(block, picture=self._store(folder, block.picture)) if block.picture else block for block in page.blocks
        )
        return replace(page, blocks=blocks, image=self._store(folder, page.image) if page.image else None)

    def _store(self, folder: Path, name: str) -> str | None:
        """Put one file of the child's folder into the store; a name or a link that leads elsewhere is nothing."""
        if self.artifacts is None or not PICTURE_NAME.fullmatch(name):
            return None
        picture = read_left_bytes(folder, name, most_bytes=self.settings.limits.output_megabytes << 20)
        return None if picture is None else self.artifacts.put(picture)


@contextmanager
def session_for(
    path: Path,
    *,
    settings: IngestSettings,
    document_id: str | None = None,
    password: str | None = None,
    artifacts: ArtifactStore | None = None,
) -> Iterator[Session]:
    """Open a session with a private copy of the file, and clear it away.

    Raises ParseError where the file is too large, or is not the one named `document_id` any more; OSError where it cannot be
    read or copied.
    """
    _sweep_scratch()
    with tempfile.TemporaryDirectory(prefix=f"flowreader-parse-{os.getpid()}-") as folder:
        scratch = Path(folder).resolve()
        copied = _copy(path, scratch / "document", megabytes=settings.limits.file_megabytes)
        if document_id not in {None, copied}:
            raise ParseError(DocumentState.FAILED, "the file changed while it was read; ingest it again")
        yield Session(scratch / "document", writable_name(path), scratch, password, settings, artifacts)


def _copy(path: Path, target: Path, *, megabytes: int) -> str:
    """Copy the file, so that it cannot change under the parser's hands; return the hash of what was copied."""
    digest = hashlib.sha256()
    with open_plain(str(path)) as stream, target.open("xb") as copy:
        while piece := stream.read(READ_BYTES):
            digest.update(piece)
            copy.write(piece)
            if copy.tell() > megabytes << 20:
                raise ParseError(DocumentState.FAILED, f"the file is larger than {megabytes} MB (limits.file_megabytes)")
    return digest.hexdigest()


@functools.cache
def _sweep_scratch() -> None:
    """Remove, once in a process, the scratch folders of processes that are no more."""
    for folder in Path(tempfile.gettempdir()).glob("flowreader-parse-*"):
        owner = SCRATCH_NAME.match(folder.name)
        if owner and not is_running(int(owner[1])):
            rmtree(folder, ignore_errors=True)


@functools.cache
def _warn_once(words: str) -> None:
    LOGGER.warning("parser children are not fully confined: %s", words)


def writable_name(path: Path) -> str:
    """Return the file's name fit for JSON and messages: bytes that are no UTF-8 are escaped."""
    return os.fsencode(path.name).decode("utf-8", "backslashreplace")


LOOK_BACK = 8
"""A range knows the CPU time of those so far before it: they are done, whichever thread reads it and with however many children."""


@dataclass(frozen=True, slots=True)
class RangeReading:
    """The pages of a range, and the CPU time that its children used."""

    pages: list[ParsedPage]
    cpu_seconds: float


def read_page_ranges(session: Session, total: int, on_pages: Callable[[int, int], None]) -> tuple[ParsedPage, ...]:
    """Read all pages, in order; a page that no parser could read is empty, its parser `none`, and its note says why.

    Once the document has used up its CPU time the text layer is read. Which pages that meets depends on the CPU time of the
    ranges before them alone, not on how many are read at the same time.
    """
    ranges: list[Future[RangeReading]] = []
    pages: list[ParsedPage] = []

    def read(place: int, first: int, last: int) -> RangeReading:
        before = sum(earlier.result().cpu_seconds for earlier in ranges[: max(0, place - LOOK_BACK + 1)])
        return _read_range(session, first, last, before)

    with ThreadPoolExecutor(session.settings.work.parsers_at_once, thread_name_prefix="parse") as threads:
        for place, (first, last) in enumerate(cut_ranges(total, session.settings.reading.parse.pages_per_range)):
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


def _read_range(session: Session, first: int, last: int, spent: float) -> RangeReading:
    """Read a range with MinerU; where that fails, each of its pages alone, in a child with a page's limits.

    `spent` is the CPU time that the document has used so far.
    """
    numbers, limit = range(first, last + 1), session.settings.limits.cpu_seconds_per_document
    if spent > limit:
        return _together(
            _read_text_layer(session, number, f"the document used more than {limit:.0f} s of CPU time") for number in numbers
        )
    ending, folder = session.run(Work.MINERU, pages=len(numbers), first=first, last=last)
    if ending.problem and len(numbers) > 1:
        session.clear(folder)
        readings = [RangeReading([], ending.cpu_seconds)]
        for number in numbers:
            readings.append(_read_range(session, number, number, spent + _together(readings).cpu_seconds))
        return _together(readings)
    read = _pages(session, ending, folder)
    if ending.problem:
        note = f"the pictures of the page could not be cut: pdfium {ending.problem}"
        read = {number: replace(page, note=note) for number, page in read.items()}
    problem = f"MinerU {ending.problem or 'left the page out'}"
    missing = [_read_text_layer(session, number, problem) for number in numbers if number not in read]
    return _together([RangeReading([read[number] for number in numbers if number in read], ending.cpu_seconds), *missing])


def _together(readings: Iterable[RangeReading]) -> RangeReading:
    parts = list(readings)
    return RangeReading([page for part in parts for page in part.pages], sum(part.cpu_seconds for part in parts))


def _read_text_layer(session: Session, number: int, problem: str) -> RangeReading:
    """Read a page by pdfium; where that fails too it stays empty. The note says both."""
    ending, folder = session.run(Work.TEXT_LAYER, pages=1, first=number, last=number)
    page = _pages(session, ending, folder).get(number)
    if page is None:
        page = ParsedPage(number=number, width_points=0.0, height_points=0.0, parser=PageParser.NONE, blocks=())
        note = f"{problem}; pdfium {ending.problem or 'found no such page'}"
    else:
        note = f"{problem}; text layer read by pdfium"
    return RangeReading([replace(page, note=note)], ending.cpu_seconds)


def _pages(session: Session, ending: Ending, folder: Path) -> dict[int, ParsedPage]:
    reading = session.take_answer(ending, folder)
    return {page.number: page for page in reading.pages} if reading else {}
