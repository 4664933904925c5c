"""The numbers are there to be fetched, on this machine unless told, and only while somebody works."""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tasks.happenings import tell
from tasks.metrics_endpoint import METRICS, MetricsError, check_metrics_address, counting, host_and_port, share_metrics, shows_all
from tasks.metrics_files import SHARED_FOLDER
from tests.tasks import happening_worlds as worlds


@pytest.fixture
def port(monkeypatch):
    monkeypatch.delenv(SHARED_FOLDER, raising=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]
    os.environ.pop(SHARED_FOLDER, None)


@pytest.fixture
def free(port):
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


def test_a_port_that_is_taken_is_told_of_in_one_line_and_the_work_goes_on(home, monkeypatch, free, capsys):
    monkeypatch.setenv(METRICS, str(free))
    with socket.create_server(("127.0.0.1", free)):
        for _again in range(2):
            with shows_all(), counting(str(free)):
                tell(worlds.ended())
            os.environ.pop(SHARED_FOLDER)
            with counting(str(free)):
                tell(worlds.ended())
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"port {free} of '127.0.0.1', where FLOWREADER_METRICS wants") and "the work goes on" in line


BESIDE = """
import prefect.flows  # has prometheus_client loaded
import sys
from tasks.happenings import tell
from tasks.metrics_endpoint import counting
from tests.tasks import happening_worlds as worlds
for _again in range(2):
    with counting(sys.argv[1]):
        tell(worlds.ended())
"""


def test_who_finds_its_home_s_sums_at_the_port_counts_with_them(home, tmp_path, monkeypatch, free):
    monkeypatch.setenv(METRICS, str(free))
    with shows_all():
        own = {name: value for name, value in os.environ.items() if name != SHARED_FOLDER}
        for elsewhere in ({}, {"FLOWREADER_HOME": str(tmp_path / "other")}):
            command = [sys.executable, "-c", BESIDE, str(free)]
            done = subprocess.run(command, env=own | elsewhere, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0 and ("the work goes on" in done.stderr) is bool(elsewhere), done.stderr
        assert 'flowreader_documents_total{state="ready"} 2.0' in scraped(free), "those of another home are not among them"


def test_an_address_is_checked_where_one_is_named(monkeypatch):
    monkeypatch.delenv(METRICS, raising=False)
    check_metrics_address()
    monkeypatch.setenv(METRICS, "nonsense")
    with pytest.raises(MetricsError, match="'nonsense'"):
        check_metrics_address()


@pytest.mark.parametrize(
    ("address", "meant"),
    [("9464", ("127.0.0.1", 9464)), ("0.0.0.0:80", ("0.0.0.0", 80)), ("[::1]:9464", ("::1", 9464)), (":9464", ("127.0.0.1", 9464))],
)
def test_an_address_is_a_port_or_a_host_with_one(address, meant):
    assert host_and_port(address) == meant


@pytest.mark.parametrize("address", ["x", "127.0.0.1", "1:99999", "1:0", "1:-4", "²"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(MetricsError, match="give HOST:PORT or a port"):
        host_and_port(address)


def test_where_no_metrics_are_wanted_nothing_is_made(home, monkeypatch, port):
    monkeypatch.delenv(METRICS, raising=False)
    share_metrics()
    with shows_all():
        assert not (home / "metrics").exists() and SHARED_FOLDER not in os.environ


def test_who_shows_all_does_not_show_what_others_count_in_the_same_files(home, monkeypatch, free):
    monkeypatch.setenv(METRICS, str(free))
    share_metrics()
    with shows_all():
        assert scraped(free) == "" and os.environ[SHARED_FOLDER] == str(home / "metrics" / str(os.getpid()))
