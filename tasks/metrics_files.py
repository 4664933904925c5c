"""Processes that count together: each in files of its own, in one folder, named by its number.

The files of a process that ended are added to one that stays, so that a thousand short runs leave no thousand files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from storage.disk import check_writable, full_disk_explained
from storage.locations import metrics_folder

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus_client itself, as it is imported: set before a process is started."""

KINDS = ("counter", "gauge_livesum", "histogram")
ENDED = "ended"
RESERVED_BYTES = 1 << 18
"""For some hundred series of one kind in one process: a quarter of a megabyte."""


def share_counting() -> Path:
    """Let every process that is started from here on count in one folder; return it. It is new, unless one is named already."""
    named = os.environ.get(SHARED_FOLDER)
    if named:
        return Path(named)
    check_writable(metrics_folder())
    for folder in metrics_folder().iterdir():
        if folder.name.isdigit() and (int(folder.name) == os.getpid() or not is_alive(int(folder.name))):
            shutil.rmtree(folder, ignore_errors=True)
    folder = metrics_folder() / str(os.getpid())
    folder.mkdir()
    os.environ[SHARED_FOLDER] = str(folder)
    return folder


def reserve(folder: Path) -> None:
    """Take the room for this process's files; raise DiskFullError where there is none.

    They are mapped into memory: on a disk that is full a later write would kill the process.
    """
    for kind in KINDS:
        with full_disk_explained(folder, RESERVED_BYTES), (folder / f"{kind}_{os.getpid()}.db").open("ab") as file:
            # One that Prefect counts in already is mapped as long as it is.
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size or RESERVED_BYTES)


def fold_ended(folder: Path) -> None:
    """Add what processes counted that ended to what stays of them; call it from one process, one thread at a time."""
    for kind in KINDS:
        ended = [path for path in folder.glob(f"{kind}_*.db") if _has_ended(path)]
        if ended and not kind.startswith("gauge"):
            whole = folder / f"{kind}_{ENDED}.db"
            _add_up([*ended, whole] if whole.exists() else ended, whole)
        for path in ended:
            path.unlink()


def _add_up(paths: Iterable[Path], whole: Path) -> None:
    from prometheus_client import mmap_dict

    files: Any = mmap_dict.MmapedDict
    sums: defaultdict[str, float] = defaultdict(float)
    for path in paths:
        for key, value, _time, _place in files.read_all_values_from_file(str(path)):
            sums[key] += value
    fresh = whole.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    written = files(str(fresh))
    for key, value in sums.items():
        written.write_value(key, value, 0.0)
    written.close()
    fresh.replace(whole)


def _has_ended(path: Path) -> bool:
    process = path.stem.rpartition("_")[2]
    return process.isdigit() and not is_alive(int(process))


def is_alive(process: int) -> bool:
    """Say whether a process of this number is there."""
    with contextlib.suppress(PermissionError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True
