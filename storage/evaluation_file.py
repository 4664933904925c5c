"""The file of all evaluations, opened for a moment: DuckDB lets nobody in while a process writes, so who comes meanwhile waits."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb

from storage.catalog import CatalogBusyError, CatalogDamagedError, StoreTooNewError, opened
from storage.lock import POLL_SECONDS, CorpusBusyError, wait_for

SCHEMA_VERSION = 1

WAIT_SECONDS = 10.0
"""Who has the file open is waited for so long; the largest evaluation takes a second."""


@contextmanager
def held_open(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the file, made where it is missing, for one short moment in which every other FlowReader is kept out of it.

    Raise CatalogBusyError where the file stays open elsewhere, CatalogDamagedError where it is not what it should be, and
    StoreTooNewError; nothing is changed then.
    """
    with ExitStack() as stack:
        stack.enter_context(_alone(path))
        if not path.exists():
            _create(path)
        connection = _open_when_let_go(stack, path)
        try:
            _refuse_newer(connection, path)
            yield connection
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise CatalogDamagedError(
                f"{str(path)!r} cannot be read or written: {error}; move it away and evaluate again"
            ) from error


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock beside the file; a death lets the next one in."""
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _wait_for_turn(descriptor, path)
        yield
    finally:
        # Unlocked first: a child in the moment between its fork and its exec still holds a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _wait_for_turn(descriptor: int, path: Path) -> None:
    """Hold the lock on return."""
    try:
        wait_for(descriptor, path, WAIT_SECONDS)
    except CorpusBusyError:
        raise CatalogBusyError(
            f"{str(path)!r} has been in use by another FlowReader for {WAIT_SECONDS:g} s; run the command again when it is done"
        ) from None


def _open_when_let_go(stack: ExitStack, path: Path) -> duckdb.DuckDBPyConnection:
    """Open the file until the stack ends; a program that is not ours, and knows no lock, is waited for as long."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return stack.enter_context(opened(path, read_only=False))
        except CatalogBusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(POLL_SECONDS)


def _create(path: Path) -> None:
    """Make the file with no evaluation in it; a kill leaves no half of one under `path`."""
    scratch = path.with_name(f".partial-{path.name}")
    for leftover in (scratch, scratch.with_name(f"{scratch.name}.wal")):
        leftover.unlink(missing_ok=True)
    with opened(scratch, read_only=False) as connection:
        connection.execute(Path(__file__).with_name("evaluations.sql").read_text("utf-8"))
        connection.execute("INSERT INTO store VALUES (?)", [SCHEMA_VERSION])
        connection.execute("CHECKPOINT")
    scratch.replace(path)


def _refuse_newer(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    newer = connection.execute("SELECT schema_version FROM store WHERE schema_version > ?", [SCHEMA_VERSION]).fetchone()
    if newer is not None:
        raise StoreTooNewError(
            f"{str(path)!r} has schema version {newer[0]}, this FlowReader knows up to {SCHEMA_VERSION}; "
            "nothing was changed; install the newer FlowReader or take another FLOWREADER_HOME"
        )
