"""`make bench-ask`: what was promised of a question, measured. Prints a table, writes bench-ask.json.

Parts: questions (warm, on synthetic corpora of several sizes, kept in a folder), flow, cold. Ratios are taken within one run.
"""

import argparse
import tempfile
from pathlib import Path

from tests.bench import asking, cold, flow
from tests.bench.measuring import measure_parts

SIZES = [1_000, 10_000, 100_000, 1_000_000]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench-ask", description=__doc__)
    parser.add_argument(
        "--folder", type=Path, help="where the synthetic corpora are kept; a million nodes take 10 GB and half an hour"
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=SIZES, help="sizes of the corpora (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=["flow", "cold", "questions"], help="only this part (repeatable)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flowreader-bench-") as scratch:
        parts = {
            "flow": flow.measure,
            "cold": lambda: cold.measure(Path(scratch)),
            "questions": lambda: asking.measure((asked.folder or Path(scratch)).absolute(), asked.nodes),
        }
        measure_parts("bench-ask", parts, asked.only)


if __name__ == "__main__":
    main()
