"""What every part of the bench needs: a figure with its verdict, the machine, the product's command, its processes."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any

from storage.locations import CorpusLocation
from storage.runs import EntryKind, read_run

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(sys.executable).parent / "flowreader"
CORPUS = "bench"
PACKAGES = ("mineru", "pypdfium2", "prefect", "lancedb", "duckdb", "torch", "sentence-transformers", "rapidocr", "onnxruntime")


class Verdict(StrEnum):
    """How a figure stands to what was promised; NONE where nothing was."""

    GOAL = "goal met"
    MET = "met"
    MISSED = "missed"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table."""

    what: str
    measured: str
    bound: str = ""
    goal: str = ""
    verdict: Verdict = Verdict.NONE


def at_least(what: str, value: float, *, unit: str, bound: float, goal: float) -> Figure:
    """Judge a figure that should be large."""
    verdict = Verdict.GOAL if value >= goal else Verdict.MET if value >= bound else Verdict.MISSED
    return Figure(what, f"{value:.2f} {unit}", f">= {bound:g}", f">= {goal:g}", verdict)


def at_most(what: str, value: float, *, unit: str, bound: float) -> Figure:
    """Judge a figure that should be small."""
    return Figure(what, f"{value:,.1f} {unit}", f"<= {bound:,.1f}", "", Verdict.MET if value <= bound else Verdict.MISSED)


@dataclass(frozen=True, slots=True)
class Part:
    """What a part of the bench found: the rows it shows, and everything that they were made from."""

    figures: Sequence[Figure]
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the parts find documents and may write. `keep` takes the whole corpus, where somebody wants it."""

    data: Path
    scratch: Path
    keep: Path | None = None
    homes: dict[str, Path] = field(default_factory=dict)

    def documents(self) -> list[Path]:
        """Return the documents, by name; notes about the folder are none."""
        return sorted(path for path in self.data.rglob("*") if path.is_file() and path.suffix not in {".md", ".json"})

    def fresh_home(self, name: str) -> Path:
        """Return a new, empty FLOWREADER_HOME and remember it under the name."""
        home = self.scratch / f"{name}-{len(self.homes)}"
        home.mkdir()
        self.homes[f"{name}-{len(self.homes)}"] = home
        return home


def machine() -> dict[str, Any]:
    """Say what this was measured on."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())
    return {
        "began": datetime.now().astimezone().isoformat(timespec="seconds"),
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gigabytes": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in PACKAGES},
    }


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
    call = [str(COMMAND), *map(str, arguments), "--corpus", CORPUS, "--json"]
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
    if code not in {0, 1}:
        raise RuntimeError(f"{' '.join(call[:3])} ended with {code}: {complaint[-2000:] or reply[-2000:]!r}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return CommandRun(seconds, cpu, code, json.loads(reply), {kind: asdict(use) for kind, use in sorted(watch.uses.items())})


@dataclass(slots=True)
class Use:
    """What the processes of a kind used: how many there were, the largest one's peak, CPU seconds of all, as last seen."""

    processes: int = 0
    peak_megabytes: float = 0.0
    cpu_seconds: float = 0.0


class ProcessWatch:
    """Samples a process and its descendants from /proc. A peak is the kernel's own high-water mark, so few samples miss little."""

    def __init__(self, root: int, seconds: float) -> None:
        """Begin at once; what a process does after its last sample is not seen."""
        self.uses: dict[str, Use] = {}
        self._root, self._seconds = root, seconds
        self._cpu: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the watch."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._seconds):
            parents = dict(filter(None, map(_parent_of, Path("/proc").glob("[0-9]*"))))
            for process in parents:
                if process == self._root or self._root in _ancestors(process, parents):
                    self._note(process, parents[process])

    def _note(self, process: int, parent: int) -> None:
        kind, cpu, peak = _kind(process, parent, self._root), *_used(process)
        if not kind or not peak:
            return
        use = self.uses.setdefault(kind, Use())
        use.processes += process not in self._cpu
        use.peak_megabytes = max(use.peak_megabytes, peak)
        use.cpu_seconds = round(use.cpu_seconds + cpu - self._cpu.get(process, 0.0), 2)
        self._cpu[process] = cpu


def _parent_of(folder: Path) -> tuple[int, int] | None:
    try:
        return int(folder.name), int(folder.joinpath("stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _ancestors(process: int, parents: Mapping[int, int]) -> list[int]:
    found: list[int] = []
    while (process := parents.get(process, 0)) and process not in found:
        found.append(process)
    return found


def _kind(process: int, parent: int, root: int) -> str:
    """Name the process by what it was started as; a parser child is a fork of its zygote and has the same command line."""
    if process == root:
        return "command"
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return ""
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else Path(words[0]).name
    if module == "tasks.parsers.zygote" and parent != root:
        return "parser child"
    return {"tasks.parsers.zygote": "parser zygote", "tasks.models.ocr_worker": "ocr", "flows.prefect_environment": "prefect server"}.get(
        module, module
    )


def _used(process: int) -> tuple[float, float]:
    """Return the CPU seconds, and the peak of resident memory in megabytes; a zygote's children are counted as themselves."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        status = Path(f"/proc/{process}/status").read_text("utf-8", "replace")
    except OSError:
        return 0.0, 0.0
    peak = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"), peak / 1024


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
    run = read_run(newest)
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


def middle(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)
