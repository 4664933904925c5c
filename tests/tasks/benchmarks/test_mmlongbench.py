"""MMLongBench-Doc's records become questions with a number for an id."""

from pathlib import Path

import pytest

from tasks.benchmarks.mmlongbench import folders, kind_of, question
from tasks.benchmarks.rows import BenchmarkError, Row
from tests.tasks.benchmarks.benchmark_worlds import MMLONGBENCH, without


def asked(cells):
    return question(Row("samples.json, record 3", 3, cells), "mmlongbench-doc")


def test_a_record_is_a_question_of_its_document():
    found = asked(MMLONGBENCH)
    assert (found.id, found.text, found.document_type) == ("mmlongbench-doc-0003", "How tall is the lighthouse?", "Guidebook")
    assert found.documents == ("lighthouse.pdf",) and found.answers == ("31 m",) and found.answer_format == "Str"
    assert found.evidence == (("lighthouse.pdf", 4), ("lighthouse.pdf", 2)) and found.evidence_sources == ("Table", "Chart")


def test_not_answerable_is_no_answer():
    found = asked(
        {**MMLONGBENCH, "answer": "Not answerable", "answer_format": "None", "evidence_pages": "[]", "evidence_sources": "[]"}
    )
    assert not found.answerable and found.answers == found.evidence == found.evidence_sources == ()


@pytest.mark.parametrize("column", ["doc_id", "question", "answer", "answer_format", "evidence_pages"])
def test_a_missing_column_is_named_and_does_not_hide_the_benchmark(column):
    cells = without(MMLONGBENCH, column)
    assert kind_of(Path("samples.json"), frozenset(cells)) == "mmlongbench-doc"
    with pytest.raises(BenchmarkError, match=rf"samples\.json, record 3: column '{column}' is missing"):
        asked(cells)


def test_other_files_are_not_taken_for_it():
    assert kind_of(Path("package.json"), frozenset({"name", "question"})) == "" == kind_of(Path("x.csv"), frozenset(MMLONGBENCH))


def test_documents_may_lie_anywhere_in_the_folder_given():
    assert folders(Path("x/data/samples.json"), Path("x"), "mmlongbench-doc") == (Path("x"),)
