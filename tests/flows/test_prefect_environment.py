"""The temporary server: no account, no telemetry, dies with its parent."""

import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from flows import prefect_environment
from flows.prefect_environment import PrefectServerError, prefect_server, server_is_configured

PROGRAM = """
import os, sys, time
from flows.prefect_environment import prefect_server
with prefect_server() as wait_until_ready:
    wait_until_ready()
    print(os.environ["PREFECT_API_URL"], flush=True)
    time.sleep(60)
"""


def answers(url):
    try:
        with urllib.request.urlopen(url + "/health", timeout=2) as reply:
            return reply.status == 200
    except OSError:
        return False


def test_a_server_answers_inside_the_block_and_dies_with_a_killed_parent(home):
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as parent:
        url = parent.stdout.readline().strip()
        assert answers(url)
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 5
    while answers(url):
        assert time.monotonic() < deadline, "the server outlives its parent"
        time.sleep(0.1)


def test_a_configured_server_is_used_and_none_is_started(home, monkeypatch):
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    with prefect_server() as wait_until_ready:
        wait_until_ready()
        assert os.environ["PREFECT_API_URL"] == "http://127.0.0.1:1/api"


def test_a_profile_counts_as_configuration(home, monkeypatch):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    assert not server_is_configured()
    (home / "prefect").mkdir(parents=True)
    (home / "prefect" / "profiles.toml").write_text('[profiles.mine]\nPREFECT_API_URL = "http://somewhere/api"\n')
    assert server_is_configured()


def test_everything_that_phones_home_is_off(home, monkeypatch):
    for name in ("DO_NOT_TRACK", "PREFECT_SERVER_ANALYTICS_ENABLED", "PREFECT_HOME"):
        monkeypatch.delenv(name, raising=False)
    prefect_environment.prepare_environment()
    assert os.environ["DO_NOT_TRACK"] == "1" and os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert os.environ["PREFECT_HOME"] == str(home / "prefect")


def test_a_server_that_ends_at_once_is_an_error_with_its_log(home, monkeypatch):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(PrefectServerError, match="prefect server start"), prefect_server() as wait_until_ready:
        wait_until_ready()
