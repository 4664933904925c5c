"""A run's file as records: what began, what was done, how it ended; what says less than it should is damage."""

import pytest

from storage.runs.log import EntryKind, RunLog
from storage.runs.views import read_run
from tasks.lineage.records import Damage, RunKind
from tasks.lineage.runs import history_of, sum_of_calls, sum_of_steps
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


@pytest.mark.parametrize("kind", [EntryKind.RUN, EntryKind.STEP, EntryKind.CALL, EntryKind.END])
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
    names = ("step", "version", "times", "seconds", "attempts", "cache_hits", "failed", "stopped")
    summed = [[each[name] for name in names] for each in sum_of_steps(steps)]
    assert summed == [["parse", "1", 2, 0.75, 2, 1, 1, 0], ["evolve", "1", 1, 1.0, 1, 0, 0, 0]]


def test_calls_are_summed_by_purpose_model_and_prompt(location):
    log = RunLog(location.runs / "r1.jsonl")
    for made in (call("a"), call("a", "keywords"), call("b", outcome="cached", input_tokens=0), call("a", model="other")):
        log.call(made)
    summed = sum_of_calls(story(log.path).calls)
    assert [(each["purpose"], each["model"]) for each in summed] == [("worker", "m"), ("keywords", "m"), ("worker", "other")]
    assert summed[0] == {
        **{"purpose": "worker", "model": "m", "prompt": "worker.md", "prompt_hash": load_prompt("worker").hash, "cost": 1.0},
        **{"outcomes": {"ok": 1, "cached": 1}, "input_tokens": 100, "output_tokens": 40, "seconds": 3.0},
    }
