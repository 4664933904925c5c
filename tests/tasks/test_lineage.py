"""A run's file tells how it began and how it ended, also when it ended badly."""

import asyncio

import pytest

from storage.corpus import open_for_writing
from storage.runs import read_run
from tasks.lineage import lineage_of_run, steps_heard
from tasks.progress import forget_stop, request_stop
from tasks.step import StepKey, step, workplace
from tests.storage import worlds


@pytest.fixture
def corpus(tmp_path, home):
    with open_for_writing(worlds.corpus_in(tmp_path), embedder=worlds.EMBEDDER, wait_seconds=0) as writer:
        yield writer


def test_a_run_leaves_its_beginning_and_its_end(corpus):
    with lineage_of_run(
        corpus.location, snapshot=lambda: corpus.snapshot, parameters={"paths": ["/in"]}, settings={"rounds": 3}, run_id="r1"
    ) as place:
        assert workplace.get() is place
        worlds.publish(corpus, worlds.graph("report"))
    run = read_run(corpus.location.runs / "r1.jsonl")
    assert run.entries[0]["parameters"] == {"paths": ["/in"]} and run.entries[0]["code_version"]
    end = run.entries[-1]
    assert (end["kind"], end["outcome"], end["snapshot"]) == ("end", "ended", corpus.snapshot)


def test_a_run_that_fails_says_so_and_its_name_is_made_where_none_is_given(corpus):
    with (
        pytest.raises(ValueError, match="broken"),
        lineage_of_run(corpus.location, snapshot=lambda: corpus.snapshot, parameters={}, settings={}, run_id=""),
    ):
        raise ValueError("broken")
    (path,) = corpus.location.runs.iterdir()
    assert read_run(path).entries[-1]["outcome"] == "ended by an error"


def test_a_stopped_run_says_so(corpus):
    request_stop()
    try:
        with lineage_of_run(corpus.location, snapshot=lambda: corpus.snapshot, parameters={}, settings={}, run_id="r2"):
            pass
    finally:
        forget_stop()
    assert read_run(corpus.location.runs / "r2.jsonl").entries[-1]["outcome"] == "stopped"


@step("count", version="1", retries=0, cache_key=lambda name: StepKey(name, name, name))
def count(name):
    """Do nothing, and leave a record."""


def test_what_the_steps_of_a_block_did_is_heard_beside_the_file(corpus):
    with lineage_of_run(corpus.location, snapshot=lambda: 0, parameters={}, settings={}, run_id="r3") as place:
        count("before")
        with steps_heard() as heard:
            count("inside")
            asyncio.run(count.submit("in a thread"))
        count("after")
        assert workplace.get() is place
    assert [record.subject for record in heard] == ["inside", "in a thread"]
    written = read_run(corpus.location.runs / "r3.jsonl").steps()
    assert [record.subject for record in written] == ["before", "inside", "in a thread", "after"] and heard == written[1:3]


def test_two_questions_at_once_hear_only_their_own_steps(corpus):
    async def ask(name):
        with steps_heard() as heard:
            await asyncio.gather(count.submit(name), count.submit(name))
        return [record.subject for record in heard]

    async def both():
        return await asyncio.gather(ask("one"), ask("two"))

    with lineage_of_run(corpus.location, snapshot=lambda: 0, parameters={}, settings={}, run_id="r4"):
        assert asyncio.run(both()) == [["one", "one"], ["two", "two"]]


def test_a_step_that_fails_is_heard_too(corpus):
    @step("fail", version="1", retries=0, cache_key=lambda: StepKey("q", "q", "q"))
    def fail():
        """Fail."""
        raise ValueError("broken")

    with lineage_of_run(corpus.location, snapshot=lambda: 0, parameters={}, settings={}, run_id="r5"):
        with steps_heard() as heard, pytest.raises(ValueError, match="broken"):
            fail()
    assert [record.error for record in heard] == ["ValueError: broken"]
