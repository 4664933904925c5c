"""Evaluations are kept whole, found by the beginning of their id, and wait for one another."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from storage import evaluations
from storage.catalog.catalog import CatalogBusyError, CatalogDamagedError, StoreVersionError
from storage.codec import CodecError
from storage.errors import AmbiguousError, UnknownError
from storage.evaluations import find_evaluation, keep_evaluation, list_evaluations
from storage.records.evaluations import Figure
from tests.storage.evaluation_worlds import evaluation, plain, scored

QUESTIONS = (
    scored("flow", "q1", "a.pdf", recall=1.0, mrr=1 / 3),
    scored("flow", "q2 näive \x00", "b.pdf", mrr=0.1),
    scored("top-k", "q1", "a.pdf", mrr=0.5),
)
FIRST = evaluation("eval-1111111111", *QUESTIONS)


def without_scores(kept):
    return replace(kept, scored=kept.scored.clear())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "evaluations.duckdb"


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
COUNTS = st.integers(0, 10_000)
SCORES = st.dictionaries(WORDS, NUMBERS, min_size=1, max_size=3)
SCORED = st.dictionaries(st.tuples(WORDS, WORDS, WORDS), SCORES, max_size=4)
FIGURES = st.builds(Figure, WORDS, WORDS, WORDS, NUMBERS, NUMBERS, NUMBERS, COUNTS, COUNTS)
TEXTS = st.dictionaries(WORDS, WORDS, max_size=3)


@pytest.fixture(scope="module")
def shared_path(tmp_path_factory):
    return tmp_path_factory.mktemp("rows") / "evaluations.duckdb"


@examples(max_examples=15)
@given(questions=SCORED, figures=st.lists(FIGURES, max_size=4), models=TEXTS, settings=TEXTS)
def test_an_evaluation_comes_back_as_it_was_kept_and_in_its_order(shared_path, questions, figures, models, settings):
    scores = [scored(*names, **values) for names, values in questions.items()]
    kept = evaluation("eval-1", *scores, figures=figures, models=models, settings=settings)
    keep_evaluation(shared_path, kept)
    assert plain(find_evaluation(shared_path, "eval-1")) == plain(kept)


def test_the_list_shows_the_newest_first_and_no_single_question(path):
    assert list_evaluations(path) == [] and not path.parent.exists()
    second = evaluation("eval-2222222222", *QUESTIONS, started="2026-01-02T00:00:00+00:00", figures=())
    keep_evaluation(path, FIRST)
    keep_evaluation(path, second)
    assert list(map(plain, list_evaluations(path))) == [plain(without_scores(second)), plain(without_scores(FIRST))]


def test_the_same_run_again_takes_the_place_of_what_it_left_before(path):
    other = evaluation("eval-other", *QUESTIONS)
    again = replace(FIRST, code="0.2.0", figures=FIRST.figures[:1], scored=QUESTIONS[1])
    for each in (FIRST, other, again):
        keep_evaluation(path, each)
    assert plain(find_evaluation(path, FIRST.run_id)) == plain(again)
    assert plain(find_evaluation(path, "eval-other")) == plain(other)
    assert len(list_evaluations(path)) == 2


def test_the_results_can_be_asked_in_sql(path):
    keep_evaluation(path, FIRST)
    with duckdb.connect(str(path), read_only=True) as connection:
        said = connection.execute("SELECT arm, avg(\"values\"['mrr']) FROM scored GROUP BY arm ORDER BY arm").fetchall()
        assert said == [("flow", pytest.approx((1 / 3 + 0.1) / 2)), ("top-k", 0.5)]
        assert connection.execute("SELECT settings ->> '$.routing.demand' FROM evaluations").fetchall() == [("6.0",)]


def test_the_beginning_of_an_id_names_its_evaluation(path):
    for run_id in ("abcdef-1", "abcdef-12", "abcxyz-1"):
        keep_evaluation(path, evaluation(run_id))
    assert find_evaluation(path, "abcxyz").run_id == "abcxyz-1"
    assert find_evaluation(path, "abcdef-1").run_id == "abcdef-1", "a whole id is never ambiguous"
    with pytest.raises(AmbiguousError, match="'abcdef' names 2 evaluations: 'abcdef-1', 'abcdef-12'; take more"):
        find_evaluation(path, "abcdef")


@pytest.mark.parametrize("asked", ["abcxy", "abcxyy", "abcxyz-1-longer", "ABCXYZ"])
def test_a_name_of_no_evaluation_is_refused_also_where_none_is_kept(path, asked):
    for kept in ((), (evaluation("abcxyz-1"),)):
        for each in kept:
            keep_evaluation(path, each)
        with pytest.raises(UnknownError, match=f"no evaluation .{asked}.; name it by .* `flowreader evaluate list` shows"):
            find_evaluation(path, asked)


def test_signs_that_no_bytes_can_hold_are_kept_as_escapes(path):
    keep_evaluation(path, evaluation("eval-odd", corpus="q\ud800", scope="\udcff", models={"chat": "\udcff"}))
    found = find_evaluation(path, "eval-odd")
    assert found.models == {"chat": "\\udcff"}
    assert (found.scope, found.corpus) == ("\\udcff", "q\\ud800")


def test_settings_that_no_bytes_can_hold_are_refused_and_nothing_is_kept(path):
    with pytest.raises(CodecError):
        keep_evaluation(path, evaluation("eval-inf", settings={"demand": float("inf")}))
    assert list_evaluations(path) == []


KEEPING = """
import sys
from pathlib import Path
from storage import evaluations
from tests.storage.evaluation_worlds import evaluation, scored
evaluations.WAIT_SECONDS = 60
for number in range(3):
    scores = scored("flow", "q", "a.pdf", recall=1.0)
    evaluations.keep_evaluation(Path(sys.argv[1]), evaluation(f"run-{sys.argv[2]}-{number}", scores))
