"""`make bench-ingest`: what was promised of the ingest, measured. Prints a table, writes bench-ingest.json.

Every ratio is taken within one run, the two sides by turns. Parts: throughput, ocr, whole.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

from tasks.models.ocr import read_pictures
from tasks.parsing.parse import render_page
from tasks.parsing.pictures_read import PICTURES_AT_ONCE
from tasks.parsing.supervisor import CHILDREN
from tasks.settings.ingest import IngestSettings, LimitSettings, OcrSettings
from tests.bench.measuring import ROOT, Figure, Part, flowreader, measure_parts, timed
from tests.bench.mineru_alone import read_alone, text_layer

ROUNDS = 3
THROUGHPUT_PAGES, PROMISED_FROM_PAGES = 400, 200
"""Enough documents that two stages can overlap, few enough for the rounds; on fewer start-up weighs more than was promised of."""
SILENT_SHARE = 0.1
"""Pages without text that a born-digital document may have: covers and dividers."""
SILENT_PAGES = 20
PROMISED_DOCUMENTS, PROMISED_MINUTES, COMMAND_MEGABYTES = 38, 40, 1536

Words = list[Counter[str]]


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the parts find documents and may write; `keep` takes the whole corpus, where somebody wants it."""

    data: Path
    scratch: Path
    keep: Path | None = None

    def documents(self, suffix: str = "") -> list[Path]:
        return sorted(path for path in self.data.rglob(f"*{suffix}") if path.is_file())

    def ingested(self, chosen: Sequence[Path]) -> tuple[float, int]:
        """Ingest the files without OCR into a fresh home; return the seconds and the pages."""
        home = Path(tempfile.mkdtemp(dir=self.scratch))
        settings = self.scratch / "without-ocr.toml"
        settings.write_text("[reading.ocr]\nenabled = false\n")
        run = flowreader(home, "ingest", *chosen, "--settings", settings)
        return run.seconds, run.reply["totals"]["pages"]


def measure_throughput(bench: Bench) -> Part:
    """Read the same files by turns, MinerU first; a file that MinerU cannot read within the limits is left out of both."""
    first = read_alone(born_digital(bench))
    if not first:
        raise RuntimeError(f"no born-digital PDF in {bench.data} that MinerU can read")
    chosen, total = list(first), sum(pages for _seconds, pages in first.values())
    alone, ours = [], []
    for number in range(ROUNDS):
        read = read_alone(chosen) if number else first
        seconds, pages = bench.ingested(chosen)
        if pages != total or len(read) != len(chosen):
            raise RuntimeError(f"not the same work: {pages} pages of {len(chosen)} files, MinerU read {total} of {len(read)}")
        alone.append(sum(one for one, _pages in read.values()))
        ours.append(seconds)
    ratio = median(one / other for one, other in zip(alone, ours, strict=True))
    least = 0.7 if total >= PROMISED_FROM_PAGES else -inf
    figures = [
        Figure(f"ingest without OCR / MinerU, {total} pages", ratio, "x", least=least),
        Figure("  the whole command", total / median(ours), "pages/s"),
        Figure("  MinerU alone, import excluded", total / median(alone), "pages/s"),
    ]
    return figures, {"documents": [path.name for path in chosen], "mineru_seconds": alone, "command_seconds": ours}


def born_digital(bench: Bench) -> list[Path]:
    """Return documents of which nearly every page has a text layer, by name, until there are pages enough."""
    chosen, pages = [], 0
    for path in bench.documents(".pdf"):
        counts = text_layer(path)
        silent = sum(count < OcrSettings().minimum_page_characters for count in counts)
        if counts and pages < THROUGHPUT_PAGES and silent <= SILENT_SHARE * len(counts):
            chosen.append(path)
            pages += len(counts)
    return chosen


