"""The parent's side of `mineru_alone`: one document after the other, with a limit on each one's time."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tasks.settings import LimitSettings
from tests.bench.measuring import ROOT


class MineruAlone:
    """The process of MinerU; started again where a document kills it or takes too long."""

    def __init__(self, crops: str) -> None:
        """Begin without a process."""
        self._crops = crops
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> MineruAlone:
        """Start it and wait until it has read a page of nothing."""
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it and its workers."""
        self._end()

    def read(self, path: Path, wall_seconds: float) -> dict[str, Any]:
        """Return pages and seconds, or the problem."""
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(f"{path.absolute()}\n")
        self._process.stdin.flush()
        answer = self._answer(wall_seconds)
        if answer is None:
            self._end()
            return {"problem": f"no answer within {wall_seconds:.0f} s, or killed by it"}
        return answer

    def _start(self) -> None:
        call = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "tests.bench.mineru_alone",
            str(LimitSettings().memory_megabytes),
            self._crops,
        ]
        self._process = subprocess.Popen(
            call,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            start_new_session=True,
        )
        if self._answer(120.0) is None:
            raise RuntimeError(f"MinerU does not start: {' '.join(call)}")

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        assert self._process is not None and self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            return None
        line = self._process.stdout.readline()
        return json.loads(line) if line.endswith("\n") else None

    def _end(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._process = None
