"""What the processes of a command use, by kind, sampled from /proc."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

KINDS = {
    "tasks.parsers.zygote": "parser zygote",
    "tasks.models.minilm_worker": "embedder",
    "tasks.models.ocr_worker": "ocr",
    "flows.prefect_environment": "prefect server",
}
"""What a module run with `-m` is called."""


@dataclass(slots=True)
class Use:
    """What the processes of a kind used: how many there were, the largest one's peak, CPU seconds of all, as last seen."""

    processes: int = 0
    peak_megabytes: float = 0.0
    cpu_seconds: float = 0.0


class ProcessWatch:
    """Samples a process and its descendants. A peak is the kernel's own high-water mark, so few samples miss little."""

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
        use.peak_megabytes = round(max(use.peak_megabytes, peak), 1)
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
    return KINDS.get(module, module)


def _used(process: int) -> tuple[float, float]:
    """Return the CPU seconds, and the peak of resident memory in megabytes, both 0 where it has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        status = Path(f"/proc/{process}/status").read_text("utf-8", "replace")
    except OSError:
        return 0.0, 0.0
    peak = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"), peak / 1024
