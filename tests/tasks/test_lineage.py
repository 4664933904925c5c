"""A run's file tells how it began and how it ended, also when it ended badly."""

import pytest

from storage.corpus import open_for_writing
from storage.runs import read_run
from tasks.lineage import lineage_of_run
from tasks.progress import forget_stop, request_stop
from tasks.step import workplace
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
