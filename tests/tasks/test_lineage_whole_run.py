"""A run as a whole, whichever kind it is, and however it ended."""

from dataclasses import asdict

import pytest

from storage.answer_records import NamedDocument
from storage.corpus import open_for_writing
from storage.runs import RunLog
from storage.snapshot import open_for_reading
from tasks.lineage_names import Shelf
from tasks.lineage_records import Damage, DocumentInRun, RunKind
from tasks.lineage_unpublished import NOT_ANY_MORE
from tasks.lineage_whole_run import run_walk
from tests.lineage_worlds import INGEST, asking_run, call, ingest_run, step
from tests.storage import worlds
from tests.storage.answer_worlds import answer, named

REPORT, GONE = worlds.graph("report"), worlds.graph("gone")


@pytest.fixture
def location(tmp_path):
    place = worlds.corpus_in(tmp_path)
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, REPORT)
    return place


def told(location, run_id):
    with open_for_reading(location) as snapshot:
        return run_walk(Shelf(snapshot), run_id)


def test_an_ingest_tells_its_documents_and_of_those_that_are_gone_no_name_and_no_word(location):
    path = ingest_run(location, REPORT, GONE, paths=["/files/report.pdf", "/files/gone.pdf"])
    for graph in (REPORT, GONE):
        RunLog(path).step(step(INGEST, "parse", graph.document_id, error=f"ParseError: {graph.title}.pdf is torn"))
    walk = told(location, INGEST)
    assert (walk.run.kind, walk.run.outcome, walk.damaged) == (RunKind.INGEST, "ended", ())
    assert walk.documents == (
        DocumentInRun(named("report"), True),
        DocumentInRun(NamedDocument(GONE.document_id, ""), False, NOT_ANY_MORE),
    )
    assert [(each.step, each.times, each.attempts, each.failed) for each in walk.steps] == [
        ("parse", 4, 2, 2), ("publish", 1, 1, 0), ("evolve", 2, 1, 0),
    ]  # fmt: skip
    assert [each.error for each in walk.failed] == ["ParseError: report.pdf is torn", "ParseError"]
    assert walk.calls[0].outcomes == {"ok": 2} and walk.parameters["paths_of_nothing_published"] == 1
    assert "gone.pdf" not in repr(asdict(walk)) and walk.settings["reading"]


def test_a_run_that_asked_tells_its_answers_and_the_documents_that_they_used(location):
    answers = [answer("report"), answer("report", "gone", question="How few?")]
    asking_run(location, "aa00bb", answers)
    walk = told(location, "ask-aa00bb")
    assert (walk.run.kind, [each.question for each in walk.answers]) == (RunKind.ASK, ["How many?", "How few?"])
    assert [(each.document.name, each.published) for each in walk.documents] == [("report.pdf", True), ("", False)]
    assert [(each.step, each.times) for each in walk.steps] == [("route", 2), ("record", 2)]
    assert "words of" not in repr(asdict(walk))


def test_an_evaluation_counts_questions_by_batches_that_are_no_documents(location):
    log = RunLog(location.runs / "r1.jsonl")
    log.begin(run_id="r1", parameters={"what": "probe"}, settings={}, code_version="1")
    log.step(step("r1", "ask-batch", "b" * 64, error="ChatEndedError: the server is gone"))
    log.call(call("c" * 64) | {"answer_id": "d" * 32})
    walk = told(location, "r1")
    assert (walk.run.kind, walk.documents, walk.answers) == (RunKind.EVALUATE, (), ())
    assert walk.run.outcome == "killed" and walk.failed[0].error == "ChatEndedError: the server is gone"


def test_of_a_run_cut_anywhere_the_rest_is_told(location):
    path = asking_run(location, "aa00bb", [answer("report")])
    data = path.read_bytes()
    for cut in range(0, len(data), 97):
        path.write_bytes(data[:cut])
        walk = told(location, "ask-aa00bb")
        torn = cut > 0 and data[cut - 1 : cut] != b"\n" and data[cut : cut + 1] != b"\n"
        assert walk.damaged == ((Damage("ask-aa00bb", 1, ""),) if torn else ())
        assert (walk.run.outcome, walk.run.snapshot) == ("killed", None)
