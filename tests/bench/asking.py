"""How long a warm question takes, on corpora of a thousand to a million nodes, and how much memory the answering process needs."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.bench.ask_corpora import corpus
from tests.bench.ask_world import questions
from tests.bench.measuring import ROOT, Figure, Part, Verdict

WARM, MEASURED = 15, 50
BOUNDS = {10_000: (60.0, 120.0), 1_000_000: (150.0, float("inf"))}
"""Milliseconds: the median, and the 95th percentile."""
GOALS = {10_000: 30.0, 1_000_000: 60.0}
MEMORY_MEGABYTES = 1536


def measure(folder: Path, sizes: list[int]) -> Part:
    """Ask each corpus in a process of its own."""
    figures: list[Figure] = []
    raw = {}
    for nodes in sizes:
        corpus(folder, nodes)
        call = [sys.executable, "-m", "tests.bench.asking", "--folder", str(folder), "--nodes", str(nodes)]
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-3000:])
        raw[f"{nodes}"] = found = json.loads(done.stdout)
        figures += figures_of(nodes, found)
    return Part(figures=figures, raw={"sizes": raw})


def figures_of(nodes: int, found: dict) -> list[Figure]:
    """Return the rows of one corpus."""
    median, tail = BOUNDS.get(nodes, (None, None))
    return [
        judged(f"{nodes:,} nodes: median", found["p50_ms"], "ms", median, GOALS.get(nodes)),
        judged(f"{nodes:,} nodes: 95th percentile", found["p95_ms"], "ms", tail, None),
        judged(f"{nodes:,} nodes: memory of the process", found["megabytes"], "MB", MEMORY_MEGABYTES, None),
        judged(f"{nodes:,} nodes: first question, opening included", found["first_ms"], "ms", None, None),
    ]


def judged(what: str, value: float, unit: str, bound: float | None, goal: float | None) -> Figure:
    """Return a figure that should be small, with what was promised of it."""
    figure = Figure(what, f"{value:,.0f} {unit}")
    if bound is None or bound == float("inf"):
        return figure
    verdict = Verdict.GOAL if goal and value <= goal else Verdict.MET if value <= bound else Verdict.MISSED
    return replace(figure, bound=f"<= {bound:,.0f}", goal=f"<= {goal:,.0f}" if goal else "", verdict=verdict)


async def ask_all(name: str) -> tuple[list[float], dict[str, float]]:
    """Ask the warm-up and the measured questions of one open corpus; return the milliseconds of each and by step."""
    from flows.ask import ask
    from tasks.ask_request import AskRequest

    asked = tuple(questions(WARM + MEASURED, seed=5))
    times, steps = [], []
    began = time.perf_counter()
    async with aclosing(ask(AskRequest(questions=asked, corpus=name))) as answers:
        async for answer in answers:
            times.append(1000 * (time.perf_counter() - began))
            steps.append(answer.usage.seconds)
            began = time.perf_counter()
    names = {step for seconds in steps for step in seconds}
    by_step = {step: 1000 * float(np.median([seconds.get(step, 0.0) for seconds in steps[WARM:]])) for step in sorted(names)}
    return times, by_step


def peak_megabytes() -> float:
    """Return this process's own peak of resident memory; `ru_maxrss` begins with that of the parent, which made the corpus."""
    status = Path("/proc/self/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) / 1024


def main() -> None:
    """Ask one corpus and print what was measured as JSON."""
    parser = argparse.ArgumentParser(prog="asking", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--nodes", type=int, required=True)
    asked = parser.parse_args()
    os.environ["FLOWREADER_HOME"] = str(asked.folder)
    times, by_step = asyncio.run(ask_all(f"nodes-{asked.nodes}"))
    warm = times[WARM:]
    said = {
        "questions": len(warm),
        "p50_ms": float(np.median(warm)),
        "p95_ms": float(np.percentile(warm, 95)),
        "first_ms": times[0],
        "megabytes": peak_megabytes(),
        "steps_ms": by_step,
    }
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main()
