"""Our reading of pages without text beside RapidOCR with its defaults, page by page, on the same pictures."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tasks.models.ocr import read_pictures
from tasks.parsing import render_page, stop_children
from tasks.picture_reading import PICTURES_AT_ONCE
from tasks.settings import LimitSettings, OcrSettings, WorkSettings
from tests.bench.measuring import Bench, Figure, Part, Verdict, at_most, middle
from tests.bench.throughput import text_layer

PAGES = 20
ROUNDS = 3
BOUND = 1.5
WORDS_DIFFERENT_PERCENT = 2.0

Words = list[Counter[str]]


def measure(bench: Bench) -> Part:
    """Read the same pictures by turns; both engines are loaded and have read once before."""
    from rapidocr import RapidOCR

    pages = silent_pages(bench)
    if not pages:
        return Part([Figure("OCR / RapidOCR", f"no PDF page without text in {bench.data}")], {"pages": []})
    pictures = draw(pages)
    engine: Any = RapidOCR(params={"Global.log_level": "critical"})
    # its angle classifier takes some upright lines for upside down and loses them; without it the two readers do the same work
    unturning: Any = RapidOCR(params={"Global.log_level": "critical", "Global.use_cls": False})

    def page_by_page(reader: Any = engine) -> Words:
        return [_count(reader(picture).txts or ()) for picture in pictures]

    def in_our_batches() -> Words:
        least, read = OcrSettings().minimum_confidence, []
        for first in range(0, len(pictures), PICTURES_AT_ONCE):
            read += read_pictures(pictures[first : first + PICTURES_AT_ONCE])
        return [_count([line.text for line in page.lines if line.confidence >= least]) for page in read]

    engine(pictures[0])
    read_pictures(pictures[:1])
    pairs = [(_timed(page_by_page), _timed(in_our_batches)) for _ in range(ROUNDS)]
    theirs, ours = pairs[-1][0][1], pairs[-1][1][1]
    ratio, likeness = middle([slow[0] / fast[0] for slow, fast in pairs]), f1(theirs, ours)
    unturned = f1(page_by_page(unturning), ours)
    return Part(
        figures=[
            Figure(
                f"OCR / RapidOCR page by page, {len(pages)} pages",
                f"{ratio:.2f} x",
                f">= {BOUND}",
                "",
                Verdict.MET if ratio >= BOUND else Verdict.MISSED,
            ),
            at_most("  words that differ", 100 * (1 - likeness), unit="%", bound=WORDS_DIFFERENT_PERCENT),
            Figure("  words that differ from RapidOCR's without its angle classifier", f"{100 * (1 - unturned):,.1f} %"),
            Figure("  ours", f"{middle([fast[0] for _, fast in pairs]) / len(pages):.2f} s/page, {_total(ours)} words"),
            Figure("  RapidOCR", f"{middle([slow[0] for slow, _ in pairs]) / len(pages):.2f} s/page, {_total(theirs)} words"),
        ],
        raw={
            "pages": [f"{path.name} {page}" for path, page in pages],
            "reference_seconds": [slow[0] for slow, _ in pairs],
            "our_seconds": [fast[0] for _, fast in pairs],
            "words": {"reference": _total(theirs), "ours": _total(ours), "in_both": _total(_common(theirs, ours))},
            "f1": likeness,
            "f1_without_angle_classifier": unturned,
            "f1_of_pages": [f1([one], [other]) for one, other in zip(theirs, ours, strict=True)],
        },
    )


def silent_pages(bench: Bench) -> list[tuple[Path, int]]:
    """Return pages without a text layer, spread evenly over all there are: the first ones of documents are covers."""
    least = OcrSettings().minimum_page_characters
    silent = [(path, number) for path in bench.pdfs() for number, count in enumerate(text_layer(path), 1) if count < least]
    return [silent[place * len(silent) // PAGES] for place in range(PAGES)] if len(silent) > PAGES else silent


def draw(pages: Sequence[tuple[Path, int]]) -> list[bytes]:
    """Draw the pages as the product does, in its parser children, which end before anything is timed."""
    dpi = OcrSettings().page_dpi
    drawn = [
        render_page(path, page=page, dpi=dpi, password=None, limits=LimitSettings(), work=WorkSettings()) for path, page in pages
    ]
    stop_children()
    return drawn


def f1(theirs: Words, ours: Words) -> float:
    """Return how alike the words of all pages are, each counted as often as it stands on its page."""
    both, words = _total(_common(theirs, ours)), _total(theirs) + _total(ours)
    return 2 * both / words if words else 1.0


def _common(theirs: Words, ours: Words) -> Words:
    return [one & other for one, other in zip(theirs, ours, strict=True)]


def _total(words: Words) -> int:
    return sum(page.total() for page in words)


def _count(lines: Sequence[str]) -> Counter[str]:
    return Counter(word for line in lines for word in line.split())


def _timed(read: Callable[[], Words]) -> tuple[float, Words]:
    began = time.monotonic()
    words = read()
    return time.monotonic() - began, words
