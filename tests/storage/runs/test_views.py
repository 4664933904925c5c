"""The views hold what the runs wrote, whatever damaged their files, and say what cannot be read."""

import json
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.cleaning.owners import documents_in_answers
from storage.errors import ExpectedError
from storage.runs.answer_json import answer_json
from storage.runs.answers import answer_ids, find_answer
from storage.runs.log import EntryKind, RunLog, read_entry
from storage.runs.views import RunEntries, open_runs_folder, read_run
from tests.storage.answer_worlds import answer, asking_log, numbered
from tests.storage.runs.test_runs import STEP
from tests.storage.worlds import corpus_in, document_id


def write_run(log, *subjects, ended=True):
    log.begin(run_id=log.path.stem, parameters={"paths": ["/in"]}, settings={}, code_version="1")
    for subject in subjects:
        log.step(replace(STEP, subject=subject))
    if ended:
        log.end(run_id=log.path.stem, outcome="ended", snapshot=3)
    return log.path


def rows(location, query):
    with open_runs_folder(location.runs) as runs:
        return list(runs.rows(query))


def test_every_run_is_a_row_with_its_last_beginning_and_its_end(location):
    write_run(asking_log(location, "a"), "one")
    log = RunLog(location.runs / "b.jsonl")
    write_run(log)
    log.begin(run_id="b", parameters={"paths": ["/again"]}, settings={"x": 1}, code_version="2")
    query = "SELECT run_id, code_version, parameters, settings, outcome, snapshot, unreadable_lines FROM runs ORDER BY run_id"
    assert rows(location, query) == [
        ("ask-a", "1", '{"paths":["/in"]}', "{}", "ended", 3, 0),
        ("b", "2", '{"paths":["/again"]}', '{"x":1}', None, 3, 0),
    ]


def test_steps_and_calls_are_rows_and_what_a_line_does_not_have_is_null(location):
    log = asking_log(location, "a")
    log.step(STEP)
    log.call({"purpose": "worker", "answer_id": "f" * 32, "cost": 0.5, "outcome": "ok"})
    log.call({"purpose": "judge", "subject": "d", "new": 3})
    assert rows(location, "SELECT step, subject, seconds, cache_hit, outputs, error FROM steps") == [
        ("parse", "a.pdf", 0.5, False, '{"parsed":"h"}', "")
    ]
    assert rows(location, "SELECT purpose, subject, answer_id, cost, input_tokens FROM model_calls") == [
        ("worker", None, "f" * 32, 0.5, None),
        ("judge", "d", None, None, None),
    ]  # fmt: skip


NAMES = st.lists(st.sampled_from(["report", "paper", "letter"]), max_size=3)
NASTY = st.one_of(st.text(), st.just("\ud800\u2028\n\U0001f600"))


@given(NAMES, NAMES, NASTY, st.booleans())
def test_the_pages_that_an_answer_used_are_rows_whatever_its_words_are(tmp_path_factory, cited, read, words, pathless):
    location = corpus_in(tmp_path_factory.mktemp("world"))
    kept = replace(answer(*read, question=words), answer=words, citations=answer(*cited).citations, notes=(words,))
    kept = replace(kept, paths=() if pathless else kept.paths, pages=kept.pages * 3)
    asking_log(location, "a").answer(answer_json(kept))
    used = rows(location, "SELECT cited, document_id, page FROM used_pages")
    assert {used[1:] for used in used if used[0]} == {(document_id(name), 2) for name in cited}
    assert {used[1:] for used in used if not used[0]} == {(document_id(name), 2) for name in read}
    ((answer_id, question),) = rows(location, "SELECT answer_id, question FROM answers")
    assert (answer_id, question) == (kept.answer_id, answer_json(kept)["question"])


@given(st.lists(st.sampled_from(["one", "two"])), st.integers(0, 400))
def test_what_a_kill_left_of_a_run_is_read_and_the_cut_line_counted(tmp_path_factory, subjects, cut):
    path = write_run(RunLog(tmp_path_factory.mktemp("run") / "r1.jsonl"), *subjects)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - cut] if cut < len(data) else b"")
    entries = [read_entry(line) for line in path.read_bytes().splitlines()]
    found = read_run(path)
    assert list(found.entries) == [entry for entry in entries if entry is not None]
    assert found.torn == entries.count(None)


@pytest.mark.parametrize(
    "damage",
    [b'{"sequence": 1, "ki', b"\x00" * 40, b'ind": "step"}', b"\xff\xfe", b'{"sequence": 9, "kind": "hope"}', b"3", b"null", b"{}"],
)
def test_lines_that_cannot_be_read_are_counted_wherever_they_stand_and_whatever_is_looked_for(location, damage):
    path = write_run(asking_log(location, "a"), "one")
    first, rest = path.read_bytes().split(b"\n", 1)
    for data in (damage + b"\n" + first + b"\n" + rest, first + b"\n" + damage + b"\n" + rest, first + b"\n" + rest + damage):
        path.write_bytes(data)
        with open_runs_folder(location.runs) as runs:
            (everything,), (nothing,) = runs.read("true"), runs.read("true", "false")
        assert (len(everything.entries), everything.torn, nothing.entries, nothing.torn) == (3, 1, (), 1)
    path.write_bytes(first + b"\n" + rest[:-1])
    assert read_run(path).torn == 0, "a last line without its end is whole where nothing of it is missing"


