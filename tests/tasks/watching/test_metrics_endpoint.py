"""The numbers can be fetched on this machine, or where the environment names an address, while a process works."""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from storage.errors import RequestError
from tasks.events import QuestionRefused, QueueSeen, RefusalReason, emit
from tasks.models.chat.errors import Outcome
from tasks.watching.metrics_endpoint import (
    METRICS,
    SHARED_FOLDER,
    Metrics,
    as_text,
    check_metrics_address,
    counting,
    shows_all,
)
from tests.listening import free_port
from tests.tasks import event_worlds as worlds


@pytest.fixture
def free(monkeypatch):
    monkeypatch.delenv(SHARED_FOLDER, raising=False)
    return free_port()


def scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        return reply.read().decode()


def test_a_process_that_works_shows_what_it_counts_and_lets_the_port_go(free):
    with counting(str(free)):
        emit(worlds.ended())
        assert 'flowreader_documents_total{state="ready"} 1.0' in scraped(free)
    with pytest.raises(urllib.error.URLError):
        scraped(free)
    with counting(str(free)):
        assert "flowreader_pages_total 0.0" in scraped(free)


def test_a_port_alone_is_of_this_machine(free):
    with counting(str(free)), open("/proc/net/tcp") as listed:  # noqa: PTH123 - no file
        assert any(line.split()[1:4] == [f"0100007F:{free:04X}", "00000000:0000", "0A"] for line in listed.readlines()[1:])


def test_a_port_that_is_taken_is_named_in_one_line_and_the_work_goes_on(monkeypatch, free, capsys):
    monkeypatch.setenv(METRICS, str(free))
    with socket.create_server(("127.0.0.1", free)):
        for _again in range(2):
            with shows_all(), counting(str(free)):
                emit(worlds.ended())
            with counting(str(free)):
                emit(worlds.ended())
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"port {free} of '127.0.0.1', where FLOWREADER_METRICS wants") and "the work goes on" in line


PROCESS = """
import os, signal, sys
from tasks.events import QuestionRefused, QueueSeen, RefusalReason, emit
from tasks.watching.metrics_endpoint import counting
from tests.tasks import event_worlds as worlds
with counting(sys.argv[1]):
    emit(worlds.RUN_BEGAN)
    emit(worlds.ended())
    print("at work", flush=True)
    sys.stdin.read()
"""


def test_one_endpoint_shows_the_sums_of_processes_and_of_a_killed_one_nothing_is_at_work(monkeypatch, free):
    monkeypatch.setenv(METRICS, str(free))
    with shows_all():
        folder = Path(os.environ[SHARED_FOLDER])
        call = [sys.executable, "-c", PROCESS, str(free)]
        processes = [subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
        assert [process.stdout.readline() for process in processes] == [b"at work\n"] * 2
        assert "flowreader_runs_at_work 2.0" in scraped(free)
        with as_text() as shown:
            assert "flowreader_runs_at_work 2.0" in shown().decode()
        for process in processes:
            process.kill()
            process.communicate()
        after = scraped(free)
    assert 'flowreader_documents_total{state="ready"} 2.0' in after and "flowreader_runs_at_work" not in after
    assert not folder.exists() and SHARED_FOLDER not in os.environ


def test_an_address_is_checked_where_one_is_named(monkeypatch):
    monkeypatch.delenv(METRICS, raising=False)
    check_metrics_address()
    monkeypatch.setenv(METRICS, "nonsense")
    with pytest.raises(RequestError, match="'nonsense'"):
        check_metrics_address()


def test_where_no_metrics_are_wanted_nothing_is_made(monkeypatch):
    for name in (METRICS, SHARED_FOLDER):
        monkeypatch.delenv(name, raising=False)
    with shows_all():
        assert SHARED_FOLDER not in os.environ


@pytest.fixture
def counted():
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    def value(name, *events, **labels):
        for event in events:
            metrics.count(event)
        return registry.get_sample_value(f"flowreader_{name}", labels)

    value.registry = registry
    return value


def test_steps_by_how_they_went_and_errors_by_kind(counted):
    counted("", worlds.step(seconds=0.2), worlds.step(cached=True, seconds=0.02), worlds.step("OSError: x", seconds=3))
    counted("", worlds.step("StoppedError: "))
    assert counted("step_seconds_count", step="parse", outcome="stopped") == 1
    assert counted("step_errors_total", step="parse", error="StoppedError") is None, "a stop is no error"
    assert counted("step_seconds_count", step="parse", outcome="done") == 1
    assert counted("step_seconds_sum", step="parse", outcome="remembered") == 0.02
    assert counted("step_seconds_bucket", step="parse", outcome="done", le="0.25") == 1
    assert counted("step_seconds_bucket", step="parse", outcome="done", le="0.05") == 0
    assert counted("step_errors_total", step="parse", error="OSError") == 1


def test_calls_tokens_and_cost_and_no_seconds_of_what_was_not_sent(counted):
    counted("", worlds.call(), worlds.call(Outcome.INVALID), worlds.call(Outcome.CACHED, attempts=0))
    assert [counted("model_calls_total", purpose="analyze", outcome=one) for one in ("ok", "invalid", "cached")] == [1, 1, 1]
    assert counted("model_tokens_total", purpose="analyze", direction="input") == 300
    assert counted("model_tokens_total", purpose="analyze", direction="output") == 60
    assert counted("model_cost_total", purpose="analyze") == 1.5
    assert counted("model_call_seconds_count", purpose="analyze") == 2


def test_questions_runs_and_the_queue(counted):
    counted("", *[worlds.RUN_BEGAN, worlds.QUESTION_BEGAN] * 2, QueueSeen(4), QueueSeen(3), QuestionRefused(RefusalReason.FULL))
    counted("", worlds.question(seconds=0.3), worlds.RUN_BROKE)
    assert counted("question_seconds_bucket", reader="flow", status="answered", le="0.4") == 1
    assert (
        counted("questions_in_flight") == 1
        and counted("questions_inside") == 3
        and counted("questions_refused_total", reason="full") == 1
    )
    assert counted("runs_at_work") == 1 and counted("runs_total", flow="ingest", outcome="ended by an error") == 1
