"""What every part of the bench needs: a figure with its verdict, the documents, the machine."""

import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

CONSOLE = Console(width=120, highlight=False)
ROOT = Path(__file__).resolve().parents[2]
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
        """Return the documents, by name."""
        return sorted(path for path in self.data.rglob("*") if path.is_file())

    def pdfs(self) -> list[Path]:
        """Return the PDFs among the documents."""
        return [path for path in self.documents() if path.suffix.lower() == ".pdf"]

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


def middle(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def measure_parts(bench: str, parts: Mapping[str, Callable[[], Part]], only: Sequence[str] | None, **about: Any) -> None:
    """Measure the parts asked for, one after the other, and print them; what is done is written even if a later part fails."""
    facts, result = machine(), ROOT / f"{bench}.json"
    measured: dict[str, Any] = {}
    for name in only or parts:
        part = parts[name]()
        measured[name] = {"figures": [asdict(figure) for figure in part.figures], **part.raw}
        result.write_text(json.dumps({"machine": facts, **about, **measured}, indent=1) + "\n", "utf-8")
        show(name, part)
    CONSOLE.print(f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gigabytes']} GB; all figures: {result.name}")
    CONSOLE.print(f"load average at the start: {facts['load_average']:.1f}; above 0.5 other work was measured too")


def show(name: str, part: Part) -> None:
    table = Table(title=name, title_justify="left", title_style="bold")
    for column in ("what", "measured", "bound", "goal", "verdict"):
        table.add_column(column, justify="left" if column in {"what", "verdict"} else "right")
    for figure in part.figures:
        table.add_row(figure.what, figure.measured, figure.bound, figure.goal, figure.verdict)
    CONSOLE.print(table)
