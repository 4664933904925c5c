"""A killed run is shown with how far it came, recorded as killed, and an ingest does the rest of what it covers only."""

import os
import time

import pytest

from storage.cleaning.garbage import KEEP_UNNAMED_SECONDS
from storage.runs.at_work import at_work, sign_of
from storage.runs.log import ASKING, RunLog
from storage.runs.views import read_run
from tasks.ingest.request import STAGES, EvolveRequest, IngestRequest, recorded_parameters
from tasks.lineage.at_work import close_what_cannot_go_on, ingests_at_work, list_killed_runs, rest_of
from tasks.lineage.records import RunKind
from tasks.lineage.runs import history_of
from tasks.lineage.writing import lineage_of_run
from tests.lineage_worlds import step
from tests.storage.worlds import corpus_in


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def begun(location, name="r1", **parameters):
    log = RunLog(location.runs / f"{name}.jsonl")
    log.begin(run_id=name, parameters=parameters, settings={}, code_version="1")
    return log


def kill(location, name, **parameters):
    """A run that has no last line and that no process holds."""
    with at_work(location.runs / f"{name}.jsonl"):
        return begun(location, name, **parameters).path


def request(*paths, **more):
    return IngestRequest(paths=tuple(map(str, paths)), **more)


def test_a_killed_ingest_is_told_with_its_folder_and_the_remedy(location, tmp_path):
    kill(location, "r1", paths=[str(tmp_path), str(tmp_path / "gone")])
    (run,) = list_killed_runs(location)
    assert (run.run_id, run.kind, run.goes_on) == ("r1", RunKind.INGEST, True)
    assert run.message.startswith(f"the ingest run of {tmp_path} that began at 20")
    assert run.message.endswith(" UTC was killed; the same command goes on with the rest")


@pytest.mark.parametrize(
    ("name", "parameters", "what"),
    [
        (f"{ASKING}1", {"questions": ["?"]}, "the ask run that began"),
        ("r1", {"corpora": []}, "the run that began"),
        ("r1", {"paths": ["/no/such/folder"]}, "the ingest run that began"),
    ],
)
def test_what_no_command_goes_on_with_is_told_once_without_a_remedy(location, name, parameters, what):
    path = location.runs / f"{name}.jsonl"
    with at_work(path):
        begun(location, name, **parameters)
    (run,) = close_what_cannot_go_on(location, snapshot=3)
    assert run.message.startswith(what) and run.message.endswith("was killed")
    head = history_of(read_run(path)).head
    assert (head.outcome, head.snapshot) == ("killed", 3) and not sign_of(path).exists() and list_killed_runs(location) == ()


def test_the_sign_of_a_run_that_was_killed_before_its_first_line_goes_after_a_month(location):
    path = location.runs / "r1.jsonl"
    with at_work(path):
        pass
    for age, stands in ((0.0, True), (KEEP_UNNAMED_SECONDS + 60, False)):
        os.utime(sign_of(path), (time.time() - age,) * 2)
        assert close_what_cannot_go_on(location, snapshot=3) == () and sign_of(path).exists() is stands
    assert not path.exists()


def test_an_ingest_does_the_rest_of_those_that_read_nothing_but_what_it_reads(location, tmp_path):
    whole, part = kill(location, "r1", paths=[str(tmp_path)]), kill(location, "r2", paths=[str(tmp_path / "a")], include=[])
    kill(location, "r3", paths=["/elsewhere", str(tmp_path)])
    chosen = kill(location, "r4", paths=[str(tmp_path)], include=["*.pdf"])
    kill(location, f"{ASKING}1", questions=["?"])
    assert set(rest_of(location, request(tmp_path))) == {whole, part}
    assert rest_of(location, request(tmp_path / "a")) == [part]
    assert rest_of(location, request(tmp_path, include=("*.pdf",))) == [chosen]


def test_a_run_that_reads_no_file_is_gone_on_with_by_its_like_alone(location, tmp_path):
    stages = {"stages": list(STAGES)}
    whole, part = kill(location, "r1", paths=[], **stages), kill(location, "r2", paths=[str(tmp_path / "gone")], **stages)
    kill(location, "r3", paths=[str(tmp_path)])
    assert [(run.kind, run.goes_on) for run in list_killed_runs(location)[:2]] == [(RunKind.EVOLVE, True)] * 2
    assert (
        "the evolve run that began" in list_killed_runs(location)[0].message
        and "the same command" in list_killed_runs(location)[0].message
    )
    assert recorded_parameters(EvolveRequest())["stages"] == list(STAGES)
    assert set(rest_of(location, EvolveRequest())) == {whole, part}
    assert rest_of(location, EvolveRequest(paths=(str(tmp_path),))) == [part]
    assert whole not in rest_of(location, request(tmp_path)) and part not in rest_of(location, request(tmp_path))


