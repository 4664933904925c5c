"""The sums of a home are found by where a living process shows them; who counts with them leaves no trace of it behind."""

import os
import subprocess

import pytest
from prometheus_client import values

from tasks.metrics_files import SHARED_FOLDER
from tasks.metrics_joining import counting_in, note_where, shown_at


@pytest.fixture
def folder(home):
    folder = home / "metrics" / str(os.getpid())
    folder.mkdir(parents=True)
    return folder


def test_they_are_found_by_host_and_port(folder):
    assert shown_at("127.0.0.1", 9464) is None, "nobody said so"
    note_where(folder, "127.0.0.1", 9464)
    assert shown_at("127.0.0.1", 9464) == folder
    assert shown_at("127.0.0.1", 9465) is None and shown_at("::1", 9464) is None


def test_those_of_a_process_that_is_gone_are_not(folder):
    gone = subprocess.Popen(["true"])
    gone.wait()
    note_where(folder, "127.0.0.1", 9464)
    folder.rename(folder.with_name(str(gone.pid)))
    assert shown_at("127.0.0.1", 9464) is None


def test_where_there_is_no_home_yet_nothing_is_found(home):
    assert shown_at("127.0.0.1", 9464) is None


def test_after_the_block_all_is_as_before(folder, monkeypatch):
    monkeypatch.delenv(SHARED_FOLDER, raising=False)
    before = values.ValueClass
    with counting_in(folder):
        assert os.environ[SHARED_FOLDER] == str(folder) and values.ValueClass is not before
    assert SHARED_FOLDER not in os.environ and values.ValueClass is before
