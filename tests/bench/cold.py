"""A cold question: from the shell to the answer, everything loaded anew each time."""

import os
import subprocess
import time
from pathlib import Path

from tests.bench.measuring import ROOT, Part, at_most, middle
from tests.bench.product import COMMAND

ROUNDS = 7
BOUND_SECONDS = 3.0
QUESTION = "What was the total revenue of Merrow Tidal Systems in 2024?"


def measure(scratch: Path) -> Part:
    """Ingest tests/corpus, then ask it again and again, each time in a new process."""
    environment = os.environ | {"FLOWREADER_HOME": str(scratch / "cold")}
    run(["ingest", str(ROOT / "tests" / "corpus"), "--corpus", "cold", "--json"], environment)
    times = []
    for _ in range(ROUNDS):
        began = time.monotonic()
        run(["ask", QUESTION, "--corpus", "cold", "--json"], environment)
        times.append(time.monotonic() - began)
    figures = [
        at_most("a cold `flowreader ask`, median", middle(times), unit="s", bound=BOUND_SECONDS),
        at_most("a cold `flowreader ask`, slowest", max(times), unit="s", bound=BOUND_SECONDS),
    ]
    return Part(figures=figures, raw={"seconds": times})


def run(arguments: list[str], environment: dict[str, str]) -> None:
    """Run the command; raise RuntimeError where it fails."""
    done = subprocess.run([*COMMAND, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
