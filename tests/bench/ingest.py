"""`make bench-ingest`: what was promised of the ingest, measured. Prints a table, writes bench-ingest.json.

Every ratio is taken within one run, the two sides by turns. Parts: throughput, embedding, ocr, whole.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench import embedding, ocr, throughput, whole
from tests.bench.measuring import ROOT, Bench, Part, machine

PARTS: Mapping[str, Callable[[Bench], Part]] = {
    "throughput": throughput.measure,
    "embedding": embedding.measure,
    "ocr": ocr.measure,
    "whole": whole.measure,
}
RESULT = ROOT / "bench-ingest.json"
CONSOLE = Console(width=120, highlight=False)


def main() -> None:
    """Measure the parts asked for, one after the other; what is done is written even if a later part fails."""
    asked = parse_arguments()
    facts = machine()
    measured: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="flowreader-bench-") as scratch:
        bench = Bench(data=asked.data.absolute(), scratch=Path(scratch), keep=asked.keep.absolute() if asked.keep else None)
        for name in asked.only or PARTS:
            part = PARTS[name](bench)
            measured[name] = {"figures": [asdict(figure) for figure in part.figures], **part.raw}
            RESULT.write_text(json.dumps({"machine": facts, "data": asked.data.name, **measured}, indent=1) + "\n", "utf-8")
            show(name, part)
    CONSOLE.print(f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gigabytes']} GB; all figures: {RESULT.name}")
    CONSOLE.print(f"load average at the start: {facts['load_average']:.1f}; above 0.5 other work was measured too")


def parse_arguments() -> argparse.Namespace:
    """Return which parts, of which documents, and where to keep the corpus."""
    parser = argparse.ArgumentParser(prog="bench-ingest", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / "tests" / "corpus", help="folder of documents (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="only this part (repeatable)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the whole corpus here, as a FLOWREADER_HOME")
    return parser.parse_args()


def show(name: str, part: Part) -> None:
    """Print a part's rows."""
    table = Table(title=name, title_justify="left", title_style="bold")
    for column in ("what", "measured", "bound", "goal", "verdict"):
        table.add_column(column, justify="left" if column in {"what", "verdict"} else "right")
    for figure in part.figures:
        table.add_row(figure.what, figure.measured, figure.bound, figure.goal, figure.verdict)
    CONSOLE.print(table)


if __name__ == "__main__":
    main()
