"""Processes count together, and what ended ones counted stays without their files."""

import os
import subprocess
import sys

import pytest

from storage.disk import DiskFullError
from tasks import metrics_files
from tasks.metrics_files import SHARED_FOLDER, fold_ended, is_alive, reserve, share_counting

COUNTS = """
import sys
from pathlib import Path
from prometheus_client import CollectorRegistry
from tasks.happenings import QueueSeen
from tasks.metrics import Metrics
from tasks.metrics_files import reserve
from tests.tasks import happening_worlds as worlds
import os
reserve(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]))
metrics = Metrics(CollectorRegistry())
for happening in (worlds.ended(), worlds.step(seconds=0.2), QueueSeen(4)):
    metrics.hear(happening)
print("counted", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def shared(home, monkeypatch):
    monkeypatch.delenv(SHARED_FOLDER, raising=False)
    yield share_counting()
    # what the function set is not monkeypatch's to undo
    os.environ.pop(SHARED_FOLDER, None)


def counting_process():
    process = subprocess.Popen([sys.executable, "-c", COUNTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"counted\n"
    return process


def values(folder):
    from prometheus_client.multiprocess import MultiProcessCollector

    samples = [sample for metric in MultiProcessCollector(None, path=str(folder)).collect() for sample in metric.samples]
    return {(sample.name, sample.labels.get("le")): sample.value for sample in samples}


def test_who_ended_is_added_to_what_stays_and_who_lives_is_left_alone(shared):
    first, second, living = (counting_process() for _ in range(3))
    assert values(shared)["flowreader_pages_total", None] == 36
    for process in (first, second):
        process.communicate(b"")
    fold_ended(shared)
    fold_ended(shared)
    found = values(shared)
    living.communicate(b"")
    assert found["flowreader_pages_total", None] == 36 and found["flowreader_step_seconds_bucket", "0.25"] == 3
    assert found["flowreader_step_seconds_bucket", "0.05"] == 0 and found["flowreader_questions_inside", None] == 4
    kept = {f"{kind}_{living.pid}.db" for kind in metrics_files.KINDS} | {"counter_ended.db", "histogram_ended.db"}
    assert {path.name for path in shared.iterdir()} == kept


def test_the_room_of_a_process_is_taken_before_it_counts(shared):
    reserve(shared)
    taken = [path.stat() for path in shared.iterdir()]
    assert len(taken) == 3 and all(one.st_blocks * 512 >= metrics_files.RESERVED_BYTES for one in taken)


def test_a_disk_without_room_is_said_before_anything_is_mapped(shared, monkeypatch):
    monkeypatch.setattr(metrics_files, "RESERVED_BYTES", 1 << 55)
    with pytest.raises(DiskFullError, match="disk full at"):
        reserve(shared)


def test_folders_of_processes_that_are_gone_are_cleared_away_and_others_kept(home, monkeypatch):
    monkeypatch.delenv(SHARED_FOLDER, raising=False)
    gone = subprocess.Popen(["true"])
    gone.wait()
    for name in (str(gone.pid), "1", str(os.getpid()), "notes"):
        (home / "metrics" / name).mkdir(parents=True)
    (home / "metrics" / str(os.getpid()) / "counter_9.db").write_bytes(b"old")
    try:
        folder = share_counting()
        assert share_counting() == folder, "a second time it is the same"
    finally:
        os.environ.pop(SHARED_FOLDER, None)
    assert {path.name for path in (home / "metrics").iterdir()} == {"1", str(os.getpid()), "notes"}
    assert list(folder.iterdir()) == [] and not is_alive(gone.pid) and is_alive(1)
