"""UDA's rows become questions whose answer columns are alternatives."""

from pathlib import Path

import pytest

from tasks.benchmarks.rows import BenchmarkError, Row
from tasks.benchmarks.uda import folders, kind_of, question
from tests.tasks.benchmarks.benchmark_worlds import FETA, PAPER_TAB, without


def asked(cells, kind="uda-paper-tab"):
    return question(Row("paper_tab_qa.csv, line 5", 4, cells), kind)


def test_filled_answer_columns_are_alternatives():
    assert asked(PAPER_TAB).answers == ("red, blue",)
    found = asked({**PAPER_TAB, "answer_2": "the red kite ", "answer_3": "NaN"})
    assert found.answers == ("red, blue", "the red kite")
    assert (found.id, found.documents, found.evidence, found.answerable) == ("aa11", ("2601.00010",), (), True)


def test_one_answer_column_is_one_answer():
    found = asked(FETA, "uda-feta-tab")
    assert (found.answers, found.documents) == (("On the pier.",), ("Tern (bird)",))


def test_a_question_that_all_refuse_is_not_answerable():
    found = asked({**PAPER_TAB, "answer_1": "Unanswerable"})
    assert not found.answerable and found.answers == ()


@pytest.mark.parametrize("column", ["doc_name", "q_uid", "question"])
def test_a_missing_column_is_named(column):
    with pytest.raises(BenchmarkError, match=rf"paper_tab_qa\.csv, line 5: column '{column}' is missing"):
        asked(without(PAPER_TAB, column))


def test_a_table_without_answers_is_named():
    with pytest.raises(BenchmarkError, match="line 5: column 'answer' is missing"):
        asked(without(FETA, "answer"))


def test_subsets_are_known_by_name_and_column():
    columns = frozenset(PAPER_TAB)
    assert kind_of(Path("qa/paper_tab_qa.csv"), columns) == "uda-paper-tab"
    assert (
        kind_of(Path("paper_text_qa.csv"), columns) == "uda-paper-text" and kind_of(Path("feta_qa.csv"), columns) == "uda-feta-tab"
    )
    assert kind_of(Path("nq_qa.csv"), columns) == "" == kind_of(Path("feta_qa.csv"), frozenset({"q_id"}))
    assert kind_of(Path("bench_feta_qa.json"), columns) == ""


def test_documents_lie_where_the_release_has_them(tmp_path):
    for name in ("src_doc_files/wiki_feta_docs", "src_doc_files/wiki_docs", "src_doc_files_example/paper_docs"):
        (tmp_path / name).mkdir(parents=True)
    sources, given = tmp_path / "src_doc_files", tmp_path / "qa"
    assert folders(given / "feta_qa.csv", given, "uda-feta-tab") == (sources / "wiki_feta_docs", sources / "wiki_docs", given)
    assert folders(given / "paper_tab_qa.csv", tmp_path, "uda-paper-tab") == (
        tmp_path / "src_doc_files_example/paper_docs",
        tmp_path,
    )
    assert folders(tmp_path / "feta_qa.csv", tmp_path, "uda-feta-tab")[0] == sources / "wiki_feta_docs"
