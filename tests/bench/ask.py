"""`make bench-ask`: what was promised of a question, measured. Prints a table, writes bench-ask.json.

Parts: questions (warm, on synthetic corpora of several sizes, kept in a folder), flow, cold. Ratios are taken within one run.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.bench import asking, cold, flow
from tests.bench.ingest import CONSOLE, show
from tests.bench.measuring import ROOT, Part, machine

RESULT = ROOT / "bench-ask.json"
SIZES = [1_000, 10_000, 100_000, 1_000_000]


def main() -> None:
    """Measure the parts asked for, one after the other; what is done is written even if a later part fails."""
    asked = parse_arguments()
    facts, measured = machine(), {}
    with tempfile.TemporaryDirectory(prefix="flowreader-bench-") as scratch:
        parts: dict[str, Callable[[], Part]] = {
            "flow": flow.measure,
            "cold": lambda: cold.measure(Path(scratch)),
            "questions": lambda: asking.measure((asked.folder or Path(scratch)).absolute(), asked.nodes),
        }
        for name in asked.only or parts:
            part = parts[name]()
            measured[name] = {"figures": [asdict(figure) for figure in part.figures], **part.raw}
            RESULT.write_text(json.dumps({"machine": facts, **measured}, indent=1) + "\n", "utf-8")
            show(name, part)
    CONSOLE.print(f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gigabytes']} GB; all figures: {RESULT.name}")
    CONSOLE.print(f"load average at the start: {facts['load_average']:.1f}; above 0.5 other work was measured too")


def parse_arguments() -> Any:
    """Return which parts, how large the corpora are, and where they are kept."""
    parser = argparse.ArgumentParser(prog="bench-ask", description=__doc__)
    parser.add_argument(
        "--folder", type=Path, help="where the synthetic corpora are kept; a million nodes take 10 GB and half an hour"
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=SIZES, help="sizes of the corpora (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=["flow", "cold", "questions"], help="only this part (repeatable)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
