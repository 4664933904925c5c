"""What a killed run was is told, and whether the same command goes on; an ingest takes over what it covers, nothing else."""

import os
import time

import pytest

from storage.at_work import at_work, sign_of
from storage.garbage import KEEP_UNNAMED_SECONDS
from storage.run_traces import trace
from storage.runs import ASKING, RunLog
from tasks.ingest_request import IngestRequest
from tasks.killed_runs import close_what_cannot_go_on, killed, rest_of
from tasks.lineage import lineage_of_run
from tasks.lineage_records import RunKind
from tasks.lineage_runs import story_of
from tests.storage.worlds import corpus_in


@pytest.fixture
def location(tmp_path, home):
    return corpus_in(tmp_path)


def kill(location, name, **parameters):
    """A run that has no last line and that no process holds."""
    path = location.runs / f"{name}.jsonl"
    with at_work(path):
        RunLog(path).begin(run_id=name, parameters=parameters, settings={}, code_version="1")
    return path


def request(*paths, **more):
    return IngestRequest(paths=tuple(map(str, paths)), **more)


def test_a_killed_ingest_is_told_with_its_folder_and_the_remedy(location, tmp_path):
    kill(location, "r1", paths=[str(tmp_path), str(tmp_path / "gone"), "/"])
    (run,) = killed(location)
    assert (run.run_id, run.kind, run.paths, run.goes_on) == ("r1", RunKind.INGEST, (str(tmp_path), "/"), True)
    assert run.told.startswith(f"the ingest of {tmp_path} and 1 more that began at 20")
    assert run.told.endswith(" UTC was killed; the same command goes on with the rest")


@pytest.mark.parametrize(
    ("name", "parameters", "what"),
    [
        (f"{ASKING}1", {"questions": ["?"]}, "the run that answered that began"),
        ("r1", {"what": "probe"}, "the evaluation that began"),
        ("r1", {"corpora": []}, "the run that began"),
        ("r1", {"paths": ["/no/such/folder"]}, "the ingest that began"),
    ],
)
def test_what_no_command_goes_on_with_is_told_once_without_a_remedy(location, name, parameters, what):
    path = kill(location, name, **parameters)
    (run,) = close_what_cannot_go_on(location, snapshot=3)
    assert run.told.startswith(what) and run.told.endswith("was killed") and close_what_cannot_go_on(location, snapshot=3) == ()
    head = story_of(trace(path, [b""])).head
    assert (head.outcome, head.snapshot) == ("killed", 3) and not sign_of(path).exists()


def test_what_an_ingest_goes_on_with_stays_told(location, tmp_path):
    kill(location, "r1", paths=[str(tmp_path)])
    assert len(close_what_cannot_go_on(location, snapshot=3)) == len(close_what_cannot_go_on(location, snapshot=3)) == 1


def test_an_ingest_does_the_rest_of_those_that_read_nothing_but_what_it_reads(location, tmp_path):
    whole, part = kill(location, "r1", paths=[str(tmp_path)]), kill(location, "r2", paths=[str(tmp_path / "a")], include=[])
    kill(location, "r3", paths=["/elsewhere", str(tmp_path)])
    chosen = kill(location, "r4", paths=[str(tmp_path)], include=["*.pdf"])
    kill(location, f"{ASKING}1", questions=["?"])
    assert set(rest_of(location, request(tmp_path))) == {whole, part}
    assert rest_of(location, request(tmp_path / "a")) == [part]
    assert rest_of(location, request(tmp_path, include=("*.pdf",))) == [chosen]


def test_who_takes_over_says_so_and_so_does_the_one_that_was_killed(location, tmp_path):
    path = kill(location, "r1", paths=[str(tmp_path)])
    after = rest_of(location, request(tmp_path))
    with lineage_of_run(location, parameters={"paths": []}, settings={}, run_id="r2", snapshot=lambda: 5, took_over=after):
        going = story_of(trace(location.runs / "r2.jsonl", [b""])).head
    assert (going.outcome, going.took_over) == ("still going", ("r1",))
    head = story_of(trace(path, [b""])).head
    assert (head.outcome, head.snapshot) == ("killed, taken over by r2", 5) and killed(location) == ()


def test_a_run_that_is_tried_again_under_its_id_goes_on_in_its_file(location, tmp_path):
    path = kill(location, "r1", paths=[str(tmp_path)])
    with lineage_of_run(location, parameters={"paths": ["new"]}, settings={}, run_id="r1", snapshot=lambda: 5, took_over=[path]):
        assert killed(location) == ()
    story = story_of(trace(path, [b""]))
    assert (story.parameters, story.head.outcome, story.head.took_over) == ({"paths": ["new"]}, "ended", ())
    with at_work(path):
        RunLog(path, iter(range(7, 9))).begin(run_id="r1", parameters={}, settings={}, code_version="1")
        assert story_of(trace(path, [b""])).head.outcome == "still going", "an earlier try's end is not its own"
    assert story_of(trace(path, [b""])).head.outcome == "killed"


def test_a_folder_is_the_same_from_wherever_the_command_is_given(location, tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name / "in").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    path = kill(location, "r1", paths=list(request("in").paths))
    monkeypatch.chdir(tmp_path / "there")
    assert killed(location)[0].paths == (str(tmp_path / "here" / "in"),)
    assert rest_of(location, request("in")) == [] and rest_of(location, request("../here/in")) == []
    monkeypatch.chdir(tmp_path / "here")
    assert rest_of(location, request("in")) == [path]


def test_what_nobody_went_on_with_for_a_month_is_told_once_more_and_closed(location, tmp_path):
    path = kill(location, "r1", paths=[str(tmp_path)])
    empty = location.runs / "r2.at-work"
    empty.touch()
    assert len(close_what_cannot_go_on(location, snapshot=3)) == 1 and killed(location) and empty.exists()
    for sign in (sign_of(path), empty):
        os.utime(sign, (0, time.time() - KEEP_UNNAMED_SECONDS - 60))
    assert len(close_what_cannot_go_on(location, snapshot=3)) == 1
    assert killed(location) == () and not empty.exists() and not sign_of(path).exists()
