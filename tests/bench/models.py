"""`make bench-models`: what was promised of the chat model, measured. Prints a table, writes bench-models.json.

Parts: calls (throughput, memory and errors, against a scripted server in a process of its own), analysis (the throughput of
Analyze), tokens (of Analyze and Evolve, on the documents of tests/corpus and of ../shared/data where that is).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tests.bench import model_analysis, model_calls, model_tokens
from tests.bench.ingest import CONSOLE, show
from tests.bench.measuring import ROOT, Part, machine

RESULT = ROOT / "bench-models.json"
PARTS: dict[str, Callable[[], Part]] = {
    "calls": model_calls.measure,
    "analysis": model_analysis.measure,
    "tokens": model_tokens.measure,
}


def main() -> None:
    """Measure the parts asked for, one after the other; what is done is written even if a later part fails."""
    asked = parse_arguments()
    facts, measured = machine(), {}
    for name in asked.only or PARTS:
        part = PARTS[name]()
        measured[name] = {"figures": [asdict(figure) for figure in part.figures], **part.raw}
        RESULT.write_text(json.dumps({"machine": facts, **measured}, indent=1) + "\n", "utf-8")
        show(name, part)
    CONSOLE.print(f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gigabytes']} GB; all figures: {RESULT.name}")
    CONSOLE.print(f"load average at the start: {facts['load_average']:.1f}; above 0.5 other work was measured too")


def parse_arguments() -> Any:
    """Return which parts to measure."""
    parser = argparse.ArgumentParser(prog="bench-models", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(PARTS), help="only this part (repeatable)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
