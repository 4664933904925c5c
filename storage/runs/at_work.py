"""Which runs are at work, and which were killed: a run holds the lock of a sign beside its file, and its death lets go of it.

The sign stands from before a run's first line until after its last one. A sign that nothing holds means that the run was killed,
on this machine, whatever became of the process's number since.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from storage.locations import CorpusLocation
from storage.lock import is_still_there, lock_file, try_lock
from storage.runs.log import continue_log, writing_alone
from storage.system import explain_full_disk

SUFFIX = ".at-work"


@dataclass(frozen=True, slots=True)
class SignedRun:
    """The file of a run that a sign stands for; `began` is in seconds since 1970, for people only."""

    path: Path
    began: float


def sign_of(run_file: Path) -> Path:
    return run_file.with_suffix(SUFFIX)


@contextmanager
def at_work(run_file: Path) -> Iterator[None]:
    """Hold the sign of a run while the block runs; `remove_sign` removes it when the run has its last line, else it stays."""
    with explain_full_disk(run_file.parent, 0):
        run_file.parent.mkdir(parents=True, exist_ok=True)
    # A short wait, as for a process that only looks: the holder is the same run, met by its own retry just as it ends.
    with writing_alone(sign_of(run_file), wait=False):
        yield


def remove_sign(run_file: Path) -> None:
    sign_of(run_file).unlink(missing_ok=True)


def is_at_work(run_file: Path) -> bool:
    """Say whether a living process holds the run's sign; its file is to be read afterwards, for it may have ended since."""
    found = _look_at(sign_of(run_file))
    return found is not None and found[1]


def find_killed_runs(location: CorpusLocation) -> list[SignedRun]:
    """Return the runs that were killed and neither taken over nor put away, the oldest first; one may have no line yet."""
    return _find_signed_runs(location, held=False)


def runs_at_work(location: CorpusLocation) -> list[SignedRun]:
    """Return the runs that a living process of this machine is at, the oldest first."""
    return _find_signed_runs(location, held=True)


def _find_signed_runs(location: CorpusLocation, *, held: bool) -> list[SignedRun]:
    signs = [(sign.with_suffix(".jsonl"), _look_at(sign)) for sign in location.runs.glob(f"*{SUFFIX}")]
    found = [SignedRun(path, look[0]) for path, look in signs if look is not None and look[1] == held]
    return sorted(found, key=lambda each: (each.began, each.path.name))


def close(run_file: Path, *, outcome: str, snapshot: int) -> None:
    continue_log(run_file).end(run_id=run_file.stem, outcome=outcome, snapshot=snapshot)
    remove_sign(run_file)


def _look_at(sign: Path) -> tuple[float, bool] | None:
    """Return when the sign was put up, in seconds since 1970, and whether a process holds it; None where it does not stand."""
    with suppress(FileNotFoundError), lock_file(sign, os.O_RDONLY) as descriptor:
        held = not try_lock(descriptor, fcntl.LOCK_SH)
        # It may end while it is looked at: then its sign is gone.
        return (os.fstat(descriptor).st_mtime, held) if is_still_there(descriptor, sign) else None
    return None
