"""An ingest that is at work is told with its folder and how far it is; nothing else is."""

import pytest

from storage.at_work import at_work
from storage.runs import ASKING, RunLog
from tasks.ingests_at_work import ingests_at_work
from tests.lineage_worlds import step
from tests.storage.worlds import corpus_in


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def begun(location, name="r1", **parameters):
    log = RunLog(location.runs / f"{name}.jsonl")
    log.begin(run_id=name, parameters=parameters, settings={}, code_version="1")
    return log


def test_it_is_told_while_its_process_lives(location):
    with at_work(location.runs / "r1.jsonl"):
        log = begun(location, paths=["/in", "/more"])
        (ingest,) = ingests_at_work(location)
        assert ingest.told.startswith("the ingest of /in and 1 more that began at 20")
        assert ingest.told.endswith(" UTC is at work: documents are looked for")
        log.plan(documents=3)
        log.step(step("r1", "evolve", "a" * 64))
        assert ingests_at_work(location)[0].told.endswith(": 1 of 3 documents done")
        log.step(step("r1", "parse", "b" * 64, error="ParseError: cut"))
        (ingest,) = ingests_at_work(location)
        assert ingest.told.endswith(": 2 of 3 documents done, 1 of them failed")
        assert (ingest.run_id, ingest.paths, ingest.done, ingest.failed, ingest.documents) == ("r1", ("/in", "/more"), 2, 1, 3)
    assert ingests_at_work(location) == (), "it was killed"


def test_other_runs_at_work_are_no_ingests(location):
    with at_work(location.runs / f"{ASKING}1.jsonl"), at_work(location.runs / "r1.jsonl"), at_work(location.runs / "r2.jsonl"):
        begun(location, f"{ASKING}1", questions=["?"])
        begun(location, "r1", what="probe")
        assert ingests_at_work(location) == ()
