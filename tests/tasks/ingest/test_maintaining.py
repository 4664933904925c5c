"""Maintenance does what an ingest does at its end, of all corpora or the named ones; its page says what was done and found."""

import pytest
from pydantic import ValidationError

from storage.artifacts import ArtifactStore
from storage.cleaning.garbage import AgedOut, Garbage
from storage.cleaning.removing import CleanedUp
from storage.corpus.snapshot import UnknownCorpusError
from storage.corpus.writer import open_for_writing
from storage.errors import Finding
from storage.memo import StepMemo
from storage.runs.log import RunLog
from storage.runs.views import read_run
from tasks.ingest.maintenance import (
    MaintainRequest,
    Maintenance,
    corpora_to_maintain,
    doctor,
    maintenance,
    maintenance_markdown,
    summary,
)
from tasks.step import Workplace, workplace
from tests.storage import worlds

WELL = Maintenance(corpus="reports", cleaned=CleanedUp((), Garbage(artifacts=("a", "b", "c"), bytes_freed=4_500), 0))
BUSY = Maintenance(corpus="busy", skipped="corpus 'busy' is being written by process 7", killed=("the ingest of /in was killed",))
BROKEN = Maintenance(
    corpus="broken",
    mended=("CURRENT was cut",),
    cleaned=CleanedUp((), Garbage(postponed="corpus 'b' is being written"), 0),
    findings=(Finding("counts", "5 nodes, not <6>", "read it again"),),
)


@pytest.fixture
def log(tmp_path, home):
    artifacts = ArtifactStore(tmp_path / "artifacts")
    log = RunLog(tmp_path / "run.jsonl")
    token = workplace.set(Workplace(artifacts, StepMemo(tmp_path / "steps", artifacts), log, "run"))
    yield log
    workplace.reset(token)


def test_maintenance_makes_the_indexes_and_says_what_it_deleted(home, log):
    location = worlds.corpus_in(home)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, worlds.graph("report"))
        location.index_due.touch()
        before = corpus.snapshot
        assert maintenance(corpus).garbage == Garbage()
        assert corpus.snapshot > before and not location.index_due.exists()
        again = corpus.snapshot
        maintenance(corpus)
        assert corpus.snapshot == again, "what is well is left alone"
    assert [record.outputs["artifacts"] for record in read_run(log.path).steps()] == ["0", "0"]
    assert doctor(location) == ()


def test_doctor_finds_what_is_broken_and_nothing_in_a_corpus_without_a_snapshot(home, log):
    location = worlds.corpus_in(home)
    location.folder.mkdir(parents=True)
    assert doctor(location) == ()
    location.current.write_text("garbage")
    (finding,) = doctor(location)
    assert isinstance(finding, Finding) and finding.check == "published snapshot" and "flowreader ingest" in finding.remedy
    assert read_run(log.path).steps()[-1].outputs == {"findings": "1"}


def names(request):
    return [location.name for location in corpora_to_maintain(request)]


def test_no_name_means_every_corpus_and_names_mean_those(home):
    assert names(MaintainRequest()) == []
    for name in ("b", "a", "far"):
        (home / "corpora" / name).mkdir(parents=True)
    (home / "corpora" / "file").touch()
    assert names(MaintainRequest()) == ["a", "b", "far"] and names(MaintainRequest(corpora=("far", "a"))) == ["a", "far"]
    with pytest.raises(UnknownCorpusError, match=r"no corpus 'fa'.*name none to look after all"):
        corpora_to_maintain(MaintainRequest(corpora=("fa",)))


@pytest.mark.parametrize("wrong", [{"corpora": ("../x",)}, {"corpora": ("",)}, {"wait_seconds": -1}, {"wait_seconds": 3601}])
def test_what_is_out_of_bounds_is_refused_by_the_form(wrong):
    with pytest.raises(ValidationError):
        MaintainRequest(**wrong)


def test_every_corpus_has_a_line_and_its_details_with_remedies():
    page = maintenance_markdown([WELL, BUSY, BROKEN], AgedOut(reports=2, results=3, bytes_freed=12_000))
    assert page.splitlines()[2] == "2 corpora looked after, 1 skipped, 1 finding"
    assert "- **reports**: well; 3 files deleted, 4,500 bytes" in page
    assert "- **busy**: skipped: corpus" in page and "  - the ingest of /in was killed" in page
    assert "- **broken**: 1 finding;" in page and "  - mended: CURRENT was cut" in page and "clean-up waits: corpus" in page
    assert "  - counts: 5 nodes, not <6>; read it again" in page
    assert "30 days: 2 reports" in page and "3 results" in page and "12,000 bytes" in page
    assert summary([]) == "there is no corpus yet" and "Deleted" not in maintenance_markdown([WELL])
    assert summary([WELL]) == "1 corpus looked after, 0 skipped, 0 findings"