def measure_ocr(bench: Bench) -> Part:
    """Read the same pictures by turns, beside RapidOCR with its defaults, page by page; both have read once before."""
    from rapidocr import RapidOCR

    pages = silent_pages(bench)
    if not pages:
        return [Figure(f"pages without text in {bench.data}", 0)], {}
    dpi = OcrSettings().page_dpi
    pictures = [render_page(path, page=page, dpi=dpi, settings=IngestSettings()) for path, page in pages]
    CHILDREN.stop()
    engine: Any = RapidOCR(params={"Global.log_level": "critical"})

    def page_by_page() -> Words:
        return [words_of(engine(picture).txts or ()) for picture in pictures]

    def in_our_batches() -> Words:
        least, read = OcrSettings().minimum_confidence, []
        for first in range(0, len(pictures), PICTURES_AT_ONCE):
            read += read_pictures(pictures[first : first + PICTURES_AT_ONCE])
        return [words_of([line.text for line in page.lines if line.confidence >= least]) for page in read]

    engine(pictures[0])
    read_pictures(pictures[:1])
    pairs = [(timed(page_by_page), timed(in_our_batches)) for _ in range(ROUNDS)]
    (_, theirs), (_, ours) = pairs[-1]
    ratio = median(slow / fast for (slow, _), (fast, _) in pairs)
    both = sum((one & other).total() for one, other in zip(theirs, ours, strict=True))
    all_words = sum(page.total() for page in (*theirs, *ours))
    figures = [
        Figure(
            f"OCR / RapidOCR page by page, {len(pages)} pages",
            ratio,
            "x",
            least=1.5,
        ),
        Figure("  words that differ", 100 - 200 * both / max(1, all_words), "%", most=2),
    ]
    return figures, {"seconds": [(slow, fast) for (slow, _), (fast, _) in pairs]}


def silent_pages(bench: Bench) -> list[tuple[Path, int]]:
    """Return pages without a text layer, spread evenly over all there are: the first ones of documents are covers."""
    least = OcrSettings().minimum_page_characters
    silent = [
        (path, number) for path in bench.documents(".pdf") for number, count in enumerate(text_layer(path), 1) if count < least
    ]
    taken = min(SILENT_PAGES, len(silent))
    return [silent[place * len(silent) // taken] for place in range(taken)]


def words_of(lines: Sequence[str]) -> Counter[str]:
    return Counter(word for line in lines for word in line.split())


def measure_whole(bench: Bench) -> Part:
    """Ingest everything into one home, OCR included, and keep it where that was asked for."""
    home = bench.keep or bench.scratch / "whole"
    home.mkdir(parents=True, exist_ok=True)
    if any(home.iterdir()):
        raise RuntimeError(f"{home} is not empty; BENCH_KEEP takes a folder that is empty or does not exist")
    run = flowreader(home, "ingest", bench.data)
    totals, files = run.reply["totals"], len(bench.documents())
    promised = {"command": COMMAND_MEGABYTES, "parser child": LimitSettings().memory_megabytes}
    minutes = PROMISED_MINUTES if files == PROMISED_DOCUMENTS else inf
    figures = [
        Figure(f"the whole ingest, {files} documents, {totals['pages']} pages", run.seconds / 60, "min", most=minutes),
        Figure("  documents ready", totals["states"].get("ready", 0), least=files),
        *(
            Figure(f"  peak memory, {kind}", peak, "MB", most=promised.get(kind, inf))
            for kind, peak in sorted(run.megabytes.items())
        ),
    ]
    return figures, {"totals": totals}


def main() -> None:
    parts = {"throughput": measure_throughput, "ocr": measure_ocr, "whole": measure_whole}
    parser = argparse.ArgumentParser(prog="bench-ingest", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / "tests" / "corpus", help="folder of documents (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=list(parts), help="only this part (repeatable)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the whole corpus here, as a FLOWREADER_HOME")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flowreader-bench-") as scratch:
        bench = Bench(data=asked.data.absolute(), scratch=Path(scratch), keep=asked.keep.absolute() if asked.keep else None)
        measure_parts("bench-ingest", {name: partial(measure, bench) for name, measure in parts.items()}, asked.only)


if __name__ == "__main__":
    main()
