"""The whole corpus, OCR included: time, memory, doctor; then the same again unchanged; then one document more."""

import shutil
from pathlib import Path
from typing import Any

from tasks.settings import LimitSettings
from tests.bench.measuring import Bench, Figure, Part, Verdict, at_most, middle
from tests.bench.product import CommandRun, flowreader, last_run
from tests.bench.throughput import is_born_digital

MINUTES = 40.0
PARENT_MEGABYTES = 1536.0
PROMISED_DOCUMENTS, PROMISED_PAGES = 38, 1405
"""What the bench data of the promise holds; of another folder only the rest is judged."""
ROUNDS = 3


def measure(bench: Bench) -> Part:
    """Ingest everything into one home, and keep it where that was asked for."""
    home = bench.keep or bench.fresh_home("whole")
    if bench.keep:
        home.mkdir(parents=True, exist_ok=True)
        if any(home.iterdir()):
            raise RuntimeError(f"{home} is not empty; BENCH_KEEP takes a folder that is empty or does not exist")
    run = flowreader(home, "ingest", bench.data, watch_seconds=0.5)
    flow = last_run(home)
    doctor = flowreader(home, "doctor")
    again = [flowreader(home, "ingest", bench.data) for _ in range(ROUNDS)]
    added = add_one(bench, home)
    allowed = allowance(bench)
    return Part(
        figures=[
            *_reading(bench, run),
            *_memory(run),
            at_most("doctor's findings", len(doctor.reply["findings"]), unit="", bound=0),
            at_most("ingest again, nothing changed", middle([one.seconds for one in again]), unit="s", bound=allowed),
            at_most(
                f"adding {added['document']} to the others",
                middle(added["added_seconds"]),
                unit="s",
                bound=middle(added["alone_seconds"]) + allowed,
            ),
            Figure("  the same document into an empty corpus", f"{middle(added['alone_seconds']):.1f} s"),
        ],
        raw={
            "seconds": run.seconds,
            "cpu_seconds": run.cpu_seconds,
            "flow_seconds": flow.seconds,
            "step_seconds": flow.step_seconds,
            "processes": run.processes,
            "totals": run.reply["totals"],
            "not_ready": [one for one in run.reply["documents"] if one["state"] != "ready"],
            "doctor": doctor.reply["findings"],
            "doctor_seconds": doctor.seconds,
            "again_seconds": [one.seconds for one in again],
            "adding_one": added,
        },
    )


def _reading(bench: Bench, run: CommandRun) -> list[Figure]:
    totals, files = run.reply["totals"], len(bench.documents())
    ready = totals["states"].get("ready", 0)
    promised = files == PROMISED_DOCUMENTS
    named = f"the whole ingest, OCR included, {files} documents, {totals['pages']} pages"
    minutes = run.seconds / 60
    right = totals["pages"] == PROMISED_PAGES
    return [
        at_most(named, minutes, unit="min", bound=MINUTES) if promised else Figure(named, f"{minutes:.1f} min"),
        Figure("  documents ready", f"{ready} of {files}", f">= {files}", "", Verdict.MET if ready == files else Verdict.MISSED),
        Figure("  pages", f"{totals['pages']}", f"{PROMISED_PAGES}", "", Verdict.MET if right else Verdict.MISSED)
        if promised
        else Figure("  pages", f"{totals['pages']}"),
    ]


def _memory(run: CommandRun) -> list[Figure]:
    """Judge the command itself and its parsers, which have limits; show the rest."""
    bounds = {"command": PARENT_MEGABYTES, "parser child": float(LimitSettings().memory_megabytes)}
    figures = []
    for kind, use in run.processes.items():
        what = f"  peak memory, {kind}"
        peak = use["peak_megabytes"]
        figures.append(at_most(what, peak, unit="MB", bound=bounds[kind]) if kind in bounds else Figure(what, f"{peak:,.0f} MB"))
    return figures


def allowance(bench: Bench) -> float:
    """Return the seconds that an unchanged corpus may cost: 2 s, 5 ms a file and 2 ms a megabyte."""
    sizes = [path.stat().st_size for path in bench.documents()]
    return 2.0 + 0.005 * len(sizes) + 0.002 * sum(sizes) / 1e6


def add_one(bench: Bench, home: Path) -> dict[str, Any]:
    """Take a document out and read it in again, beside reading it into a corpus of its own; nothing of it may be remembered."""
    path = _usual_document(bench)
    added, alone = [], []
    for _ in range(ROUNDS):
        flowreader(home, "documents", "remove", path.name, "--now")
        added.append(flowreader(home, "ingest", bench.data).seconds)
        if remembered := last_run(home).remembered:
            raise RuntimeError(f"{remembered} steps of {path.name} were remembered after it was removed")
        empty = bench.fresh_home("alone")
        # Prefect's database is made once in a home's life, not once for each document
        shutil.copytree(home / "prefect", empty / "prefect")
        alone.append(flowreader(empty, "ingest", path).seconds)
    return {"document": path.name, "added_seconds": added, "alone_seconds": alone}


def _usual_document(bench: Bench) -> Path:
    """Return the born-digital PDF of middle size."""
    born = [path for path in bench.pdfs() if is_born_digital(path)]
    return sorted(born, key=lambda path: path.stat().st_size)[len(born) // 2]
