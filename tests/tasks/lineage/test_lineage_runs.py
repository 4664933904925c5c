"""A run's file as records: what began, what was done, how it ended; what says less than it should is damage."""

import pytest

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.records.answers import NamedDocument
from storage.runs.at_work import at_work
from storage.runs.log import EntryKind, RunLog
from storage.runs.views import read_run
from tasks.lineage.documents import document_histories
from tasks.lineage.names import opened_sources
from tasks.lineage.records import CallSum, Damage, RunKind, Standing, StepSum
from tasks.lineage.runs import did_publish, history_of, sum_of_calls, sum_of_steps, why_unpublished
from tasks.lineage.walk import run_walk
from tasks.prompts.prompt import load_prompt
from tests.lineage_worlds import INGEST, call, ingest_run, step
from tests.storage import worlds

REPORT = worlds.graph("report")


@pytest.fixture
def location(tmp_path):
    return worlds.corpus_in(tmp_path)


def story(path):
    return history_of(read_run(path))


def test_a_whole_run_is_told_with_its_steps_and_calls(location):
    told = story(ingest_run(location, REPORT))
    assert (told.head.run_id, told.head.kind, told.head.outcome, told.head.snapshot) == (INGEST, RunKind.INGEST, "ended", 3)
    assert (told.head.began, told.head.code_version) == ("2026-02-03T04:05:06+00:00", "0.1.0")
    assert [each.step for each in told.steps] == ["parse", "evolve", "publish"] and told.damage is None
    assert told.parameters["paths"] == ["/files"] and told.settings["reading"]["parse"]["tier"] == "flash"
    (called,) = told.calls
    assert (called.about, called.prompt, called.outcome) == (REPORT.document_id, "analyze_text.md", "ok")
    assert "secret" not in repr(called), "what a call was about is told by its id"


def test_a_file_whose_beginning_is_lost_tells_the_rest(location):
    path = ingest_run(location, REPORT)
    path.write_bytes(path.read_bytes()[200:])
    told = story(path)
    assert (told.head.kind, told.head.code_version, told.parameters, told.settings) == (RunKind.UNKNOWN, "", {}, {})
    assert len(told.steps) == 3 and told.damage == Damage(INGEST, 1, "")


@pytest.mark.parametrize("kind", [kind for kind in EntryKind if kind is not EntryKind.ANSWER])
def test_a_line_that_says_less_than_it_should_is_damage_and_the_others_count(location, kind):
    path = ingest_run(location, REPORT)
    RunLog(path).append(kind, {"purpose": 3})
    told = story(path)
    assert told.damage == Damage(INGEST, 1, "") and (len(told.steps), len(told.calls), told.head.outcome) == (3, 1, "ended")


def test_a_prompt_whose_file_changed_is_told_by_its_hash_alone(location):
    log = RunLog(location.runs / "r1.jsonl")
    log.call(call("d" * 64, prompt_hash="e" * 64))
    (called,) = story(log.path).calls
    assert (called.prompt, called.prompt_hash) == ("", "e" * 64)


def test_steps_are_summed_by_name_and_version_in_the_order_in_which_they_began():
    steps = [
        step("r1", "evolve", "b", seconds=1.0, started="2026-01-01T00:00:09"),
        step("r1", "parse", "a", seconds=0.25, attempts=2, error="it failed", started="2026-01-01T00:00:01"),
        step("r1", "parse", "b", seconds=0.5, cache_hit=True, started="2026-01-01T00:00:02"),
    ]
    assert sum_of_steps(steps) == (StepSum("parse", "1", 2, 0.75, 2, 1, 1), StepSum("evolve", "1", 1, 1.0, 1, 0, 0))


def test_calls_are_summed_by_purpose_model_and_prompt(location):
    log = RunLog(location.runs / "r1.jsonl")
    for made in (call("a"), call("a", "keywords"), call("b", outcome="cached", input_tokens=0), call("a", model="other")):
        log.call(made)
    summed = sum_of_calls(story(log.path).calls)
    assert [(each.purpose, each.model) for each in summed] == [("worker", "m"), ("keywords", "m"), ("worker", "other")]
    worker = CallSum("worker", "m", "worker.md", load_prompt("worker").hash, {"ok": 1, "cached": 1}, 100, 40, 1.0, 3.0)
    assert summed[0] == worker


DOCUMENT = "d" * 64


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
    return history_of(read_run(log.path))


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
    with at_work(location.runs / "r1.jsonl"):
        assert why_unpublished(run(location, ("parse", 1)), DOCUMENT) == "not published yet"


def told(location):
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0):
        pass
    with open_for_reading(location) as snapshot, opened_sources(snapshot) as sources:
        (by_id,), _ = document_histories(sources, [NamedDocument(DOCUMENT, "")])
        (in_answer,), _ = document_histories(sources, [NamedDocument(DOCUMENT, "gone.pdf")])
        (of_run,) = run_walk(sources, "r1").documents
        return by_id.standing, in_answer.standing, of_run.why


def test_a_run_and_a_document_tell_the_same(location):
    run(location, ("evolve", 3), ("publish", 4))
    assert told(location) == (Standing.UNPUBLISHED, Standing.GONE, "not published: the run was killed first")
    run(location, ("evolve", 11), ("publish", 14), outcome="ended", name="r2")
    assert told(location) == (Standing.GONE, Standing.GONE, "not published: the run was killed first")
