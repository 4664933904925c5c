"""A benchmark is opened whole, with the documents that it asks of and a hash of what it asks, or not at all."""

import shutil

import pytest

from tasks.benchmarks import BenchmarkError, open_benchmark
from tests.tasks.benchmarks.benchmark_worlds import (
    FETA,
    LONGDOCURL,
    MMLONGBENCH,
    PAPER_TAB,
    SLIDEVQA,
    array,
    documents,
    lines,
    table,
)


def own(folder, *records):
    documents(folder / "documents", "a.pdf", "sub/b c.pdf", "unasked.pdf")
    lines(folder / "questions.jsonl", *records)
    return folder


def asked(identity="q1", document="a.pdf", **more):
    return {"id": identity, "document": document, "question": "Why?", **more}


def test_our_own_layout_is_opened(tmp_path):
    opened = open_benchmark(own(tmp_path / "harbour", asked(), asked("q2", "sub/b c.pdf", answer="x", evidence_pages=[2])))
    assert (opened.name, opened.kind) == ("harbour", "folder")
    assert opened.documents == {
        "a.pdf": str(tmp_path / "harbour/documents/a.pdf"),
        "sub/b c.pdf": str(tmp_path / "harbour/documents/sub/b c.pdf"),
        "unasked.pdf": str(tmp_path / "harbour/documents/unasked.pdf"),
    }
    assert [question.id for question in opened.questions] == ["q1", "q2"] and opened.questions[1].evidence == (("sub/b c.pdf", 2),)


def test_mmlongbench_is_opened_as_published(tmp_path):
    array(tmp_path / "bench" / "data" / "samples.json", MMLONGBENCH, {**MMLONGBENCH, "answer": "Not answerable"})
    documents(tmp_path / "bench" / "data" / "documents", "lighthouse.pdf")
    opened = open_benchmark(tmp_path / "bench")
    assert (opened.name, opened.kind) == ("bench", "mmlongbench-doc")
    assert [question.id for question in opened.questions] == ["mmlongbench-doc-0001", "mmlongbench-doc-0002"]
    assert [question.answerable for question in opened.questions] == [True, False]
    assert opened == open_benchmark(tmp_path / "bench")


def test_longdocurl_is_opened_with_its_folders_of_four_digits(tmp_path):
    file = lines(tmp_path / "LongDocURL.jsonl", LONGDOCURL)
    documents(tmp_path, "ccpdf_zip/7000-7999/7000/7000001.pdf")
    opened = open_benchmark(file)
    assert opened.kind == "longdocurl" and opened.documents["7000001.pdf"].endswith("7000/7000001.pdf")


def test_a_subset_of_uda_is_opened_by_its_file_among_others(tmp_path):
    table(tmp_path / "qa" / "feta_qa.csv", FETA, delimiter="|")
    file = table(tmp_path / "qa" / "paper_tab_qa.csv", PAPER_TAB, delimiter="|")
    documents(
        tmp_path / "src_doc_files", "paper_docs/2601.00010.pdf", "wiki_feta_docs/pdfs/Tern (bird).pdf", "wiki_docs/Tern (bird).pdf"
    )
    opened = open_benchmark(file)
    assert opened.name == opened.kind == "uda-paper-tab" and list(opened.documents) == ["2601.00010"]
    assert "wiki_feta_docs" in open_benchmark(tmp_path / "qa" / "feta_qa.csv").documents["Tern (bird)"]
    with pytest.raises(BenchmarkError, match=r"'qa/feta_qa\.csv', 'qa/paper_tab_qa\.csv'; name one"):
        open_benchmark(tmp_path)


def test_a_subset_of_visdombench_is_opened(tmp_path):
    table(tmp_path / "slidevqa" / "slidevqa.csv", SLIDEVQA)
    documents(tmp_path / "slidevqa" / "docs", "2601.00001v1.pdf", "2601.00002v1.pdf")
    opened = open_benchmark(tmp_path / "slidevqa")
    assert opened.name == opened.kind == "visdombench-slidevqa" and len(opened.documents) == 2
    assert opened.questions[0].evidence == (("2601.00001v1.pdf", 1), ("2601.00001v1.pdf", 7))


def test_the_hash_is_of_what_is_asked_and_of_nothing_else(tmp_path):
    first = open_benchmark(own(tmp_path / "one", asked(answer="x")))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    (tmp_path / "two" / "documents" / "a.pdf").write_bytes(b"other bytes")
    assert open_benchmark(tmp_path / "two").hash == first.hash and len(first.hash) == 64
    assert open_benchmark(own(tmp_path / "three", asked(answer="y"))).hash != first.hash


def test_an_id_given_twice_is_numbered_in_a_published_benchmark(tmp_path):
    table(tmp_path / "feta_qa.csv", FETA, FETA, {**FETA, "q_uid": "7-2"}, FETA, delimiter="|")
    documents(tmp_path, "Tern (bird).pdf")
    assert [question.id for question in open_benchmark(tmp_path).questions] == ["7", "7-3", "7-2", "7-4"]


def test_an_id_given_twice_is_an_error_in_our_own_layout(tmp_path):
    with pytest.raises(BenchmarkError, match=r"line 2: column 'id' holds 'q1' again, as .*questions\.jsonl, line 1"):
        open_benchmark(own(tmp_path, asked(), asked()))


def test_a_document_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(
        BenchmarkError, match=r"1 of 2 documents that .*questions\.jsonl' names .*'gone\.pdf'; looked in .*documents'"
    ):
        open_benchmark(own(tmp_path, asked(), asked("q2", "gone.pdf")))


def test_no_questions_and_broken_lines_are_errors(tmp_path):
    with pytest.raises(BenchmarkError, match="holds no questions"):
        open_benchmark(own(tmp_path))
    (tmp_path / "questions.jsonl").write_text('{"id": "q1", "document": "a.pdf", "question": "Why?"}\n{broken\n')
    with pytest.raises(BenchmarkError, match=r"questions\.jsonl, line 2 is no JSON"):
        open_benchmark(tmp_path)


def test_half_a_character_is_an_error(tmp_path):
    with pytest.raises(BenchmarkError, match=r"questions\.jsonl' holds a text that is not Unicode"):
        open_benchmark(own(tmp_path, asked(question="\ud800")))
