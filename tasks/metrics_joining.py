"""A process that finds its port taken counts with those of its home whose sums are shown there, where that is who has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from storage.locations import metrics_folder
from tasks.metrics_files import SHARED_FOLDER, is_alive

SHOWN_AT = "shown-at"


def note_where(folder: Path, host: str, port: int) -> None:
    """Note down where the sums of this folder are shown, for processes that another one than ours starts."""
    (folder / SHOWN_AT).write_text(f"{host} {port}", "utf-8")


def shown_at(host: str, port: int) -> Path | None:
    """Return the folder of this home whose sums a living process shows there, None where there is none."""
    for folder in metrics_folder().glob("*"):
        with suppress(OSError):
            is_there = folder.name.isdigit() and is_alive(int(folder.name))
            if is_there and (folder / SHOWN_AT).read_text("utf-8") == f"{host} {port}":
                return folder
    return None


@contextmanager
def counting_in(folder: Path) -> Iterator[None]:
    """Have what is counted inside the block go to files of the folder, also where prometheus_client was loaded without one."""
    from prometheus_client import values

    untyped: Any = values
    before, os.environ[SHARED_FOLDER] = untyped.ValueClass, str(folder)
    untyped.ValueClass = untyped.MultiProcessValue()
    try:
        yield
    finally:
        untyped.ValueClass = before
        os.environ.pop(SHARED_FOLDER, None)
