"""Our own layout asks of one document or of several, and needs no more than id, document and question."""

from pathlib import Path

import pytest

from tasks.benchmarks.own_layout import folders, kind_of, question
from tasks.benchmarks.rows import BenchmarkError, Row


def asked(**cells):
    return question(Row("questions.jsonl, line 2", 2, {"id": "q2", "question": "Why?", **cells}), "folder")


def test_a_line_says_all_that_is_known():
    found = asked(
        document="a.pdf", document_type="Map", answer="x", answer_format="Str", evidence_pages=[2, 900], evidence_sources=["Chart"]
    )
    assert (found.id, found.text, found.documents, found.document_type) == ("q2", "Why?", ("a.pdf",), "Map")
    assert found.answers == ("x",) and found.evidence == (("a.pdf", 2), ("a.pdf", 900)) and found.evidence_sources == ("Chart",)


def test_a_line_may_say_no_more_than_it_must():
    found = asked(document="a.pdf")
    assert found.answerable and found.answers == found.evidence == found.evidence_sources == () and found.document_type == ""


def test_a_question_may_be_asked_of_several_documents():
    assert asked(documents=["a.pdf", "b.pdf", "a.pdf"], answer="x").documents == ("a.pdf", "b.pdf")
    assert asked(documents=["a.pdf"], evidence_pages=[1]).evidence == (("a.pdf", 1),)


def test_pages_of_several_documents_need_to_be_told_whose_they_are():
    found = asked(documents=["a.pdf", "b.pdf"], document="b.pdf", evidence_pages=[1])
    assert found.documents == ("a.pdf", "b.pdf") and found.evidence == (("b.pdf", 1),)
    with pytest.raises(BenchmarkError, match=r"line 2: column 'evidence_pages' .*whose pages"):
        asked(documents=["a.pdf", "b.pdf"], evidence_pages=[1])


def test_a_number_is_an_id():
    assert asked(id=7, document="a.pdf").id == "7"


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({}, "document"),
        ({"documents": []}, "document"),
        ({"document": ""}, "document"),
        ({"document": "a.pdf", "id": None}, "id"),
        ({"document": "a.pdf", "question": " "}, "question"),
        ({"document": "a.pdf", "evidence_pages": ["two"]}, "evidence_pages"),
        ({"documents": [1]}, "documents"),
    ],
)
def test_a_line_without_what_it_must_say_is_named(cells, column):
    with pytest.raises(BenchmarkError, match=rf"questions\.jsonl, line 2: column '{column}'"):
        asked(**cells)


def test_the_layout_is_known_by_its_name_or_its_columns():
    assert kind_of(Path("x/questions.jsonl"), frozenset()) == "folder"
    assert kind_of(Path("x/dev.jsonl"), frozenset({"document", "question"})) == "folder"
    assert (
        kind_of(Path("x/dev.jsonl"), frozenset({"document"}))
        == ""
        == kind_of(Path("x/q.json"), frozenset({"document", "question"}))
    )


def test_documents_lie_beside_the_questions():
    assert folders(Path("x/questions.jsonl"), Path("x"), "folder") == (Path("x/documents"),)
