"""How far a run came is read from its file, cut or whole, and only of its last try."""

import pytest

from storage.runs import RunLog
from tasks.run_progress import RunProgress, progress_of
from tests.lineage_worlds import step


@pytest.fixture
def log(tmp_path):
    log = RunLog(tmp_path / "runs" / "r1.jsonl")
    log.begin(run_id="r1", parameters={"paths": ["/in"]}, settings={}, code_version="1")
    return log


def test_before_the_files_are_looked_through_nobody_knows_how_many_there_are(log):
    assert progress_of(log.path) == RunProgress(0, 0, None)


def test_what_is_read_and_what_failed_are_told_apart_and_what_is_at_work_is_neither(log):
    log.plan(documents=5)
    for name, subject, error in (
        ("parse", "a" * 64, ""),
        ("evolve", "a" * 64, ""),
        ("parse", "b" * 64, "ParseError: cut"),
        ("parse", "c" * 64, "OSError: busy"),
        ("parse", "c" * 64, ""),
        ("publish", "corpus", "OSError: full"),
    ):
        log.step(step("r1", name, subject, error=error))
    assert progress_of(log.path) == RunProgress(1, 1, 5)


def test_a_run_that_is_tried_again_begins_at_nothing(log):
    log.plan(documents=5)
    log.step(step("r1", "evolve", "a" * 64))
    log.begin(run_id="r1", parameters={}, settings={}, code_version="1")
    log.step(step("r1", "evolve", "b" * 64))
    log.step(step("r1", "evolve", "c" * 64))
    assert progress_of(log.path) == RunProgress(2, 0, None)
    log.path.write_bytes(log.path.read_bytes()[:-9])
    assert progress_of(log.path) == RunProgress(1, 0, None)
