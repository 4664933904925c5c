"""`make bench-ask`: how long questions take. Prints a table, writes bench-ask.json.

Parts: questions (warm, on synthetic corpora of several sizes, kept in a folder), readers (the same for each way of answering, at
10,000 nodes), cold.
"""

import argparse
import asyncio
import multiprocessing
import os
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tasks.settings.ask import AskSettings
from tasks.settings.readers import READERS, Reader
from tests.bench.ask_world import corpus, questions
from tests.bench.measuring import ROOT, Figure, Part, flowreader, measure_parts, peak_megabytes

SIZES = [1_000, 10_000, 100_000]
WARM, MEASURED = 15, 50
PROMISED = {10_000: (60.0, 120.0)}
"""Milliseconds by nodes: the median, and the 95th percentile."""
MEMORY_MEGABYTES = 1536
NO_SETTINGS: Mapping[str, Any] = {}
PLAIN, DEARER = {"second": {"tokens_weight": 0.0}, "named": {"document": 0.0}}, 1.2
"""What a question may cost, against one whose pages are compared by no tokens and lean to no document."""

READERS_NODES = 10_000
READER_MEDIANS = {"flow": 60.0, "plan": 300.0, "agent": 250.0, "map": 200.0, "walk": 150.0}
"""Milliseconds promised, by reader."""

COLD_ROUNDS, COLD_SECONDS = 7, 3.0
COLD_QUESTION = "What was the total revenue of Merrow Tidal Systems in 2024?"


def measure_questions(folder: Path, sizes: list[int]) -> Part:
    """Ask each corpus in a process of its own."""
    figures: list[Figure] = []
    raw = {}
    for nodes in sizes:
        corpus(folder, nodes)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as own_process:
            milliseconds, megabytes = own_process.submit(ask_one_corpus, folder, nodes).result()
            plain, _megabytes = own_process.submit(ask_one_corpus, folder, nodes, settings=PLAIN).result()
        raw |= {f"{nodes}": milliseconds, f"{nodes}, plain": plain}
        usual, slow = PROMISED.get(nodes, (inf, inf))
        warm = milliseconds[WARM:]
        figures += [
            Figure(f"{nodes:,} nodes: median", median(warm), "ms", most=usual),
            Figure(f"{nodes:,} nodes: times one without tokens and leaning", median(warm) / median(plain[WARM:]), "x", most=DEARER),
            Figure(f"{nodes:,} nodes: 95th percentile", float(np.percentile(warm, 95)), "ms", most=slow),
            Figure(f"{nodes:,} nodes: memory of the process", megabytes, "MB", most=MEMORY_MEGABYTES),
        ]
    return figures, {"milliseconds": raw}


def measure_readers(folder: Path) -> Part:
    """Ask the same questions of each way of answering, each in a process of its own; `plan` also some of two parts."""
    corpus(folder, READERS_NODES)
    figures: list[Figure] = []
    raw = {}
    for reader, parts in [*((reader, 1) for reader in READERS), ("plan", 2)]:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as own_process:
            milliseconds, _megabytes = own_process.submit(ask_one_corpus, folder, READERS_NODES, reader, parts).result()
        what = f"{reader}, {READERS_NODES:,} nodes" + ", two parts" * (parts == 2)
        raw[what] = milliseconds
        figures.append(Figure(f"{what}: median", median(milliseconds[WARM:]), "ms", most=READER_MEDIANS.get(reader, inf)))
    return figures, {"milliseconds": raw}


def ask_one_corpus(
    folder: Path, nodes: int, reader: Reader = "flow", parts: int = 1, settings: Mapping[str, Any] = NO_SETTINGS
) -> tuple[list[float], float]:
    """Return the milliseconds of each question, those to warm up among them, and the megabytes that this process took."""
    os.environ["FLOWREADER_HOME"] = str(folder)
    return asyncio.run(ask_all(f"nodes-{nodes}", reader, parts, AskSettings(**settings))), peak_megabytes("self")


async def ask_all(name: str, reader: Reader, parts: int, settings: AskSettings) -> list[float]:
    from flows.ask import ask
    from tasks.asking.request import AskRequest

    one_part = questions(parts * (WARM + MEASURED), seed=5)
    asked = tuple(" ".join(one_part[first : first + parts]) for first in range(0, len(one_part), parts))
    times = []
    began = time.perf_counter()
    async with aclosing(ask(AskRequest(questions=asked, corpus=name, reader=reader, fresh=True, settings=settings))) as answers:
        async for _answer in answers:
            times.append(1000 * (time.perf_counter() - began))
            began = time.perf_counter()
    return times


def measure_cold(home: Path) -> Part:
    """Ingest tests/corpus, then ask it again and again, from the shell to the answer, everything loaded anew each time."""
    home.mkdir()
    flowreader(home, "ingest", ROOT / "tests" / "corpus")
    times = [flowreader(home, "ask", COLD_QUESTION, "--fresh").seconds for _ in range(COLD_ROUNDS)]
    again = [flowreader(home, "ask", COLD_QUESTION).seconds for _ in range(COLD_ROUNDS)]
    figures = [
        Figure("a cold `flowreader ask`, median", median(times), "s", most=COLD_SECONDS),
        Figure("a cold `flowreader ask`, slowest", max(times), "s", most=COLD_SECONDS),
        Figure("the same again, kept, median", median(again), "s", most=COLD_SECONDS),
    ]
    return figures, {"seconds": times, "again_seconds": again}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench-ask", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the synthetic corpora are kept")
    parser.add_argument("--nodes", type=int, nargs="+", default=SIZES, help="sizes of the corpora (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=["cold", "questions", "readers"], help="only this part (repeatable)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flowreader-bench-") as scratch:
        parts = {
            "cold": lambda: measure_cold(Path(scratch, "cold")),
            "questions": lambda: measure_questions((asked.folder or Path(scratch)).absolute(), asked.nodes),
            "readers": lambda: measure_readers((asked.folder or Path(scratch)).absolute()),
        }
        measure_parts("bench-ask", parts, asked.only)


if __name__ == "__main__":
    main()