"""


@pytest.mark.torture
def test_many_processes_and_threads_lose_no_evaluation(path, monkeypatch):
    monkeypatch.setattr(evaluations, "WAIT_SECONDS", 60)
    children = [subprocess.Popen([sys.executable, "-c", KEEPING, str(path), name]) for name in "ab"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: keep_evaluation(path, evaluation(f"run-own-{number}", *QUESTIONS)), range(4)))
        list(pool.map(lambda _: list_evaluations(path), range(4)))
    assert [child.wait(120) for child in children] == [0, 0]
    assert len(list_evaluations(path)) == 10


KILLED = """
import os, signal, sys
from pathlib import Path
from storage import evaluations
from tests.storage.evaluation_worlds import evaluation, scored
write = evaluations._write
def write_and_die(connection, *given):
    write(connection, *given)
    os.kill(os.getpid(), signal.SIGKILL)
evaluations._write = write_and_die
evaluations.keep_evaluation(Path(sys.argv[1]), evaluation("eval-1111111111", code="never"))
"""


@pytest.mark.parametrize("kept", [(), (FIRST,)])
def test_a_kill_before_the_commit_leaves_what_was_kept(path, kept):
    for each in kept:
        keep_evaluation(path, each)
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)]).returncode == -signal.SIGKILL
    assert [each.code for each in list_evaluations(path)] == ["0.1.0" for _ in kept]
    keep_evaluation(path, FIRST)
    assert plain(find_evaluation(path, FIRST.run_id)) == plain(FIRST)


FULL = """
import resource, signal, sys
from pathlib import Path
from storage.system import DiskFullError
from storage.evaluations import keep_evaluation
from tests.storage.evaluation_worlds import evaluation, scored
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = Path(sys.argv[1]).stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100_000, size + 100_000))
metrics = {f"metric {number}": number / 7 for number in range(30)}
many = evaluation("eval-many", *(scored("flow", f"q{n}", f"{hash(n / 7)}", **metrics) for n in range(5_000)))
try:
    keep_evaluation(Path(sys.argv[1]), many)
except DiskFullError as error:
    print(error)
"""


def test_a_full_disk_is_an_error_by_name_and_what_was_kept_stays(path):
    keep_evaluation(path, FIRST)
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], stdout=subprocess.PIPE, text=True, check=True)
    assert f"disk full at '{path.parent}', needs about 10 MB" in done.stdout
    assert list(map(plain, list_evaluations(path))) == [plain(without_scores(FIRST))]


def test_a_new_file_holds_no_evaluation_and_nothing_half_made_is_left(path):
    path.parent.mkdir()
    path.with_name(".partial-evaluations.duckdb").write_bytes(b"cut by a kill")
    path.with_name(".partial-evaluations.duckdb.wal").write_bytes(b"cut by a kill")
    keep_evaluation(path, FIRST)
    assert {entry.name for entry in path.parent.iterdir()} == {"evaluations.duckdb", "evaluations.duckdb.lock"}


HOLD_OURS = """
import fcntl, sys, time
with open(sys.argv[1] + ".lock") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""
HOLD_FOREIGN = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("program", "said"),
    [(HOLD_OURS, "in use by another FlowReader for 0.3 s; run the command again"), (HOLD_FOREIGN, "another program; close it")],
)
def test_another_program_that_has_the_file_open_is_named_and_waited_for_a_while_only(path, program, said, monkeypatch):
    monkeypatch.setattr(evaluations, "WAIT_SECONDS", 0.3)
    keep_evaluation(path, FIRST)
    child = subprocess.Popen([sys.executable, "-c", program, str(path), "60"], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"held\n"
    with pytest.raises(CatalogBusyError, match=said):
        list_evaluations(path)
    child.kill()
    child.communicate()
    assert len(list_evaluations(path)) == 1, "a death lets the next one in"


def test_a_newer_file_is_refused_and_left_as_it_is(path):
    keep_evaluation(path, FIRST)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE store SET schema_version = 2")
    with pytest.raises(StoreVersionError, match=r"schema version 2, this FlowReader knows 1; .*install the newer FlowReader"):
        keep_evaluation(path, FIRST)
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SELECT schema_version FROM store").fetchall() == [(2,)]


def test_what_is_no_file_of_evaluations_is_damaged_and_a_moment_without_memory_is_no_damage(path, monkeypatch):
    path.parent.mkdir()
    path.write_bytes(b"junk" * 1000)
    with pytest.raises(CatalogDamagedError, match="cannot be opened"):
        list_evaluations(path)
    path.unlink()
    duckdb.connect(str(path)).close()
    with pytest.raises(CatalogDamagedError, match="move it away and evaluate again"):
        list_evaluations(path)

    def short(*_):
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate")

    monkeypatch.setattr(evaluations, "_read_heads", short)
    path.unlink()
    keep_evaluation(path, FIRST)
    with pytest.raises(duckdb.OutOfMemoryException):
        list_evaluations(path)
