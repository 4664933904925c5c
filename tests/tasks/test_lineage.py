"""A run's file tells how it began and how it ended, also when it ended badly."""

import pytest

from storage.locations import corpus_location
from storage.runs import read_run
from tasks.lineage import lineage_of_run
from tasks.step import workplace


def test_a_run_leaves_its_beginning_and_its_end(home):
    location = corpus_location("small")
    with lineage_of_run(location, parameters={"paths": ["/in"]}, settings={"rounds": 3}, run_id="r1") as place:
        assert workplace.get() is place
    run = read_run(location.runs / "r1.jsonl")
    assert run.entries[0]["parameters"] == {"paths": ["/in"]} and run.entries[0]["code_version"]
    assert run.entries[-1]["kind"] == "end" and run.entries[-1]["outcome"] == "ended"


def test_a_run_that_fails_says_so_and_its_name_is_made_where_none_is_given(home):
    location = corpus_location("small")
    with pytest.raises(ValueError), lineage_of_run(location, parameters={}, settings={}, run_id=""):
        raise ValueError("broken")
    (path,) = location.runs.iterdir()
    assert read_run(path).entries[-1]["outcome"] == "ended by an error"
