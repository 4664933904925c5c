"""LongDocURL's records, as released and as copied, become questions with pages from 1."""

from pathlib import Path

import pytest

from tasks.benchmarks.longdocurl import folders, kind_of, question
from tasks.benchmarks.rows import BenchmarkError, Row
from tests.tasks.benchmarks.benchmark_worlds import LONGDOCURL, MMLONGBENCH, without

COPY = {**without(without(MMLONGBENCH, "doc_type"), "doc_id"), "id": "q1", "doc_id": "7000002.pdf", "task_type": "Locating"}


def asked(cells):
    return question(Row("LongDocURL.jsonl, line 3", 3, cells), "longdocurl")


def test_a_record_as_released_is_a_question():
    found = asked(LONGDOCURL)
    assert (found.id, found.documents, found.answers) == ("count_7000001_1_9_2", ("7000001.pdf",), ("5",))
    assert (found.answer_format, found.evidence, found.evidence_sources) == ("Int", (("7000001.pdf", 8),), ("Table",))


def test_a_number_for_a_document_is_its_name():
    assert asked({**LONGDOCURL, "doc_no": 7000001}).documents == ("7000001.pdf",)


def test_a_record_as_copied_is_a_question():
    found = asked({**COPY, "answer": "['a', 'b']", "answer_format": "List"})
    assert (found.id, found.documents, found.answers) == ("q1", ("7000002.pdf",), ('["a", "b"]',))
    assert found.evidence == (("7000002.pdf", 4), ("7000002.pdf", 2))


@pytest.mark.parametrize("column", ["doc_no", "question_id", "answer", "answer_format", "evidence_pages"])
def test_a_missing_column_is_named_and_does_not_hide_the_benchmark(column):
    cells = without(LONGDOCURL, column)
    assert kind_of(Path("x.jsonl"), frozenset(cells)) == "longdocurl"
    with pytest.raises(BenchmarkError, match=rf"LongDocURL\.jsonl, line 3: column '{column}' is missing"):
        asked(cells)


def test_it_is_told_from_mmlongbench_by_its_own_columns():
    assert kind_of(Path("samples.json"), frozenset(COPY)) == "longdocurl"
    assert kind_of(Path("samples.json"), frozenset(MMLONGBENCH)) == "" == kind_of(Path("x.csv"), frozenset(LONGDOCURL))
    assert kind_of(Path("x.json"), frozenset({"task_type"})) == ""


def test_documents_may_lie_anywhere_in_the_folder_given():
    assert folders(Path("x/data/LongDocURL.jsonl"), Path("x"), "longdocurl") == (Path("x"),)
