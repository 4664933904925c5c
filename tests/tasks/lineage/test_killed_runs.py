"""A killed run is shown with what goes on, watchers hear of it once, and an ingest does the rest of what it covers only."""

import json
import os
import time

import pytest

from storage.cleaning.files import KEEP_UNNAMED_SECONDS
from storage.runs.at_work import at_work, sign_of
from storage.runs.log import ASKING, RunLog
from storage.runs.views import read_run
from tasks.ingest.request import STAGES, EvolveRequest, IngestRequest, recorded
from tasks.lineage.at_work import (
    RunProgress,
    close_what_cannot_go_on,
    ingests_at_work,
    killed,
    progress_of,
    report_killed,
    rest_of,
    takeover_messages,
    taking_over,
)
from tasks.lineage.records import RunKind
from tasks.lineage.runs import history_of
from tasks.lineage.writing import lineage_of_run
from tasks.watching.metrics_endpoint import METRICS, SHARED_FOLDER
from tests.lineage_worlds import step
from tests.storage.worlds import corpus_in


@pytest.fixture
def location(tmp_path, home, monkeypatch):
    for name in ("FLOWREADER_LOG", METRICS, SHARED_FOLDER):
        monkeypatch.delenv(name, raising=False)
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
    assert run.message.startswith(f"the ingest of {tmp_path} and 1 more that began at 20")
    assert run.message.endswith(" UTC was killed; the same command goes on with the rest")


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
    assert (
        run.message.startswith(what) and run.message.endswith("was killed") and close_what_cannot_go_on(location, snapshot=3) == ()
    )
    head = history_of(read_run(path)).head
    assert (head.outcome, head.snapshot) == ("killed", 3) and not sign_of(path).exists()


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
    assert [(run.kind, run.goes_on, run.paths) for run in killed(location)[:2]] == [(RunKind.EVOLVE, True, ())] * 2
    assert "the evolve run that began" in killed(location)[0].message and "the same command" in killed(location)[0].message
    assert recorded(EvolveRequest())["stages"] == list(STAGES)
    assert set(rest_of(location, EvolveRequest())) == {whole, part}
    assert rest_of(location, EvolveRequest(paths=(str(tmp_path),))) == [part]
    assert whole not in rest_of(location, request(tmp_path)) and part not in rest_of(location, request(tmp_path))


def test_who_takes_over_says_so_and_so_does_the_one_that_was_killed(location, tmp_path):
    path = kill(location, "r1", paths=[str(tmp_path)])
    after = rest_of(location, request(tmp_path))
    with lineage_of_run(location, parameters={"paths": []}, settings={}, run_id="r2", snapshot=lambda: 5, took_over=after):
        going = history_of(read_run(location.runs / "r2.jsonl")).head
    assert (going.outcome, going.took_over) == ("still going", ("r1",))
    head = history_of(read_run(path)).head
    assert (head.outcome, head.snapshot) == ("killed, taken over by r2", 5) and killed(location) == ()


def test_a_run_that_is_tried_again_under_its_id_goes_on_in_its_file(location, tmp_path):
    path = kill(location, "r1", paths=[str(tmp_path)])
    with lineage_of_run(location, parameters={"paths": ["new"]}, settings={}, run_id="r1", snapshot=lambda: 5, took_over=[path]):
        assert killed(location) == ()
    story = history_of(read_run(path))
    assert (story.parameters, story.head.outcome, story.head.took_over) == ({"paths": ["new"]}, "ended", ())
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


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOG", str(tmp_path / "log"))
    return lambda: [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]


def kill_at_work(location, name="r1", planned=3):
    path = location.runs / f"{name}.jsonl"
    with at_work(path):
        told = RunLog(path)
        told.begin(run_id=name, parameters={"paths": ["/in"]}, settings={}, code_version="1")
        if planned:
            told.plan(documents=planned)
        told.step(step(name, "evolve", "a" * 64))
        told.step(step(name, "parse", "b" * 64))
    return path


