"""Documents with who parsed them and which runs read them."""

from dataclasses import replace

import pytest

from storage.answer_records import NamedDocument
from storage.corpus import open_for_writing
from storage.records import identify
from storage.runs import RunLog
from storage.snapshot import open_for_reading
from tasks.lineage_documents import NOT_KEPT, OTHER_PARSER, documents_told
from tasks.lineage_names import Shelf
from tasks.lineage_records import Damage, Standing
from tasks.parsing import parser_identity
from tests.lineage_worlds import INGEST, SETTINGS, call, ingest_run, step
from tests.storage import worlds

REPORT, PAPER, GONE = (worlds.graph(name) for name in ("report", "paper", "gone"))
NAMED = [NamedDocument(graph.document_id, f"{graph.title}.pdf") for graph in (REPORT, PAPER, GONE)]


@pytest.fixture
def location(tmp_path):
    place = worlds.corpus_in(tmp_path)
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, REPORT, PAPER)
    return place


def told(location, *documents):
    with open_for_reading(location) as snapshot:
        return documents_told(Shelf(snapshot), documents)


def test_a_published_document_is_told_with_bytes_files_parser_and_readings(location):
    ingest_run(location, REPORT, PAPER)
    (report, paper), damaged = told(location, *NAMED[:2])
    assert (report.document, report.standing, report.paths) == (NAMED[0], Standing.PUBLISHED, ("/files/report.pdf",))
    assert (report.size_bytes, report.pages, report.nodes, report.state) == (1234, 2, 6, "ready")
    assert report.notes == ("page 2 read by pdfium",) and report.parser == parser_identity()
    (reading,) = report.readings
    assert (reading.run.run_id, [each.step for each in reading.steps]) == (INGEST, ["parse", "evolve"])
    assert reading.steps[0].attempts == 2 and [each.about for each in reading.calls] == [REPORT.document_id]
    assert reading.published and paper.readings[0].steps[0].subject == PAPER.document_id and damaged == ()


def test_only_the_run_that_made_the_published_version_says_so_and_the_newest_comes_first(location):
    ingest_run(location, REPORT)
    log = RunLog(location.runs / "2222.jsonl")
    log.begin(run_id="2222", parameters={"paths": []}, settings={}, code_version="2")
    log.step(step("2222", "evolve", REPORT.document_id, identify("evolve", "1", "another version"), started="2027"))
    failed = step("2222", "evolve", REPORT.document_id, identify("evolve", "1", REPORT.version), error="it failed", started="2027")
    log.step(failed)
    (report,), _ = told(location, NAMED[0])
    assert [(each.run.run_id, each.published) for each in report.readings] == [("2222", False), (INGEST, True)]
    assert report.readings[0].run.outcome == "killed" and report.readings[0].run.began == "2027"
    assert report.parser == parser_identity(), "the second run found it parsed"


@pytest.mark.parametrize("settings", [SETTINGS.model_dump(mode="json"), {"unknown": 1}])
def test_a_parser_that_is_not_the_one_here_is_not_called_by_its_version(location, settings):
    log = RunLog(location.runs / "r1.jsonl")
    log.begin(run_id="r1", parameters={"paths": []}, settings=settings, code_version="1")
    log.step(step("r1", "parse", REPORT.document_id, "another key"))
    (report,), _ = told(location, NAMED[0])
    assert report.parser == OTHER_PARSER


def test_without_a_run_the_record_is_told_and_no_documents_give_nothing(location):
    (report,), damaged = told(location, NAMED[0])
    assert (report.readings, report.parser, report.version, damaged) == ((), NOT_KEPT, REPORT.version, ())
    assert told(location) == ((), ())


def test_a_call_without_a_step_is_a_reading_too(location):
    RunLog(location.runs / "r1.jsonl").call(call(REPORT.document_id))
    (report,), _ = told(location, NAMED[0])
    assert len(report.readings[0].calls) == 1 and report.readings[0].run.began == ""


def test_of_what_was_removed_the_id_and_the_work_are_told_and_no_name_and_no_word(location):
    path = ingest_run(location, GONE)
    words = {"error": "ParseError: gone.pdf says SECRET"}
    RunLog(path).step(step(INGEST, "parse", GONE.document_id, **words))
    RunLog(path).call(call(GONE.document_id, **words))
    (gone,), _ = told(location, NAMED[2])
    assert (gone.document, gone.standing, gone.paths, gone.state) == (replace(NAMED[2], name=""), Standing.GONE, (), "")
    (reading,) = gone.readings
    assert {each.error for each in reading.steps} == {"", "ParseError"} == {each.error for each in reading.calls}
    assert "SECRET" not in repr(gone) and "gone.pdf" not in repr(gone) and not gone.readings[0].published


def test_damaged_files_are_told_and_the_others_read(location):
    ingest_run(location, REPORT)
    cut = ingest_run(location, PAPER, run_id="2222")
    cut.write_bytes(cut.read_bytes()[:-9])
    (location.runs / "3333.jsonl").mkdir()
    (report,), damaged = told(location, NAMED[0])
    assert len(report.readings) == 1 and damaged == (Damage("2222", 1, ""), Damage("3333", 0, "Is a directory"))
