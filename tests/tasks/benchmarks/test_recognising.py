"""A benchmark is recognised by what lies in its folder; none and several are told."""

import os
import re

import pytest

from tasks.benchmarks.recognising import recognise
from tasks.benchmarks.rows import BenchmarkError
from tests.tasks.benchmarks.benchmark_worlds import (
    FETA,
    LONGDOCURL,
    MMLONGBENCH,
    PAPER_TAB,
    SLIDEVQA,
    SPIQA,
    array,
    documents,
    lines,
    table,
)

OWN = {"id": "q1", "document": "a.pdf", "question": "Why?"}
WORLDS = {
    "folder": lambda folder: lines(folder / "questions.jsonl", OWN),
    "mmlongbench-doc": lambda folder: array(folder / "data" / "samples.json", MMLONGBENCH),
    "longdocurl": lambda folder: lines(folder / "data" / "LongDocURL.jsonl", LONGDOCURL),
    "uda-paper-tab": lambda folder: table(folder / "dataset" / "qa" / "paper_tab_qa.csv", PAPER_TAB, delimiter="|"),
    "uda-paper-text": lambda folder: table(folder / "paper_text_qa.csv", PAPER_TAB, delimiter="|"),
    "uda-feta-tab": lambda folder: table(folder / "feta_qa.csv", FETA, delimiter="|"),
    "visdombench-spiqa": lambda folder: table(folder / "spiqa" / "spiqa.csv", SPIQA),
    "visdombench-slidevqa": lambda folder: table(folder / "slidevqa.csv", SLIDEVQA),
}


@pytest.mark.parametrize("kind", WORLDS)
def test_each_benchmark_is_recognised_by_its_folder_and_by_its_file(tmp_path, kind):
    file = WORLDS[kind](tmp_path)
    (tmp_path / "README.md").write_text("not a question")
    by_folder, by_file = recognise(tmp_path), recognise(file)
    assert (by_folder.kind, by_folder.file, by_folder.given) == (kind, file, tmp_path)
    assert (by_file.kind, by_file.file, by_file.given) == (kind, file, file.parent)


def test_a_path_from_here_is_made_absolute(tmp_path, monkeypatch):
    file = WORLDS["uda-feta-tab"](tmp_path)
    monkeypatch.chdir(tmp_path)
    assert recognise(file.relative_to(tmp_path)).file == file


def test_our_own_questions_go_before_other_files_beside_them(tmp_path):
    lines(tmp_path / "answers.jsonl", {**OWN, "said": "x"})
    lines(tmp_path / "questions.jsonl", OWN)
    assert recognise(tmp_path).file.name == "questions.jsonl"
    assert recognise(tmp_path / "answers.jsonl").file.name == "answers.jsonl"


def test_the_highest_questions_are_taken_and_documents_are_not_looked_at(tmp_path):
    array(tmp_path / "results" / "old.json", MMLONGBENCH)
    array(tmp_path / "documents" / "odd.json", MMLONGBENCH)
    array(tmp_path / ".hidden.json", MMLONGBENCH)
    assert recognise(tmp_path).file.name == "old.json"
    array(tmp_path / "samples.json", MMLONGBENCH)
    assert recognise(tmp_path).file.name == "samples.json"


@pytest.mark.parametrize(
    ("worlds", "names"),
    [
        (("uda-paper-text", "uda-feta-tab"), "'feta_qa.csv', 'paper_text_qa.csv'"),
        (("visdombench-spiqa", "mmlongbench-doc"), "'data/samples.json', 'spiqa/spiqa.csv'"),
    ],
)
def test_several_benchmarks_are_an_error_that_lists_them(tmp_path, worlds, names):
    for kind in worlds:
        WORLDS[kind](tmp_path)
    with pytest.raises(BenchmarkError, match=rf"holds 2 benchmarks: {re.escape(names)}; name one"):
        recognise(tmp_path)


def test_a_path_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BenchmarkError, match=r"nowhere' does not exist"):
        recognise(tmp_path / "nowhere")


def test_a_folder_that_is_none_is_told_with_what_it_holds_and_what_is_known(tmp_path):
    for n in range(9):
        (tmp_path / f"note{n}.txt").write_text("x")
    with pytest.raises(BenchmarkError) as told:
        recognise(tmp_path)
    assert "'note0.txt'" in str(told.value) and "and 1 more" in str(told.value)
    for name in ("questions.jsonl and documents/", "MMLongBench-Doc", "LongDocURL", "UDA", "VisDoMBench"):
        assert name in str(told.value)


def test_an_empty_folder_holds_nothing(tmp_path):
    with pytest.raises(BenchmarkError, match="there is nothing"):
        recognise(tmp_path)


def test_a_file_that_is_no_question_file_is_told(tmp_path):
    documents(tmp_path, "a.pdf")
    with pytest.raises(BenchmarkError, match=r"no benchmark that is known: there is 'a\.pdf'"):
        recognise(tmp_path / "a.pdf")


@pytest.mark.parametrize("text", ["[]", '[{"doc_id" 3}]'])
def test_a_question_file_that_cannot_be_begun_is_told_with_the_reason(tmp_path, text):
    (tmp_path / "samples.json").write_text(text)
    with pytest.raises(BenchmarkError, match=r"samples\.json' does not begin with a row"):
        recognise(tmp_path)


def test_our_own_questions_are_known_even_when_broken(tmp_path):
    (tmp_path / "questions.jsonl").write_text("{broken")
    assert recognise(tmp_path).kind == "folder"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(BenchmarkError, match=r"closed' cannot be read"):
        recognise(tmp_path)
