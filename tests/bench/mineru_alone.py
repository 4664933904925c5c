"""MinerU's flash tier as it comes out of the box and nothing else, in a process of its own: what the ingest is measured against."""

import multiprocessing
import os
import resource
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from pathlib import Path

import pypdfium2 as pdfium

from tasks.settings.ingest import LimitSettings
from tests.bench.measuring import timed


def read_alone(paths: Sequence[Path]) -> dict[Path, tuple[float, int]]:
    """Return seconds and pages of each file; one that MinerU cannot read within the product's limits is left out."""
    read: dict[Path, tuple[float, int]] = {}
    left = list(paths)
    while left:
        with (
            suppress(BrokenProcessPool, TimeoutError),
            ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=warm_up) as process,
        ):
            while left:
                path = left.pop(0)
                try:
                    found = process.submit(read_one, path).result(seconds_for(path))
                except TimeoutError:
                    for child in multiprocessing.active_children():
                        child.kill()
                    raise
                if found is not None:
                    read[path] = found
    return read


def seconds_for(path: Path) -> float:
    """Return what the product would give a parser for the file, had it to be read whole."""
    limits = LimitSettings()
    return limits.cpu_seconds_per_range + limits.cpu_seconds_per_page * len(text_layer(path))


def text_layer(path: Path) -> list[int]:
    """Return the characters in each page's text layer."""
    with pdfium.PdfDocument(path) as document:
        return [page.get_textpage().count_chars() for page in document]


def warm_up() -> None:
    """Make the process as a parser of the product is: silent, with its memory limit, everything loaded by a page of nothing."""
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    memory = LimitSettings().memory_megabytes << 20
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    os.environ |= {"DO_NOT_TRACK": "1", "LOGURU_LEVEL": "CRITICAL"}
    document = pdfium.PdfDocument.new()
    document.new_page(595, 842)
    with tempfile.TemporaryDirectory(prefix="mineru-alone-") as folder:
        document.save(Path(folder, "sample.pdf"))
        pages_of(Path(folder, "sample.pdf"))


def read_one(path: Path) -> tuple[float, int] | None:
    try:
        return timed(partial(pages_of, path))
    except Exception:
        return None


def pages_of(path: Path) -> int:
    from mineru import parse

    return len(parse(str(path), tier="flash", ocr_mode="txt").pages)
