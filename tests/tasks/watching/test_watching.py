"""What the environment asks for is watched once, for as long as anything inside is at work."""

import json
import urllib.request

import pytest

from storage.errors import RequestError
from storage.records.answers import AnswerStatus
from tasks.events import QuestionBegan, QueueSeen, emit, subscribe
from tasks.watching.json_log import LogFileError
from tasks.watching.metrics_endpoint import METRICS, SHARED_FOLDER
from tasks.watching.watching import flow_at_work, show_in_prefect, watch_events, watch_question, watch_run
from tests.listening import free_port
from tests.tasks import event_worlds as worlds


@pytest.fixture(autouse=True)
def unwatched(monkeypatch):
    for name in ("FLOWREADER_LOG", METRICS, SHARED_FOLDER):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def emitted():
    events = []
    with subscribe(events.append):
        yield events


def events(path):
    return [json.loads(line)["event"] for line in path.read_text().splitlines()]


def test_by_default_nothing_is_watched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with watch_run("r1", "small", lambda: "ended"):
        emit(QueueSeen(1))
    assert list(tmp_path.iterdir()) == []


def test_blocks_within_one_another_log_once_and_count_in_one_place(tmp_path, monkeypatch, port):
    monkeypatch.setenv("FLOWREADER_LOG", str(tmp_path / "log"))
    monkeypatch.setenv(METRICS, str(port))
    with watch_events():
        with watch_run("r1", "small", lambda: "ended"):
            pass
        with watch_run("r2", "small", lambda: "stopped"):
            emit(QueueSeen(3))
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
                shown = reply.read().decode()
    assert events(tmp_path / "log") == ["run-began", "run-ended"] * 2
    assert 'flowreader_runs_total{flow="ask",outcome="ended"} 1.0' in shown and "flowreader_runs_at_work 1.0" in shown
    assert "flowreader_questions_inside 3.0" in shown


def test_what_cannot_be_watched_leaves_nothing_open(tmp_path, monkeypatch, port):
    monkeypatch.setenv("FLOWREADER_LOG", str(tmp_path / "log"))
    monkeypatch.setenv(METRICS, "nonsense")
    with pytest.raises(RequestError), watch_events():
        pass
    monkeypatch.setenv(METRICS, str(port))
    with watch_run("r1", "small", lambda: "ended"):
        pass
    assert events(tmp_path / "log") == ["run-began", "run-ended"], "the log of the first try is closed"
    monkeypatch.setenv("FLOWREADER_LOG", str(tmp_path))
    with pytest.raises(LogFileError), watch_run("r1", "small", lambda: "ended"):
        pass


def test_a_question_ends_with_an_event_of_its_status_or_its_kind_of_error(emitted):
    with watch_question("r1", "a1", "flow") as end:
        end(AnswerStatus.PARTIAL)
    with pytest.raises(ValueError, match="in 2024"), watch_question("r1", "a2", "top-k") as end:
        end(AnswerStatus.ANSWERED)
        raise ValueError("no revenue in 2024")
    with pytest.raises(KeyboardInterrupt), watch_question("r1", "a3", "flow"):
        raise KeyboardInterrupt
    assert emitted[0] == QuestionBegan("r1", "a1", "flow") and (emitted[-1].status, emitted[-1].error) == ("stopped", "")
    assert [(one.answer, one.reader, one.status, one.error) for one in emitted[1:4:2]] == [
        ("a1", "flow", "partial", ""),
        ("a2", "top-k", "failed", "ValueError"),
    ]


def test_without_a_run_at_work_nothing_is_logged_to_prefect(caplog):
    import prefect  # noqa: F401

    with show_in_prefect("r1"):
        emit(worlds.ended("failed", "cut"))
    assert flow_at_work() == "ask" and caplog.records == []
