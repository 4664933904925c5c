"""Which cluster computes: the one that is named, or none, and the words for one that is not to be had."""

import importlib.util
import json
import time

import pytest

from flows.runners import require_runner, runner_at_work
from tasks.errands import WorkersError
from tasks.settings import WorkSettings
from tests.flows.errands import PAGE
from tests.program import flowreader


def test_this_process_needs_no_runner():
    with runner_at_work(WorkSettings()) as runner:
        assert runner is None


def test_a_runner_that_is_not_installed_names_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(WorkersError, match=r'prefect-dask; run `pip install "flowreader\[dask\]"`'):
        require_runner(WorkSettings(runner="dask"))
    require_runner(WorkSettings())


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tls://[::1]:1", "127.0.0.1:99999"])
def test_nobody_at_the_address_is_told_at_once(monkeypatch, address):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    began = time.monotonic()
    with pytest.raises(WorkersError, match=r"is to be had at .*; start it"):
        require_runner(WorkSettings(runner="dask", runner_address=address))
    assert time.monotonic() - began < 6


def test_the_command_line_tells_before_anything_is_started(home, tmp_path):
    pytest.importorskip("prefect_dask")
    (tmp_path / "tides.html").write_text(PAGE)
    (tmp_path / "dask.toml").write_text('[work]\nrunner = "dask"\nrunner_address = "tcp://127.0.0.1:1"\n')
    told = flowreader("ingest", tmp_path / "tides.html", "--settings", tmp_path / "dask.toml", "--json", home=home, check=2)
    assert "no dask cluster is to be had" in json.dumps(json.loads(told.stdout)) and not (home / "prefect").exists()
