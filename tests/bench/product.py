"""The product's command, as a user runs it, and what its own lineage says of a run."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from storage.locations import CorpusLocation
from storage.run_traces import trace
from storage.runs import EntryKind
from tests.bench.measuring import ROOT
from tests.bench.processes import ProcessWatch

COMMAND = (sys.executable, "-m", "flows.cli")
"""What the installed `flowreader` runs, of this very checkout."""

CORPUS = "bench"


@dataclass(frozen=True, slots=True)
class CommandRun:
    """How a command went: its wall time, the CPU of it and of all its children, and what it printed as JSON."""

    seconds: float
    cpu_seconds: float
    code: int
    reply: Any
    processes: Mapping[str, Mapping[str, float]]


def flowreader(home: Path, *arguments: str | Path, watch_seconds: float = 1.0) -> CommandRun:
    """Run the installed command with its data in `home`; raise RuntimeError where it did nothing (exit code 2 or a crash)."""
    call = [*COMMAND, *map(str, arguments), "--corpus", CORPUS, "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with (home / "said").open("w+b") as said, (home / "complaints").open("w+b") as complaints:
        process = subprocess.Popen(call, stdout=said, stderr=complaints, cwd=ROOT, env=os.environ | {"FLOWREADER_HOME": str(home)})
        watch = ProcessWatch(process.pid, watch_seconds)
        code = process.wait()
        seconds = time.monotonic() - began
        watch.stop()
        said.seek(0)
        complaints.seek(0)
        reply, complaint = said.read(), complaints.read().decode("utf-8", "replace")
    if code not in {0, 1} or not reply:
        raise RuntimeError(f"{' '.join(call[2:4])} ended with {code}: {complaint[-2000:] or reply[-2000:]!r}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return CommandRun(seconds, cpu, code, json.loads(reply), {kind: asdict(use) for kind, use in sorted(watch.uses.items())})


@dataclass(frozen=True, slots=True)
class FlowTimes:
    """The last run of a corpus by its own lineage: first step's begin to last step's end, and the sum of each step."""

    seconds: float
    step_seconds: Mapping[str, float]
    remembered: int
    failures: Sequence[str]


def last_run(home: Path) -> FlowTimes:
    """Read the lineage of the newest run."""
    location = CorpusLocation(name=CORPUS, folder=home / "corpora" / CORPUS)
    newest = max(location.runs.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    run = trace(newest)
    assert run.entries[-1]["kind"] == EntryKind.END, f"{newest} has no end"
    steps = run.steps()
    begins = [datetime.fromisoformat(step.started).timestamp() for step in steps]
    sums: dict[str, float] = {}
    for step in steps:
        sums[step.step] = round(sums.get(step.step, 0.0) + step.seconds, 2)
    return FlowTimes(
        seconds=max(begin + step.seconds for begin, step in zip(begins, steps, strict=True)) - min(begins),
        step_seconds=dict(sorted(sums.items(), key=lambda item: -item[1])),
        remembered=sum(step.cache_hit for step in steps),
        failures=[f"{step.step}: {step.error}" for step in steps if step.error],
    )
