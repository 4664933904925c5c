"""The file of evaluations: opened by one at a time, refused where it is damaged or newer."""

import subprocess
import sys
import threading
import time

import duckdb
import pytest

from storage import evaluation_file
from storage.catalog import CatalogBusyError, CatalogDamagedError, StoreTooNewError
from storage.evaluation_file import held_open

HOLD_OURS = """
import sys, time
from pathlib import Path
from storage.evaluation_file import held_open
with held_open(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""

HOLD_FOREIGN = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "evaluations.duckdb"


def count(path):
    with held_open(path) as connection:
        return connection.execute("SELECT count(*) FROM evaluations").fetchone()[0]


def hold_elsewhere(program, path, seconds):
    child = subprocess.Popen([sys.executable, "-c", program, str(path), str(seconds)], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"held\n"
    return child


def end(child):
    child.kill()
    child.wait()
    child.stdout.close()


def test_a_new_file_holds_no_evaluation_and_nothing_half_made_is_left(path):
    path.with_name(".partial-evaluations.duckdb").write_bytes(b"cut by a kill")
    path.with_name(".partial-evaluations.duckdb.wal").write_bytes(b"cut by a kill")
    assert count(path) == 0
    assert {entry.name for entry in path.parent.iterdir()} == {"evaluations.duckdb", "evaluations.duckdb.lock"}


@pytest.mark.parametrize("program", [HOLD_OURS, HOLD_FOREIGN])
def test_who_has_the_file_open_is_waited_for(path, program):
    count(path)
    child = hold_elsewhere(program, path, 1.0)
    before = time.monotonic()
    assert count(path) == 0 and time.monotonic() - before > 0.3
    end(child)


@pytest.mark.parametrize(
    ("program", "said"),
    [(HOLD_OURS, "in use by another FlowReader for 0.3 s; run the command again"), (HOLD_FOREIGN, "another program; close it")],
)
def test_who_keeps_the_file_open_is_named_and_not_waited_for_for_ever(path, program, said, monkeypatch):
    monkeypatch.setattr(evaluation_file, "WAIT_SECONDS", 0.3)
    count(path)
    child = hold_elsewhere(program, path, 60)
    with pytest.raises(CatalogBusyError, match=said):
        count(path)
    end(child)
    assert count(path) == 0, "a death lets the next one in"


def test_threads_of_one_process_wait_for_each_other_too(path):
    inside, most = [], []

    def work():
        with held_open(path):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.05)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


def test_a_newer_file_is_refused_and_left_as_it_is(path):
    with held_open(path) as connection:
        connection.execute("UPDATE store SET schema_version = 2")
    with pytest.raises(StoreTooNewError, match=r"schema version 2, this FlowReader knows up to 1; .*install the newer FlowReader"):
        count(path)
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SELECT schema_version FROM store").fetchall() == [(2,)]


def test_what_is_no_file_of_evaluations_is_damaged(path):
    path.write_bytes(b"junk" * 1000)
    with pytest.raises(CatalogDamagedError, match="cannot be opened"):
        count(path)
    path.unlink()
    duckdb.connect(str(path)).close()
    with pytest.raises(CatalogDamagedError, match="move it away and evaluate again"):
        count(path)


def test_a_moment_without_memory_is_no_damage(path):
    with pytest.raises(duckdb.OutOfMemoryException), held_open(path):
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate")
    assert count(path) == 0


def test_what_the_caller_did_wrong_is_not_called_damage(path):
    with pytest.raises(ZeroDivisionError), held_open(path):
        raise ZeroDivisionError
