"""Pages per second of the whole ingest without OCR, beside one process of MinerU's flash tier over the same files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium

from tasks.settings import LimitSettings, OcrSettings
from tests.bench.measuring import Bench, Figure, Part, Verdict, at_least, middle
from tests.bench.mineru import MineruAlone
from tests.bench.product import CommandRun, flowreader, last_run

PAGES = 400
"""Enough documents that two stages can overlap, few enough for three rounds."""
PAGES_PROMISED = 200
ROUNDS = 3
SILENT_SHARE = 0.1
"""Pages without text that a born-digital document may have: covers and dividers."""
BOUND, GOAL = 0.7, 1.0
WITHOUT_OCR = "[reading.ocr]\nenabled = false\n"


def measure(bench: Bench) -> Part:
    """Read the same files by turns, MinerU first; a file that MinerU cannot read within the limits is left out of both."""
    chosen, first, left_out = choose(bench)
    pages = {path: read["pages"] for path, read in first.items()}
    alone = [sum(read["seconds"] for read in first.values())]
    commands: list[CommandRun] = []
    flows: list[float] = []
    steps: list[Mapping[str, float]] = []
    for number in range(ROUNDS):
        if number:
            alone.append(_seconds(read_alone(chosen, pages)))
        home, run = ingested(bench, chosen)
        flow = last_run(home)
        if run.reply["totals"]["pages"] != sum(pages.values()) or flow.remembered or flow.failures:
            raise RuntimeError(f"not the same work: {run.reply['totals']}, {flow}, MinerU read {sum(pages.values())} pages")
        commands.append(run)
        flows.append(flow.seconds)
        steps.append(flow.step_seconds)
        if not number:
            without_crops = _seconds(read_alone(chosen, pages, crops="no-crops"))
    total = sum(pages.values())
    ratios = [one / run.seconds for one, run in zip(alone, commands, strict=True)]
    flow_ratios = [one / flow for one, flow in zip(alone, flows, strict=True)]
    counted = at_least(f"ingest without OCR / MinerU, {total} pages", middle(ratios), unit="x", bound=BOUND, goal=GOAL)
    if total < PAGES_PROMISED:
        # start-up weighs more on few pages; the promise speaks of so many
        counted = replace(counted, bound=f"{counted.bound} on {PAGES_PROMISED} pages", verdict=Verdict.NONE)
    return Part(
        figures=[
            counted,
            Figure("  the same without start-up (first step to last)", f"{middle(flow_ratios):.2f} x"),
            Figure("  whole command / MinerU told to cut out no figures", f"{without_crops / commands[0].seconds:.2f} x"),
            Figure("  whole command", f"{total / middle([run.seconds for run in commands]):.2f} pages/s"),
            Figure("  MinerU alone, import excluded", f"{total / middle(alone):.2f} pages/s"),
        ],
        raw={
            "documents": {path.name: pages[path] for path in chosen},
            "left_out": left_out,
            "mineru_seconds": alone,
            "mineru_cpu_seconds": sum(read["cpu_seconds"] for read in first.values()),
            "mineru_seconds_without_crops": without_crops,
            "command_seconds": [run.seconds for run in commands],
            "command_cpu_seconds": [run.cpu_seconds for run in commands],
            "flow_seconds": flows,
            "step_seconds": steps,
            "processes": [run.processes for run in commands],
        },
    )


def choose(bench: Bench) -> tuple[list[Path], dict[Path, dict[str, Any]], dict[str, str]]:
    """Return born-digital documents, by name, until there are pages enough, with MinerU's times, and what was left out."""
    candidates = [path for path in bench.pdfs() if is_born_digital(path)]
    read: dict[Path, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    with MineruAlone("crops") as mineru:
        for path in candidates:
            if sum(one["pages"] for one in read.values()) >= PAGES:
                break
            answer = mineru.read(path, _wall_seconds(path))
            if "problem" in answer:
                left_out[path.name] = answer["problem"]
            else:
                read[path] = answer
    if not read:
        raise RuntimeError(f"no born-digital PDF in {bench.data} that MinerU can read: {left_out}")
    return list(read), read, left_out


def is_born_digital(path: Path) -> bool:
    """Say whether nearly every page has a text layer."""
    counts = text_layer(path)
    silent = sum(count < OcrSettings().minimum_page_characters for count in counts)
    return bool(counts) and silent <= SILENT_SHARE * len(counts)


def text_layer(path: Path) -> list[int]:
    """Return the characters in each page's text layer."""
    with pdfium.PdfDocument(path) as document:
        return [page.get_textpage().count_chars() for page in document]


def ingested(bench: Bench, chosen: Sequence[Path]) -> tuple[Path, CommandRun]:
    """Ingest the files without OCR into a fresh home."""
    home = bench.fresh_home("without-ocr")
    settings = bench.scratch / "without-ocr.toml"
    settings.write_text(WITHOUT_OCR)
    return home, flowreader(home, "ingest", *chosen, "--settings", settings)


def read_alone(chosen: Sequence[Path], pages: Mapping[Path, int], *, crops: str = "crops") -> list[dict[str, Any]]:
    """Have a new MinerU process read the files; it must read what it read before."""
    with MineruAlone(crops) as mineru:
        answers = [mineru.read(path, _wall_seconds(path)) for path in chosen]
    for path, answer in zip(chosen, answers, strict=True):
        if answer.get("pages") != pages[path]:
            raise RuntimeError(f"MinerU read {pages[path]} pages of {path.name} before, now {answer}")
    return answers


def _seconds(answers: Sequence[Mapping[str, Any]]) -> float:
    return float(sum(answer["seconds"] for answer in answers))


def _wall_seconds(path: Path) -> float:
    """Return what the product would give a parser for the file, had it to be read whole."""
    limits = LimitSettings()
    return limits.cpu_seconds_per_range + limits.cpu_seconds_per_page * len(text_layer(path))
