"""`kill -9` at any moment of an ingest; the oracle of FAULTS.md afterwards.

Kills are spread evenly over the entries and returns of storage's functions; only `make torture` takes so many that every stage of
a publish, an indexing, a clean-up and a reconciliation is hit.
"""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from storage.corpus.doctor import examine
from storage.corpus.snapshot import UnknownCorpusError
from tests.storage.killed_publisher import ingest, kill_at
from tests.storage.worlds import corpus_in, exports

TORTURES = int(os.environ.get("WRITER_LIVES", "10"))
"""`make campaign` lives more."""
ROOT = Path(__file__).parents[3]


def run(folder: Path, call: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.storage.killed_publisher", str(folder), str(call)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def acknowledged(killed: subprocess.CompletedProcess[str]) -> set[str]:
    return {line.split()[1] for line in killed.stdout.splitlines() if line.startswith("acknowledged")}


def readable(folder: Path) -> set[str]:
    try:
        return set(exports(corpus_in(folder)))
    except UnknownCorpusError:
        return set()


def check(folder: Path, call: int, expected: dict[str, bytes]) -> None:
    killed = run(folder, call)
    assert killed.returncode == -signal.SIGKILL, f"call {call}: {killed.stderr}"
    seen = readable(folder)
    assert acknowledged(killed) <= seen <= set(expected), f"call {call}"
    run(folder, call // 3 + 1)  # the recovery is killed too
    assert acknowledged(killed) <= readable(folder), f"call {call}"
    ingest(folder)
    assert exports(corpus_in(folder)) == expected, f"call {call}"
    assert examine(corpus_in(folder)) == [], f"call {call}"


def kill(tmp_path: Path, lives: int) -> None:
    """Kill so many ingests, the kills spread evenly over all calls of one that lives."""
    counter = kill_at(0)
    try:
        ingest(tmp_path / "whole")
    finally:
        sys.setprofile(None)
    (total,), expected = counter, exports(corpus_in(tmp_path / "whole"))
    assert len(expected) == 2 and total > 500
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        calls = range(total // (2 * lives), total, total // lives)
        list(pool.map(lambda call: check(tmp_path / f"killed-{call}", call, expected), calls))
    print(f"{len(calls)} kills in {total} calls, none broke the oracle: 95 % bound {3 / len(calls):.3f}")  # noqa: T201


@pytest.mark.torture
@pytest.mark.sentinel
def test_many_kills_lose_nothing_double_nothing_and_show_no_half(tmp_path):
    kill(tmp_path, TORTURES)
