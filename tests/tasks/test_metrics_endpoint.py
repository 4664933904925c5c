"""The numbers are there to be fetched, on this machine unless told, and only while somebody works."""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tasks.happenings import tell
from tasks.metrics_endpoint import METRICS, SHARED_FOLDER, MetricsError, check_metrics_address, counting, host_and_port, shows_all
from tests.tasks import happening_worlds as worlds


@pytest.fixture
def free(monkeypatch):
    monkeypatch.delenv(SHARED_FOLDER, raising=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        return reply.read().decode()


def test_a_process_that_works_shows_what_it_counts_and_lets_the_port_go(free):
    with counting(str(free)):
        tell(worlds.ended())
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
                tell(worlds.ended())
            with counting(str(free)):
                tell(worlds.ended())
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"port {free} of '127.0.0.1', where FLOWREADER_METRICS wants") and "the work goes on" in line


PROCESS = """
import os, signal, sys
from tasks.happenings import tell
from tasks.metrics_endpoint import counting
from tests.tasks import happening_worlds as worlds
with counting(sys.argv[1]):
    tell(worlds.RUN_BEGAN)
    tell(worlds.ended())
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
    with pytest.raises(MetricsError, match="'nonsense'"):
        check_metrics_address()


def test_an_address_is_a_port_or_a_host_with_one():
    assert host_and_port("9464") == host_and_port(":9464") == ("127.0.0.1", 9464)
    assert host_and_port("[::1]:9464") == ("::1", 9464)
    with pytest.raises(MetricsError, match="give HOST:PORT or a port"):
        host_and_port("1:99999")


def test_where_no_metrics_are_wanted_nothing_is_made(monkeypatch):
    for name in (METRICS, SHARED_FOLDER):
        monkeypatch.delenv(name, raising=False)
    with shows_all():
        assert SHARED_FOLDER not in os.environ
