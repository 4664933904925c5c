"""CURRENT, the pointer to the published snapshot: its rename is the commit of a publish.

And PULLED, which says where a corpus was pulled from.
"""

import fcntl
import hashlib
import json
import math
import os
import re
import shutil
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from storage.artifacts import sync_folder, write_durably
from storage.catalog.catalog import SCHEMA_VERSION, refuse_other_versions
from storage.errors import ExpectedError
from storage.locations import CorpusLocation
from storage.lock import lock_file, try_lock
from storage.system import full_disk

SNAPSHOT_NAME = re.compile(r"([0-9]{1,18})\.duckdb")
PIN_ATTEMPTS = 20


class CurrentDamagedError(ExpectedError):
    """A CURRENT, or the snapshot that it names, that cannot be used."""


@dataclass(frozen=True, slots=True)
class Current:
    """The published snapshot: its number, the SHA-256 of its file, and the schema that file has."""

    schema_version: int
    snapshot: int
    sha256: str


def how_to_mend(location: CorpusLocation) -> str:
    return f"`flowreader ingest` of any document mends it, `flowreader doctor --corpus {location.name}` says more"


def snapshot_path(location: CorpusLocation, number: int) -> Path:
    return location.snapshots / f"{number}.duckdb"


def snapshot_numbers(location: CorpusLocation) -> list[int]:
    """Return the numbers of all snapshots that have a file, in order."""
    if not location.snapshots.is_dir():
        return []
    matches = (SNAPSHOT_NAME.fullmatch(entry.name) for entry in location.snapshots.iterdir())
    return sorted(int(match[1]) for match in matches if match)


def read_current(location: CorpusLocation) -> Current | None:
    """Return the pointer, None where there is none.

    Raise CurrentDamagedError where it is garbage, StoreVersionError where another FlowReader wrote it.
    """
    try:
        return parse_current(location.current.read_bytes(), location)
    except FileNotFoundError:
        return None


def parse_current(data: bytes, location: CorpusLocation) -> Current:
    """Return the pointer that CURRENT holds; raise as `read_current` does."""
    try:
        pointer = json.loads(data)
        refuse_other_versions(int(pointer["schema_version"]), location.current)
        return Current(
            schema_version=int(pointer["schema_version"]), snapshot=int(pointer["snapshot"]), sha256=str(pointer["sha256"])
        )
    except (ValueError, TypeError, KeyError) as error:
        raise CurrentDamagedError(
            f"{str(location.current)!r} is damaged ({error!r})", location.current, how_to_mend(location)
        ) from error


def file_hash(path: Path) -> str | None:
    """Return the SHA-256 of a file, None where it is missing."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def is_intact(location: CorpusLocation, current: Current) -> bool:
    return file_hash(snapshot_path(location, current.snapshot)) == current.sha256


def release(location: CorpusLocation, number: int) -> None:
    """Copy the writer's catalog to the readers' snapshot `number` and point CURRENT at it; both durable.

    Raise DiskFullError where a part of the catalog is still in its log: DuckDB folds that in unless the disk is full.
    """
    log = location.catalog.with_name(f"{location.catalog.name}.wal")
    if log.exists() and log.stat().st_size:
        raise full_disk(location.folder, log.stat().st_size + location.catalog.stat().st_size)
    data = location.catalog.read_bytes()
    write_durably(snapshot_path(location, number), data)
    pointer = Current(schema_version=SCHEMA_VERSION, snapshot=number, sha256=hashlib.sha256(data).hexdigest())
    write_durably(location.current, json.dumps(asdict(pointer)).encode())


def pin(path: Path, held: ExitStack) -> str:
    """Keep clean-up from a snapshot as long as `held` and return its SHA-256; raise FileNotFoundError where clean-up was faster.

    A shared lock is the pin; it ends with the process.
    """
    descriptor = held.enter_context(lock_file(path, os.O_RDONLY))
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    if not os.fstat(descriptor).st_nlink:
        raise FileNotFoundError(path)
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def delete_question_files(folder: Path, *, before: float = math.inf) -> None:
    """Delete what questions left below a folder, even while others ask; with `before`, in seconds of time(), only what is older."""
    for inner, _folders, names in os.walk(folder):
        for path in (Path(inner, name) for name in names):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()
    if before == math.inf:
        shutil.rmtree(folder, ignore_errors=True)


def drop_snapshot(location: CorpusLocation, number: int) -> bool:
    """Remove a snapshot that no reader pins, and first what questions to it left; say whether it is gone."""
    path = snapshot_path(location, number)
    with lock_file(path, os.O_RDONLY) as descriptor:
        if not try_lock(descriptor):
            return False
        # What another account keeps there stays: nothing asks for it any more.
        with suppress(OSError):
            delete_question_files(location.question_folder(number))
        path.unlink()
    sync_folder(path.parent)
    return True


class PulledError(ExpectedError):
    """A pulled corpus that is to be written."""


def read_pull_address(location: CorpusLocation) -> str:
    """Return the address that a corpus was pulled from, which this machine may not write; "" for one of this machine's own."""
    try:
        return location.pulled.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def pull_again(location: CorpusLocation) -> str:
    """Return the command that renews a pulled corpus, and mends it where it is damaged."""
    return f"`flowreader corpora pull {read_pull_address(location)} --as {location.name}`"


def require_own(location: CorpusLocation) -> None:
    """Raise PulledError where the corpus was pulled."""
    if address := read_pull_address(location):
        raise PulledError(
            f"corpus {location.name!r} was pulled from {address} and is read-only",
            location.name,
            f"change it where it was made, push it there and run {pull_again(location)}, or take another --corpus NAME",
            over_http="change it where it was made, or take another corpus",
        )
