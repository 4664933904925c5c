"""What every bench needs: figures with what was promised of them, the machine, and the product's command with its memory."""

import contextlib
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import psutil
from rich.console import Console
from rich.table import Table

CONSOLE = Console(width=120, highlight=False)
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("mineru", "pypdfium2", "prefect", "lancedb", "duckdb", "torch", "sentence-transformers", "rapidocr", "onnxruntime")
CORPUS = "bench"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table; `least` and `most` are what was promised, where something was."""

    what: str
    value: float
    unit: str = ""
    least: float = -inf
    most: float = inf

    @property
    def promised(self) -> str:
        if self.least > -inf:
            return f">= {self.least:g}"
        return f"<= {self.most:g}" if self.most < inf else ""

    @property
    def verdict(self) -> str:
        if not self.promised:
            return ""
        return "met" if self.least <= self.value <= self.most else "missed"


Part = tuple[Sequence[Figure], Mapping[str, Any]]
"""What a part found: the rows that it shows, and what they were made from."""


def machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    return {
        "processor": next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gigabytes": round(psutil.virtual_memory().total / 2**30, 1),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in PACKAGES},
    }


def measure_parts(bench: str, parts: Mapping[str, Callable[[], Part]], only: Sequence[str] | None) -> None:
    """Measure the parts asked for, one after the other, and print them; what is done is written even if a later part fails."""
    facts, result = machine(), ROOT / f"{bench}.json"
    measured: dict[str, Any] = {}
    for name in only or parts:
        figures, raw = parts[name]()
        measured[name] = {"figures": [asdict(figure) for figure in figures], **raw}
        result.write_text(json.dumps({"machine": facts, **measured}, indent=1) + "\n", "utf-8")
        table = Table("what", "measured", "promised", "", title=name, title_justify="left")
        for one in figures:
            table.add_row(one.what, f"{one.value:,.2f} {one.unit}", one.promised, one.verdict)
        CONSOLE.print(table)
    CONSOLE.print(f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gigabytes']} GB; all figures: {result.name}")
    CONSOLE.print(f"load average at the start: {facts['load_average']:.1f}; above 0.5 other work was measured too")


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done


def peak_megabytes(process: int | str) -> float:
    """Return the kernel's own high-water mark of a process's resident memory."""
    status = Path(f"/proc/{process}/status").read_text("utf-8", "replace")
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0) / 1024


class PeakMemory(threading.Thread):
    """Watches a process and its descendants: the largest peak of each kind, in megabytes."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.megabytes: dict[str, float] = {}
        self.ended = threading.Event()
        self._root = psutil.Process(root)

    def run(self) -> None:
        while not self.ended.wait(0.5):
            with contextlib.suppress(psutil.Error):
                for process in (self._root, *self._root.children(recursive=True)):
                    self._note(process)

    def _note(self, process: psutil.Process) -> None:
        with contextlib.suppress(psutil.Error, OSError):
            kind, peak = self._kind(process), peak_megabytes(process.pid)
            self.megabytes[kind] = max(self.megabytes.get(kind, 0.0), peak)

    def _kind(self, process: psutil.Process) -> str:
        """Name a process by its module; a parser child is a fork of its fork server and has the same command line."""
        if process == self._root:
            return "command"
        words = process.cmdline()
        module = words[words.index("-m") + 1] if "-m" in words[:-1] else process.name()
        return "parser child" if module == "tasks.parsing.fork_server" and process.ppid() != self._root.pid else module


@dataclass(frozen=True, slots=True)
class CommandRun:
    """How a command went: its wall time, what it printed as JSON, and the memory of its processes by kind, in megabytes."""

    seconds: float
    reply: Any
    megabytes: Mapping[str, float]


def flowreader(home: Path, *arguments: str | Path) -> CommandRun:
    """Run the product's command with its data in `home`; raise RuntimeError where it did nothing (exit code 2 or a crash)."""
    call = [sys.executable, "-m", "flows.cli.main", *map(str, arguments), "--corpus", CORPUS, "--json"]
    environment, began = os.environ | {"FLOWREADER_HOME": str(home)}, time.perf_counter()
    with subprocess.Popen(call, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        memory = PeakMemory(process.pid)
        memory.start()
        reply, complaint = process.communicate()
        seconds = time.perf_counter() - began
        memory.ended.set()
    if process.returncode not in {0, 1} or not reply:
        raise RuntimeError(f"{' '.join(call[2:])} ended with {process.returncode}: {complaint.decode('utf-8', 'replace')[-2000:]}")
    return CommandRun(seconds, json.loads(reply), memory.megabytes)
