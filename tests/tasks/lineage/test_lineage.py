"""A run's file tells how it began and how it ended, also when it ended badly."""

import asyncio
from contextlib import nullcontext
from dataclasses import asdict

import pytest

from storage.corpus.writer import open_for_writing
from storage.runs.views import read_run
from tasks.events import CallEnded, RunBegan, StepEnded, subscribe
from tasks.lineage.writing import lineage_of_run, working_at, writing_calls, writing_together
from tasks.models.chat.call import ModelCall
from tasks.models.chat.errors import Outcome
from tasks.progress import StoppedError, forget_stop, request_stop
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
        with working_at(place):
            assert workplace.get().run_id == "r1"
        worlds.publish(corpus, worlds.graph("report"))
    run = read_run(corpus.location.runs / "r1.jsonl")
    assert run.entries[0]["parameters"] == {"paths": ["/in"]} and run.entries[0]["code_version"]
    end = run.entries[-1]
    assert (end["kind"], end["outcome"], end["snapshot"]) == ("end", "ended", corpus.snapshot)


def run(corpus, run_id):
    return lineage_of_run(corpus.location, snapshot=lambda: 0, parameters={}, settings={}, run_id=run_id)


@pytest.mark.parametrize(
    ("problem", "wished", "outcome"),
    [
        (ValueError, False, "ended by an error"),
        (OSError, True, "ended by an error"),
        (KeyboardInterrupt, False, "stopped"),
        (StoppedError, False, "stopped"),
        (asyncio.CancelledError, False, "stopped"),
        (None, True, "stopped"),
    ],
)
def test_a_run_says_how_it_ended_and_its_name_is_made_where_none_is_given(corpus, problem, wished, outcome):
    try:
        with pytest.raises(problem) if problem else nullcontext(), run(corpus, ""):
            if wished:
                request_stop()
            if problem:
                raise problem
    finally:
        forget_stop()
    (path,) = corpus.location.runs.iterdir()
    assert read_run(path).entries[-1]["outcome"] == outcome


@step("count", version="1", retries=0, cache_key=lambda name: StepKey(name, name, name))
def count(name):
    """Do nothing, and leave a record."""


def test_every_call_of_a_model_is_a_line(corpus):
    call = ModelCall("analyze", "d" * 64, "node 3", "m", "h", "k", 100, 20, 0.5, 1.5, 2, Outcome.INVALID, "wrong twice")
    told = []
    with (
        run(corpus, "r3") as place,
        subscribe(told.append),
    ):
        writing_calls(place)(call)
    assert told == [CallEnded("r3", call)]
    entry = read_run(corpus.location.runs / "r3.jsonl").entries[1]
    assert entry == {**entry, **asdict(call), "kind": "call", "outcome": "invalid"}


def test_what_the_steps_of_a_block_did_is_heard_beside_the_file(corpus):
    with run(corpus, "r3") as place:
        with working_at(place):
            count("before")
        with working_at(place) as heard:
            count("inside")
            asyncio.run(count.submit("in a thread"))
    assert [record.subject for record in heard] == ["inside", "in a thread"]
    written = read_run(corpus.location.runs / "r3.jsonl").steps()
    assert [record.subject for record in written] == ["before", "inside", "in a thread"] and heard == written[1:]


def test_two_questions_at_once_hear_only_their_own_steps(corpus):
    async def ask(name, place):
        with working_at(place) as heard:
            await asyncio.gather(count.submit(name), count.submit(name))
        return [record.subject for record in heard]

    async def both(place):
        return await asyncio.gather(ask("one", place), ask("two", place))

    with run(corpus, "r4") as place:
        assert asyncio.run(both(place)) == [["one", "one"], ["two", "two"]]


def test_who_watches_hears_of_the_run_and_of_every_step_of_it(corpus):
    told = []
    with subscribe(told.append), run(corpus, "r9") as place, working_at(place) as heard:
        count("one")
    assert told[1:-1] == [StepEnded("r9", heard[0])]
    assert (told[0], told[-1].outcome) == (RunBegan("r9", "ask", corpus.location.name), "ended")


def test_what_is_written_together_stands_in_the_file_in_order_however_the_block_ends(corpus):
    path = corpus.location.runs / "r8.jsonl"
    with run(corpus, "r8") as place:
        with pytest.raises(ValueError, match="broken"), writing_together(place) as together, working_at(together):
            count("first")
            count("second")
            assert read_run(path).steps() == []
            raise ValueError("broken")
        with working_at(place):
            count("third")
    assert [record.subject for record in read_run(path).steps()] == ["first", "second", "third"]
