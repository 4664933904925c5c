"""Worlds that take long to make: the first worker makes them, and they are kept until the code that makes them changes."""

import fcntl
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".pytest_cache" / "worlds"
MAKERS = ("flows", "tasks", "storage", "tests/corpus", "tests/conftest.py", "tests/program.py", "constraints.txt")
MIGRATE = "from flows.prefect_runs.server import prefect_server\nwith prefect_server() as wait_until_ready: wait_until_ready()"
OLD_SECONDS = 24 * 3600
"""Worlds of older code go after a day: until then a session that still runs may look at them."""


@contextmanager
def locked(path: Path):
    """Hold the lock of this file among all processes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept_world(name: str, make: Callable[[Path], None], *makers: Path) -> Path:
    """Return the folder that `make` filled; `makers` are files that it depends on apart from the product. No test may change it."""
    return _kept(name, f"{_product()} {[_digest(path) for path in makers]}", make)


def give_prefect_data(home: Path) -> Path:
    """Have the database of Prefect ready in a home that has none: to make its tables takes a server longer than all else."""
    if not (home / "prefect" / "prefect.db").exists():
        versions = f"{sys.version} {_digest(ROOT / 'constraints.txt')} {MIGRATE}"
        shutil.copytree(_kept("prefect", versions, _migrate) / "prefect", home / "prefect", dirs_exist_ok=True)
    return home


def _migrate(folder: Path) -> None:
    environment = {**os.environ, "FLOWREADER_HOME": str(folder), "PREFECT_HOME": str(folder / "prefect")}
    environment.pop("PREFECT_API_URL", None)
    subprocess.run([sys.executable, "-c", MIGRATE], cwd=ROOT, env=environment, check=True, timeout=120)
    with closing(sqlite3.connect(folder / "prefect" / "prefect.db")) as opened:
        opened.execute("pragma wal_checkpoint(truncate)")


def _kept(name: str, hangs_on: str, make: Callable[[Path], None]) -> Path:
    folder = KEPT / f"{name}-{hashlib.sha256(hangs_on.encode()).hexdigest()[:16]}"
    with locked(KEPT / f"{name}.lock"):
        if not (folder / "made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            make(folder)
            (folder / "made").touch()
            _forget_older(name, folder)
    return folder


@cache
def _product() -> str:
    return f"{sys.version} {[_digest(ROOT / name) for name in MAKERS]}"


def _digest(path: Path) -> str:
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file() and "__pycache__" not in one.parts)
    found = hashlib.sha256()
    for one in files:
        found.update(f"{one.relative_to(ROOT)} {hashlib.sha256(one.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def _forget_older(name: str, folder: Path) -> None:
    for other in KEPT.glob(f"{name}-" + "?" * 16):
        if other != folder and time.time() - other.stat().st_mtime > OLD_SECONDS:
            shutil.rmtree(other)