def test_of_runs_and_lines_those_are_read_that_are_asked_for(location):
    for name in ("a", "b"):
        write_run(asking_log(location, name), "one", "two")
    write_run(RunLog(location.runs / "0b1c.jsonl"), "two")
    with open_runs_folder(location.runs) as runs:
        found = runs.read("starts_with(run_id, 'ask-')", "line->>'$.subject' = $subject", subject="two")
        assert [(run.run_id, [entry["subject"] for entry in run.entries]) for run in found] == [
            ("ask-a", ["two"]),
            ("ask-b", ["two"]),
        ]
        assert runs.read_one("0b1c", "kind = 'end'").of(EntryKind.END)[0]["outcome"] == "ended"
        assert runs.ids == ("0b1c", "ask-b", "ask-a"), "the newest first"


def test_an_empty_file_and_no_folder_tell_nothing(location):
    assert read_run(location.runs / "r1.jsonl") == RunEntries("r1") and rows(location, "FROM runs") == []
    location.runs.mkdir(parents=True)
    (location.runs / "r1.jsonl").touch()
    assert read_run(location.runs / "r1.jsonl") == RunEntries("r1") and rows(location, "FROM answers") == []


def test_a_file_that_the_system_does_not_give_is_named_and_hides_no_other(location):
    write_run(asking_log(location, "a"), "one")
    (location.runs / "r1.jsonl").mkdir()
    with open_runs_folder(location.runs) as runs:
        assert [(run.run_id, run.unreadable, run.torn) for run in runs.read("true", "false")] == [("r1", "Is a directory", 0)]
    assert rows(location, "SELECT run_id FROM runs") == [("ask-a",)]


def test_nothing_outside_the_folder_is_read_or_written(location):
    (location.folder / "it's secret.json").parent.mkdir(parents=True)
    (location.folder / "it's secret.json").write_text(json.dumps({"a": 1}))
    write_run(asking_log(location, "a"))
    with open_runs_folder(location.runs) as runs:
        for query in (f"FROM read_json('{location.folder}/*.json')", "SET enable_external_access = true"):
            with pytest.raises(ExpectedError):
                list(runs.rows(query))


def test_what_only_nearly_is_json_is_torn(location):
    path = write_run(asking_log(location, "a"), "one")
    first, second, third = path.read_bytes().splitlines(keepends=True)
    wrong = second.replace(b'"seconds": 0.5', b'"seconds": inf')
    assert wrong != second
    path.write_bytes(first + wrong + third.replace(b'"sequence": 2', b'"sequence": 99999999999999999999'))
    found = read_run(path)
    assert (found.torn, found.entries[0]["kind"]) == (1, EntryKind.RUN)


def test_an_answer_of_another_form_is_a_row_with_what_can_be_read_of_it(location):
    whole = answer_json(answer("report"))
    asking_log(location, "a").answer({"answer_id": "f" * 32})
    asking_log(location, "b").answer(whole | {"evidence_pages": None, "paths": "none"})
    query = "SELECT asked, question, status FROM answers WHERE answer_id = $id"
    with open_runs_folder(location.runs) as runs:
        assert list(runs.rows(query, id="f" * 32)) == [("", "", "")]
        used = list(runs.rows("SELECT document_id FROM used_pages WHERE answer_id = $id", id=whole["answer_id"]))
    assert used == [(document_id("report"),)]


def test_what_must_know_of_all_answers_is_refused_where_a_file_cannot_be_read(location):
    asking_log(location, "a").answer(answer_json(numbered(1, "report")[0]))
    (location.runs / "ask-b.jsonl").mkdir()
    for look in (answer_ids, documents_in_answers, partial(find_answer, asked_id="f" * 8, present=())):
        with pytest.raises(ExpectedError, match=r"ask-b.jsonl cannot be read: Is a directory; mend that"):
            look(location)


def test_the_lines_of_two_hundred_runs_fit_in_memory_on_a_machine_of_many_cores(location, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    for number in range(200):
        asking_log(location, str(number)).answer(answer_json(numbered(1, "report")[0]))
    assert rows(location, "SELECT count(*) FROM answers") == [(200,)]


def test_a_folder_whose_name_needs_quotes_is_read(tmp_path):
    location = corpus_in(tmp_path / "it's [here]")
    asking_log(location, "a").answer(answer_json(numbered(1, "report")[0]))
    assert rows(location, "SELECT question FROM answers") == [("How many?",)]
