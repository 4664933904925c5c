"""Deleting files that others may delete at the same time, and how long what may still be wanted stays."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

KEEP_SECONDS = 3600.0
"""What was replaced stays so long for its readers: longer than any question may last."""

KEEP_UNNAMED_SECONDS = 30 * 86400.0
"""What nothing names any more stays so long, for it cost money, or may be wanted again: replies of models about documents
that no corpus has (an ingest whose budget was used up may go on after days), what deployed runs left, killed runs. What is removed
on purpose takes all of it along at once."""


def is_older(path: Path, moment: float) -> bool:
    """Say whether the file was last written before the moment (seconds since 1970); one that just went is not."""
    with suppress(FileNotFoundError):
        return path.stat().st_mtime <= moment
    return False


def delete_files(paths: Iterable[Path]) -> tuple[tuple[str, ...], int]:
    """Delete the files, but for those that go meanwhile; return the names of what was deleted, and how many bytes that was."""
    deleted: list[tuple[str, int]] = []
    for path in paths:
        with suppress(FileNotFoundError):
            size = path.stat().st_size
            path.unlink()
            deleted.append((path.name, size))
    return tuple(sorted(name for name, _ in deleted)), sum(size for _, size in deleted)