def test_whoever_notices_it_first_tells_of_it_and_nobody_else(location, log):
    path = kill_at_work(location)
    report_killed(location)
    report_killed(location)
    with taking_over(location, [path]):
        pass
    (line,) = log()
    assert line == {**line, "event": "run-killed", "level": "error", "run": "r1", "flow": "ingest", "corpus": location.name}
    assert line["read"] == 1 and line["began"].startswith("20")
    assert "/in" not in str(line)


def test_where_nobody_watches_it_stays_news(location, tmp_path, monkeypatch):
    kill_at_work(location)
    report_killed(location)
    monkeypatch.setenv("FLOWREADER_LOG", str(tmp_path / "log"))
    report_killed(location)
    assert (tmp_path / "log").read_text().count("run-killed") == 1


def test_people_hear_when_it_began_and_what_was_kept(location):
    rest = [kill_at_work(location), kill_at_work(location, "r2", planned=0)]
    kill_at_work(location, "r3")
    first, second = takeover_messages(location, rest)
    assert first.startswith("the earlier run of 20")
    assert first.endswith(" UTC was killed; 1 of its 3 documents were kept, the rest is read now")
    assert "1 of its documents were kept" in second


def begun(location, name="r1", **parameters):
    log = RunLog(location.runs / f"{name}.jsonl")
    log.begin(run_id=name, parameters=parameters, settings={}, code_version="1")
    return log


def test_it_is_told_while_its_process_lives(location):
    with at_work(location.runs / "r1.jsonl"):
        log = begun(location, paths=["/in", "/more"])
        (ingest,) = ingests_at_work(location)
        assert ingest.message.startswith("the ingest of /in and 1 more that began at 20")
        assert ingest.message.endswith(" UTC is at work: documents are looked for")
        log.plan(documents=3)
        log.step(step("r1", "evolve", "a" * 64))
        assert ingests_at_work(location)[0].message.endswith(": 1 of 3 documents done")
        log.step(step("r1", "parse", "b" * 64, error="ParseError: cut"))
        (ingest,) = ingests_at_work(location)
        assert ingest.message.endswith(": 2 of 3 documents done, 1 of them failed")
        assert (ingest.run_id, ingest.paths, ingest.done, ingest.failed, ingest.documents) == ("r1", ("/in", "/more"), 2, 1, 3)
    assert ingests_at_work(location) == (), "it was killed"


def test_other_runs_at_work_are_no_ingests(location):
    with at_work(location.runs / f"{ASKING}1.jsonl"), at_work(location.runs / "r1.jsonl"), at_work(location.runs / "r2.jsonl"):
        begun(location, f"{ASKING}1", questions=["?"])
        begun(location, "r1", what="probe")
        assert ingests_at_work(location) == ()


@pytest.fixture
def begun_log(location):
    return begun(location, paths=["/in"])


def test_what_is_read_and_what_failed_are_told_apart_and_what_is_at_work_is_neither(begun_log):
    begun_log.plan(documents=5)
    for name, subject, error in (
        ("parse", "a" * 64, ""),
        ("evolve", "a" * 64, ""),
        ("parse", "b" * 64, "ParseError: cut"),
        ("parse", "c" * 64, "OSError: busy"),
        ("parse", "c" * 64, ""),
        ("publish", "corpus", "OSError: full"),
    ):
        begun_log.step(step("r1", name, subject, error=error))
    assert progress_of(begun_log.path) == RunProgress(1, 1, 5)


def test_a_run_that_is_tried_again_begins_at_nothing(begun_log):
    begun_log.plan(documents=5)
    begun_log.step(step("r1", "evolve", "a" * 64))
    begun_log.begin(run_id="r1", parameters={}, settings={}, code_version="1")
    begun_log.step(step("r1", "evolve", "b" * 64))
    begun_log.step(step("r1", "evolve", "c" * 64))
    assert progress_of(begun_log.path) == RunProgress(2, 0, None)
    begun_log.path.write_bytes(begun_log.path.read_bytes()[:-9])
    assert progress_of(begun_log.path) == RunProgress(1, 0, None)
