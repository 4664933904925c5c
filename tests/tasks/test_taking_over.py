"""Of a killed run watchers hear once, whoever notices it; people hear what was kept of it when its rest is done."""

import json
import socket
import urllib.request

import pytest

from storage.at_work import at_work, close, put_away
from storage.runs import RunLog
from tasks.metrics_endpoint import METRICS, SHARED_FOLDER
from tasks.taking_over import taking_over, tell_of_killed, words_of
from tasks.watching import watched
from tests.lineage_worlds import step
from tests.storage.worlds import corpus_in


@pytest.fixture
def location(tmp_path, monkeypatch):
    for name in ("FLOWREADER_LOG", METRICS, SHARED_FOLDER):
        monkeypatch.delenv(name, raising=False)
    return corpus_in(tmp_path)


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOG", str(tmp_path / "log"))
    return lambda: [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]


def kill(location, name="r1", planned=3):
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
    path = kill(location)
    tell_of_killed(location)
    tell_of_killed(location)
    with taking_over(location, [path]):
        pass
    (line,) = log()
    assert line == {**line, "event": "run-killed", "level": "error", "run": "r1", "flow": "ingest", "corpus": location.name}
    assert line["read"] == 1 and line["began"].startswith("20")
    assert "/in" not in str(line)


def test_who_does_the_rest_tells_of_it_too(location, log):
    with taking_over(location, [kill(location)]) as told:
        pass
    assert [line["event"] for line in log()] == ["run-killed"] and len(told) == 1


def test_a_run_that_is_tried_again_and_killed_again_is_told_again(location, log):
    for _again in range(2):
        kill(location)
        tell_of_killed(location)
    assert [line["event"] for line in log()] == ["run-killed"] * 2


def test_where_nobody_watches_it_stays_news(location, tmp_path, monkeypatch):
    kill(location)
    tell_of_killed(location)
    monkeypatch.setenv("FLOWREADER_LOG", str(tmp_path / "log"))
    tell_of_killed(location)
    assert (tmp_path / "log").read_text().count("run-killed") == 1


def test_nothing_is_opened_where_no_run_was_killed(location, log, tmp_path):
    tell_of_killed(location)
    assert not (tmp_path / "log").exists()


def test_it_is_counted_as_a_run_that_was_killed(location, monkeypatch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv(METRICS, str(port))
    kill(location)
    with watched():
        tell_of_killed(location)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
            assert 'flowreader_runs_total{flow="ingest",outcome="killed"} 1.0' in reply.read().decode()


def test_people_hear_when_it_began_and_what_was_kept(location):
    rest = [kill(location), kill(location, "r2", planned=0)]
    kill(location, "r3")
    first, second = words_of(location, rest)
    assert first.startswith("the earlier run of 20")
    assert first.endswith(" UTC was killed; 1 of its 3 documents were kept, the rest is read now")
    assert "1 of its documents were kept" in second


def test_what_was_put_away_leaves_nothing_behind(location, log):
    path, other = kill(location), kill(location, "r2")
    tell_of_killed(location)
    close(path, outcome="killed", snapshot=1)
    put_away(other)
    assert {each.name for each in location.runs.iterdir()} == {"r1.jsonl", "r2.jsonl"}
