"""Upkeep does what an ingest does at its end; doctor says what is broken afterwards."""

import pytest

from storage.artifacts import ArtifactStore
from storage.corpus import open_for_writing
from storage.memo import StepMemo
from storage.records import DocumentState, Finding
from storage.runs import RunLog, read_run
from tasks.maintaining import Upkeep, doctor, upkeep
from tasks.step import Workplace, workplace
from tests.storage import worlds


@pytest.fixture
def log(tmp_path, home):
    artifacts = ArtifactStore(tmp_path / "artifacts")
    log = RunLog(tmp_path / "run.jsonl")
    token = workplace.set(Workplace(artifacts, StepMemo(tmp_path / "steps", artifacts), log, "run"))
    yield log
    workplace.reset(token)


def test_upkeep_makes_the_indexes_and_says_what_it_deleted(home, log):
    location = worlds.corpus_in(home)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, worlds.graph("report"))
        location.index_due.touch()
        before = corpus.snapshot
        done = Upkeep.of(corpus, upkeep(corpus))
        assert corpus.snapshot > before and not location.index_due.exists()
        again = corpus.snapshot
        upkeep(corpus)
        assert corpus.snapshot == again, "what is well is left alone"
    assert done == Upkeep(corpus="default")
    assert [record.outputs["artifacts"] for record in read_run(log.path).steps()] == ["0", "0"]
    assert doctor(location) == ()


def test_doctor_finds_what_is_broken_and_nothing_in_a_corpus_without_a_snapshot(home, log):
    location = worlds.corpus_in(home)
    location.folder.mkdir(parents=True)
    assert doctor(location) == ()
    location.current.write_text("garbage")
    (finding,) = doctor(location)
    assert isinstance(finding, Finding) and finding.check == "published snapshot" and "flowreader ingest" in finding.remedy
    assert DocumentState.READY.value not in finding.what
    assert read_run(log.path).steps()[-1].outputs == {"findings": "1"}
