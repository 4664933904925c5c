"""`make bench-models`: what was promised of the chat model, measured. Prints a table, writes bench-models.json.

Parts: calls (throughput, memory and errors, against a scripted server in a process of its own), analysis (the throughput of
Analyze), tokens (of Analyze and Evolve, on the documents of tests/corpus and of ../shared/data where that is).
"""

import argparse

from tests.bench import model_analysis, model_calls, model_tokens
from tests.bench.measuring import measure_parts

PARTS = {"calls": model_calls.measure, "analysis": model_analysis.measure, "tokens": model_tokens.measure}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench-models", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(PARTS), help="only this part (repeatable)")
    measure_parts("bench-models", PARTS, parser.parse_args().only)


if __name__ == "__main__":
    main()