def test_a_killed_run_says_who_took_it_over(location, tmp_path):
    path = kill(location, "r1", paths=[str(tmp_path)])
    after = rest_of(location, request(tmp_path))
    with lineage_of_run(location, parameters={"paths": []}, settings={}, run_id="r2", snapshot=lambda: 5, took_over=after):
        assert history_of(read_run(location.runs / "r2.jsonl")).head.outcome == "still going"
    head = history_of(read_run(path)).head
    assert (head.outcome, head.snapshot) == ("killed, taken over by r2", 5) and list_killed_runs(location) == ()


def test_a_run_that_is_tried_again_under_its_id_goes_on_in_its_file(location, tmp_path):
    path = kill(location, "r1", paths=[str(tmp_path)])
    with lineage_of_run(location, parameters={"paths": ["new"]}, settings={}, run_id="r1", snapshot=lambda: 5, took_over=[path]):
        assert list_killed_runs(location) == ()
    story = history_of(read_run(path))
    assert (story.parameters, story.head.outcome) == ({"paths": ["new"]}, "ended")
    with at_work(path):
        RunLog(path, iter(range(7, 9))).begin(run_id="r1", parameters={}, settings={}, code_version="1")
        assert history_of(read_run(path)).head.outcome == "still going", "an earlier try's end is not its own"
    assert history_of(read_run(path)).head.outcome == "killed"


def test_a_folder_is_the_same_from_wherever_the_command_is_given(location, tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name / "in").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    path = kill(location, "r1", paths=list(request("in").paths))
    monkeypatch.chdir(tmp_path / "there")
    assert list_killed_runs(location)[0].paths == (str(tmp_path / "here" / "in"),)
    assert rest_of(location, request("in")) == [] and rest_of(location, request("../here/in")) == []
    monkeypatch.chdir(tmp_path / "here")
    assert rest_of(location, request("in")) == [path]


def test_what_nobody_went_on_with_for_a_month_is_told_once_more_and_closed(location, tmp_path):
    path = kill(location, "r1", paths=[str(tmp_path)])
    assert len(close_what_cannot_go_on(location, snapshot=3)) == 1 and list_killed_runs(location)
    os.utime(sign_of(path), (0, time.time() - KEEP_UNNAMED_SECONDS - 60))
    assert len(close_what_cannot_go_on(location, snapshot=3)) == 1
    assert list_killed_runs(location) == () and not sign_of(path).exists()


def test_it_is_told_how_far_it_came_while_its_process_lives_and_when_it_was_killed(location):
    with at_work(location.runs / "r1.jsonl"), at_work(location.runs / f"{ASKING}1.jsonl"), at_work(location.runs / "r2.jsonl"):
        begun(location, f"{ASKING}1", questions=["?"])
        log = begun(location, paths=["/in", "/more"])
        (ingest,) = ingests_at_work(location)
        assert ingest.message.startswith("/in and 1 more are being read in already, since 20")
        assert ingest.message.endswith(" UTC")
        log.plan(documents=5)
        for name, subject, error in (
            ("parse", "a" * 64, ""),
            ("evolve", "a" * 64, ""),
            ("parse", "b" * 64, "ParseError: cut"),
            ("parse", "c" * 64, "OSError: busy"),
            ("parse", "c" * 64, ""),
            ("publish", "corpus", "OSError: full"),
        ):
            log.step(step("r1", name, subject, error=error))
        (ingest,) = ingests_at_work(location)
        assert (ingest.run_id, ingest.paths, ingest.done, ingest.failed, ingest.documents) == ("r1", ("/in", "/more"), 2, 1, 5)
        assert ingest.message.endswith(" UTC: 2 of 5 documents done, 1 of them failed")
    messages = [run.message for run in list_killed_runs(location)]
    assert ingests_at_work(location) == () and any("was killed: 2 of 5 documents done" in message for message in messages)


def test_a_run_that_is_tried_again_begins_at_nothing(location):
    with at_work(location.runs / "r1.jsonl"):
        log = begun(location, paths=["/in"])
        log.plan(documents=5)
        log.step(step("r1", "evolve", "a" * 64))
        log.begin(run_id="r1", parameters={"paths": ["/in"]}, settings={}, code_version="1")
        log.step(step("r1", "evolve", "b" * 64))
        log.step(step("r1", "evolve", "c" * 64))
    assert [(run.done, run.failed, run.documents) for run in list_killed_runs(location)] == [(2, 0, None)]
    log.path.write_bytes(log.path.read_bytes()[:-9])
    assert [run.done for run in list_killed_runs(location)] == [1]
