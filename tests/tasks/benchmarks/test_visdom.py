"""VisDoMBench's rows become questions of several documents; only slidevqa tells pages, and it counts them from 0."""

from pathlib import Path

import pytest

from tasks.benchmarks.rows import BenchmarkError, Row
from tasks.benchmarks.visdom import folders, kind_of, question
from tests.tasks.benchmarks.benchmark_worlds import SLIDEVQA, SPIQA, without

PAPER_TAB = "[{'answer': \"Kite's\", 'type': 'extractive'}, {'answer': 'A\\nkite', 'type': 'abstractive'}, {'answer': ' '}]"


def asked(cells, subset="spiqa"):
    return question(Row("spiqa.csv, line 5", 4, cells), f"visdombench-{subset}")


def test_a_row_is_asked_of_all_its_documents():
    found = asked(SPIQA)
    assert (found.id, found.text, found.answers) == ("spiqa_4", "What rises?", ("The tide.",))
    assert found.documents == ("2601.00001v1.pdf", "2601.00002v1.pdf") and found.evidence == ()


def test_the_document_that_answers_is_among_them():
    found = asked({**SLIDEVQA, "doc_path": "docs/2601.00009v1.pdf"}, "slidevqa")
    assert found.documents == ("2601.00001v1.pdf", "2601.00002v1.pdf", "2601.00009v1.pdf")
    assert found.evidence[0] == ("2601.00009v1.pdf", 1)


def test_pages_of_slides_are_counted_from_one():
    assert asked(SLIDEVQA, "slidevqa").evidence == (("2601.00001v1.pdf", 1), ("2601.00001v1.pdf", 7))


def test_answers_of_paper_tab_are_alternatives():
    assert asked({**SPIQA, "answer": PAPER_TAB}, "paper-tab").answers == ("Kite's", "A\nkite")
    assert asked({**SPIQA, "answer": "a kite"}, "paper-tab").answers == ("a kite",)


def test_other_subsets_keep_an_answer_as_it_stands():
    assert asked({**SPIQA, "answer": "[1, 2]"}).answers == ("[1, 2]",)


@pytest.mark.parametrize("answer", ["[{'answer': 'a'", "['a']", "[{'type': 'a'}]"])
def test_answers_of_paper_tab_that_cannot_be_read_are_named(answer):
    with pytest.raises(BenchmarkError, match=r"spiqa\.csv, line 5: column 'answer' holds .* not a list of"):
        asked({**SPIQA, "answer": answer}, "paper-tab")


def test_a_refused_question_is_not_answerable():
    found = asked({**SPIQA, "answer": "[{'answer': 'Unanswerable', 'type': 'none'}]"}, "paper-tab")
    assert not found.answerable and found.answers == ()


@pytest.mark.parametrize("column", ["q_id", "question", "answer", "doc_path", "documents", "evidence_pages"])
def test_a_missing_column_is_named(column):
    with pytest.raises(BenchmarkError, match=rf"spiqa\.csv, line 5: column '{column}' is missing"):
        asked(without(SLIDEVQA, column), "slidevqa")


def test_documents_that_are_no_list_are_named():
    with pytest.raises(BenchmarkError, match=r"line 5: column 'documents' holds .* no list"):
        asked({**SPIQA, "documents": "['a.pdf', 'b.pdf"})


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("spiqa/spiqa.csv", "visdombench-spiqa"),
        ("feta_tab.csv", "visdombench-feta-tab"),
        ("paper_tab.csv", "visdombench-paper-tab"),
        ("scigraphvqa/scigraphqa.csv", "visdombench-scigraphqa"),
        ("slidevqa.csv", "visdombench-slidevqa"),
        ("retrieval.csv", ""),
        ("spiqa.json", ""),
    ],
)
def test_subsets_are_known_by_name_and_column(file, kind):
    assert kind_of(Path(file), frozenset(SPIQA)) == kind
    assert kind_of(Path(file), frozenset(without(SPIQA, "documents"))) == kind
    assert kind_of(Path(file), frozenset({"q_id", "question", "chunk"})) == ""


def test_documents_lie_beside_the_table():
    assert folders(Path("x/spiqa/spiqa.csv"), Path("x"), "visdombench-spiqa") == (Path("x/spiqa/docs"), Path("x/spiqa"))
