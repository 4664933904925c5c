"""The lineage of a run: every step inside the block writes what it did to one file of the corpus."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from storage.artifacts import home_artifacts
from storage.locations import CorpusLocation, steps_folder
from storage.memo import StepMemo
from storage.records.steps import StepRecord
from storage.runs.at_work import at_work, close, remove_sign
from storage.runs.log import RunLog, continue_log
from tasks.events import CallEnded, emit
from tasks.models.chat.call import ModelCall
from tasks.progress import is_broken_off, stop_requested
from tasks.step import Workplace, workplace
from tasks.watching.watching import watch_run


@contextmanager
def lineage_of_run(
    location: CorpusLocation,
    *,
    parameters: Mapping[str, Any],
    settings: Mapping[str, Any],
    run_id: str,
    snapshot: Callable[[], int],
    took_over: Sequence[Path] = (),
) -> Iterator[Workplace]:
    """Give the workplace of a run, and write how the run began and ended, and at which snapshot.

    `took_over` are the files of killed runs whose rest this run does: they say so from then on.
    """
    run_id = run_id or uuid.uuid4().hex
    path, outcome = location.runs / f"{run_id}.jsonl", "ended by an error"
    with at_work(path), watch_run(run_id, location.name, lambda: outcome):
        log = continue_log(path)
        place = workplace_of(run_id, log)
        log.begin(run_id=run_id, parameters=parameters, settings=settings, code_version=metadata.version("flowreader"))
        for killed in set(took_over) - {path}:
            close(killed, outcome=f"killed, taken over by {run_id}", snapshot=snapshot())
        try:
            yield place
            outcome = "stopped" if stop_requested() else "ended"
        except BaseException as problem:
            outcome = "stopped" if is_broken_off(problem) else outcome
            raise
        finally:
            log.end(run_id=run_id, outcome=outcome, snapshot=snapshot())
            remove_sign(path)


def workplace_of(run_id: str, log: RunLog) -> Workplace:
    """Return where the steps of a run keep what they make, whichever process they are done in."""
    artifacts = home_artifacts()
    return Workplace(artifacts=artifacts, memo=StepMemo(steps_folder(), artifacts), log=log, run_id=run_id)


def writing_calls(place: Workplace) -> Callable[[ModelCall], None]:
    """Return what writes every call of a model to the run's file, from any thread."""

    def write(call: ModelCall) -> None:
        place.log.call(asdict(call))
        emit(CallEnded(place.run_id, call))

    return write


@contextmanager
def writing_together(place: Workplace) -> Iterator[Workplace]:
    """Give a workplace whose lineage is written when the block ends, however it ends; a kill inside loses it."""
    log = place.log.holding()
    try:
        yield replace(place, log=log)
    finally:
        log.release()


@contextmanager
def working_at(place: Workplace) -> Iterator[list[StepRecord]]:
    """Let the steps inside the block work there; give the list of what they did.

    Two runs may go on side by side in one task: only what stands inside the block is of this one.
    """
    steps: list[StepRecord] = []
    token = workplace.set(replace(place, listener=steps.append))
    try:
        yield steps
    finally:
        workplace.reset(token)
