"""`make bench-ingest`: what was promised of the ingest, measured. Prints a table, writes bench-ingest.json.

Every ratio is taken within one run, the two sides by turns. Parts: throughput, embedding, ocr, whole.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

from tests.bench import embedding, ocr, throughput, whole
from tests.bench.measuring import ROOT, Bench, measure_parts

PARTS = {"throughput": throughput.measure, "embedding": embedding.measure, "ocr": ocr.measure, "whole": whole.measure}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench-ingest", description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT / "tests" / "corpus", help="folder of documents (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="only this part (repeatable)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the whole corpus here, as a FLOWREADER_HOME")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flowreader-bench-") as scratch:
        bench = Bench(data=asked.data.absolute(), scratch=Path(scratch), keep=asked.keep.absolute() if asked.keep else None)
        parts = {name: partial(measure, bench) for name, measure in PARTS.items()}
        measure_parts("bench-ingest", parts, asked.only, data=asked.data.name)


if __name__ == "__main__":
    main()
