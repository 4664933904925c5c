"""A document that is not published is told with the truth about it: it was once, or the run that read it never came so far."""

import pytest

from storage.answer_records import NamedDocument
from storage.corpus import open_for_writing
from storage.run_traces import trace
from storage.runs import RunLog
from storage.snapshot import open_for_reading
from tasks.lineage_documents import documents_told
from tasks.lineage_names import Shelf
from tasks.lineage_records import Standing
from tasks.lineage_runs import story_of
from tasks.lineage_unpublished import did_publish, why_unpublished
from tasks.lineage_whole_run import run_walk
from tests.lineage_worlds import step
from tests.storage import worlds

DOCUMENT = "d" * 64


@pytest.fixture
def location(tmp_path):
    place = worlds.corpus_in(tmp_path)
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0):
        pass
    return place


def run(location, *steps, outcome="", name="r1"):
    """A run that did the steps, each given with its second; it was killed where it has no outcome."""
    log = RunLog(location.runs / f"{name}.jsonl")
    log.begin(run_id=name, parameters={"paths": ["/in"]}, settings={}, code_version="1")
    for what, second, *error in steps:
        subject = "corpus" if what == "publish" else DOCUMENT
        moment = f"2026-02-03T04:05:{second:02d}+00:00"
        log.step(step(name, what, subject, started=moment, seconds=2.0, error="".join(error)))
    if outcome:
        log.end(run_id=name, outcome=outcome, snapshot=1)
    return story_of(trace(log.path, [b""]))


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ("", "not published: the run was killed first"),
        ("killed, taken over by r2", "not published: the run was killed first"),
        ("stopped", "not published: the run was stopped first"),
        ("ended by an error", "not published: the run ended by an error first"),
        ("ended", "not published any more"),
    ],
)
def test_what_a_run_did_not_come_to_publish_was_not_removed(location, outcome, why):
    story = run(location, ("parse", 1), ("publish", 9), outcome=outcome)
    assert why_unpublished(story, DOCUMENT) == why


@pytest.mark.parametrize(
    ("steps", "published"),
    [
        ([("evolve", 1), ("publish", 4)], True),
        ([("evolve", 3), ("publish", 4)], False),
        ([("evolve", 1), ("publish", 4, "OSError: full")], False),
        ([("parse", 1, "ParseError: cut"), ("publish", 4)], True),
        ([("parse", 1, "StoppedError: "), ("publish", 4)], False),
        ([("publish", 4)], False),
    ],
)
def test_a_batch_that_began_after_a_document_was_finished_published_it(location, steps, published):
    assert did_publish(run(location, *steps), DOCUMENT) is published


def test_what_is_being_read_is_not_published_yet(location):
    from storage.at_work import at_work

    with at_work(location.runs / "r1.jsonl"):
        assert why_unpublished(run(location, ("parse", 1)), DOCUMENT) == "not published yet"


def told(location):
    with open_for_reading(location) as snapshot:
        shelf = Shelf(snapshot)
        (by_id,), _ = documents_told(shelf, [NamedDocument(DOCUMENT, "")])
        (in_answer,), _ = documents_told(shelf, [NamedDocument(DOCUMENT, "gone.pdf")])
        (of_run,) = run_walk(shelf, "r1").documents
        return by_id.standing, in_answer.standing, of_run.why


def test_a_run_and_a_document_tell_the_same(location):
    run(location, ("evolve", 3), ("publish", 4))
    assert told(location) == (Standing.UNPUBLISHED, Standing.GONE, "not published: the run was killed first")
    run(location, ("evolve", 11), ("publish", 14), outcome="ended", name="r2")
    assert told(location) == (Standing.GONE, Standing.GONE, "not published: the run was killed first")
