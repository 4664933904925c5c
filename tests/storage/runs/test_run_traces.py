"""Of a run's file no more is read than was looked for, and what cannot be read is told."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.runs.log import EntryKind, RunLog, asking_files, read_entry
from storage.runs.traces import RunTrace, lines_of, lines_with, other_files, run_files, trace, traces
from tests.storage.answer_worlds import answer, asking_log
from tests.storage.runs.test_runs import STEP
from tests.storage.worlds import corpus_in


@pytest.fixture
def location(tmp_path):
    return corpus_in(tmp_path)


def write_run(log, *subjects, ended=True):
    log.begin(run_id=log.path.stem, parameters={}, settings={}, code_version="1")
    for subject in subjects:
        log.step(replace(STEP, subject=subject))
    if ended:
        log.end(run_id=log.path.stem, outcome="ended", snapshot=3)
    return log.path


def test_a_trace_tells_how_the_run_began_and_ended_and_what_holds_a_sign(location):
    path = write_run(asking_log(location, "a"), "one", "two", "three", "two")
    found = trace(path, [b'"two"', b'"three"'])
    assert [entry["kind"] for entry in found.entries] == ["run", "step", "step", "step", "end"]
    assert [entry["subject"] for entry in found.of(EntryKind.STEP)] == ["two", "three", "two"]
    assert (found.run_id, found.torn, trace(path, [b"absent"])) == ("ask-a", 0, RunTrace("ask-a"))


@given(
    st.lists(st.sampled_from(["one", "two", "three"])),
    st.lists(st.sampled_from([b"one", b"two", b"absent"]), min_size=1),
    st.integers(0, 400),
)
def test_a_trace_is_what_reading_everything_and_looking_for_the_sign_gives(tmp_path_factory, subjects, signs, cut):
    path = write_run(RunLog(tmp_path_factory.mktemp("run") / "r1.jsonl"), *subjects)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - cut] if cut < len(data) else b"")
    entries = [read_entry(line) for line in path.read_bytes().splitlines()]
    everything = [entry for entry in entries if entry is not None]
    found = trace(path, signs)
    assert found.torn == entries.count(None)
    held = any(sign in path.read_bytes() for sign in signs)
    wanted = [e for e in everything if e["kind"] != "step" or any(sign.decode() == e["subject"] for sign in signs)]
    assert list(found.entries) == (wanted if held else [])


@pytest.mark.parametrize("damage", [b'{"sequence": 1, "ki', b"\x00" * 40, b'ind": "step"}', b""])
def test_cut_lines_are_counted_wherever_they_stand_and_whether_or_not_the_sign_is_in_the_file(location, damage):
    path = write_run(asking_log(location, "a"), "one")
    first, rest = path.read_bytes().split(b"\n", 1)
    for data in (
        damage + b"\n" + first + b"\n" + rest,
        first + b"\n" + damage + b"\n" + rest,
        first + b"\n" + rest + damage + b"\n",
    ):
        path.write_bytes(data)
        assert [trace(path, [sign]).torn for sign in (b"one", b"absent")] == [1, 1]
    path.write_bytes(first + b"\n" + rest[:-1])
    assert trace(path, [b"one"]).torn == 0, "a last line without its end is whole where nothing of it is missing"


def test_a_line_that_is_no_entry_is_counted_where_it_was_looked_for(location):
    path = write_run(asking_log(location, "a"), "one")
    path.write_bytes(path.read_bytes() + b'{"sequence": 9, "kind": "hope", "subject": "one"}\n')
    assert [trace(path, [sign]).torn for sign in (b"one", b"absent")] == [1, 0]


def test_an_empty_file_tells_nothing_and_is_not_damaged(location):
    location.runs.mkdir(parents=True)
    (location.runs / "r1.jsonl").touch()
    assert trace(location.runs / "r1.jsonl", [b"one"]) == RunTrace("r1") == trace(location.runs / "r1.jsonl", [b""])


def test_what_the_system_does_not_give_is_told(location):
    (location.runs / "r1.jsonl").mkdir(parents=True)
    (found,) = traces(run_files(location), [b"one"])
    assert (found.run_id, found.unreadable) == ("r1", "Is a directory")
    assert lines_of(location.runs / "gone.jsonl", [b""]).unreadable == "No such file or directory"


def test_only_runs_that_tell_of_the_sign_are_traced_and_those_that_are_damaged(location):
    write_run(asking_log(location, "a"), "one")
    write_run(asking_log(location, "b"), "two")
    write_run(asking_log(location, "one"), "two")
    damaged = write_run(asking_log(location, "d"), "two")
    damaged.write_bytes(damaged.read_bytes()[:-5])
    assert [found.run_id for found in traces(run_files(location), [b"one"])] == ["ask-a", "ask-d"], "a name alone tells nothing"
    assert [lines.run_id for lines in lines_with(run_files(location), [b"one"])] == ["ask-a", "ask-d", "ask-one"]


def test_runs_that_asked_are_told_from_others_by_their_name(location):
    write_run(asking_log(location, "b"))
    write_run(RunLog(location.runs / "0b1c.jsonl"))
    asking_log(location, "c").answer({"question": answer("report").question})
    assert [path.stem for path in run_files(location)] == ["0b1c", "ask-b", "ask-c"]
    assert [path.stem for path in other_files(location)] == ["0b1c"]
    assert [path.stem for path in asking_files(location)] == ["ask-b", "ask-c"]
