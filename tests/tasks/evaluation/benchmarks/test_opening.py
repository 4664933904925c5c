"""A benchmark is recognised and opened whole, with the documents that it asks of and a hash of what it asks, or not at all."""

import csv
import json
import os
import re
import shutil
import unicodedata

import pytest

from tasks.evaluation.benchmarks.opening import find_documents, open_benchmark, recognise
from tasks.evaluation.benchmarks.rows import HEAD_BYTES, BenchmarkError
from tests.tasks.evaluation.benchmarks.test_formats import (
    DECK,
    DUDE,
    FETA,
    LONGDOCURL,
    MMLONGBENCH,
    MP_DOCVQA,
    PAPER_TAB,
    SLIDEVQA,
    SPIQA,
)


def documents(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"%PDF " + name.encode())


def table(file, *rows, delimiter=","):
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return file


def lines(file, *records):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return file


def array(file, *records):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(records, indent=1), "utf-8")
    return file


def wrapped(file, *records):
    """Write the records as the Robust Reading Competition does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"dataset_name": "Piers", "dataset_version": "0.1", "data": records}, indent=1), "utf-8")
    return file


def asked(identity="q1", document="a.pdf", **more):
    return {"id": identity, "document": document, "question": "Why?", **more}


def own(folder, *records):
    documents(folder / "documents", "a.pdf", "sub/b c.pdf", "unasked.pdf")
    lines(folder / "questions.jsonl", *records)
    return folder


WORLDS = {
    "folder": lambda folder: lines(folder / "questions.jsonl", asked()),
    "mmlongbench-doc": lambda folder: array(folder / "data" / "samples.json", MMLONGBENCH),
    "longdocurl": lambda folder: lines(folder / "data" / "LongDocURL.jsonl", LONGDOCURL),
    "uda-paper-tab": lambda folder: table(folder / "dataset" / "qa" / "paper_tab_qa.csv", PAPER_TAB, delimiter="|"),
    "uda-paper-text": lambda folder: table(folder / "paper_text_qa.csv", PAPER_TAB, delimiter="|"),
    "uda-feta-tab": lambda folder: table(folder / "feta_qa.csv", FETA, delimiter="|"),
    "visdombench-spiqa": lambda folder: table(folder / "spiqa" / "spiqa.csv", SPIQA),
    "visdombench-slidevqa": lambda folder: table(folder / "slidevqa.csv", SLIDEVQA),
    "dude": lambda folder: wrapped(folder / "DUDE_gt.json", DUDE),
    "mp-docvqa": lambda folder: wrapped(folder / "data" / "val.json", MP_DOCVQA),
    "slidevqa": lambda folder: lines(folder / "annotations" / "qa" / "dev.jsonl", DECK),
}


@pytest.mark.parametrize("kind", WORLDS)
def test_each_benchmark_is_recognised_by_its_folder_and_by_its_file(tmp_path, kind, monkeypatch):
    file = WORLDS[kind](tmp_path)
    (tmp_path / "README.md").write_text("not a question")
    monkeypatch.chdir(tmp_path)
    by_folder, by_file = recognise(tmp_path), recognise(file.relative_to(tmp_path))
    assert (by_folder.kind, by_folder.file, by_folder.given) == (kind, file, tmp_path)
    assert (by_file.kind, by_file.file, by_file.given) == (kind, file, file.parent)


def test_our_own_questions_go_before_other_files_of_the_folder(tmp_path):
    lines(tmp_path / "answers.jsonl", asked(answered="x"))
    lines(tmp_path / "questions.jsonl", asked())
    assert recognise(tmp_path).file.name == "questions.jsonl"
    assert recognise(tmp_path / "answers.jsonl").file.name == "answers.jsonl"
    (tmp_path / "questions.jsonl").write_text("{broken")
    assert recognise(tmp_path).kind == "folder"


def test_the_highest_questions_are_taken_and_documents_are_not_looked_at(tmp_path):
    array(tmp_path / "results" / "old.json", MMLONGBENCH)
    array(tmp_path / "documents" / "odd.json", MMLONGBENCH)
    array(tmp_path / ".hidden.json", MMLONGBENCH)
    assert recognise(tmp_path).file.name == "old.json"
    array(tmp_path / "samples.json", MMLONGBENCH)
    assert recognise(tmp_path).file.name == "samples.json"


def test_no_benchmark_and_several_are_named_with_what_is_there(tmp_path):
    with pytest.raises(BenchmarkError, match=r"nowhere' does not exist"):
        recognise(tmp_path / "nowhere")
    with pytest.raises(BenchmarkError, match="there is nothing"):
        recognise(tmp_path)
    documents(tmp_path, *(f"note{number}.pdf" for number in range(9)))
    with pytest.raises(BenchmarkError, match=r"'note0\.pdf'.* and 1 more; name a folder .*MMLongBench-Doc.* or VisDoMBench"):
        recognise(tmp_path)
    with pytest.raises(BenchmarkError, match=r"not a known benchmark: there is 'note0\.pdf'"):
        recognise(tmp_path / "note0.pdf")
    (tmp_path / "samples.json").write_text('[{"doc_id" 3}]')
    with pytest.raises(BenchmarkError, match=r"samples\.json' does not begin with a row"):
        recognise(tmp_path)
    WORLDS["visdombench-spiqa"](tmp_path)
    WORLDS["mmlongbench-doc"](tmp_path)
    with pytest.raises(BenchmarkError, match=r"holds 2 benchmarks: 'data/samples\.json', 'spiqa/spiqa\.csv'; name one"):
        recognise(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(BenchmarkError, match=r"closed' cannot be read"):
        recognise(tmp_path)


def test_our_own_layout_is_opened_with_the_documents_that_no_question_names(tmp_path):
    opened = open_benchmark(own(tmp_path / "harbour", asked(), asked("q2", "sub/b c.pdf", answer="x", evidence_pages=[2])))
    assert opened.name == "harbour"
    names = ("a.pdf", "sub/b c.pdf", "unasked.pdf")
    assert opened.documents == {name: str(tmp_path / "harbour/documents" / name) for name in names}
    assert [question.id for question in opened.questions] == ["q1", "q2"] and opened.questions[1].evidence == (("sub/b c.pdf", 2),)


def test_published_benchmarks_are_opened_with_their_documents(tmp_path):
    array(tmp_path / "bench" / "data" / "samples.json", MMLONGBENCH, {**MMLONGBENCH, "answer": "Not answerable"})
    documents(tmp_path / "bench" / "data" / "documents", "lighthouse.pdf")
    opened = open_benchmark(tmp_path / "bench")
    assert opened.name == "mmlongbench-doc"
    assert [question.id for question in opened.questions] == ["mmlongbench-doc-0001", "mmlongbench-doc-0002"]
    lines(tmp_path / "url" / "LongDocURL.jsonl", LONGDOCURL)
    documents(tmp_path / "url", "ccpdf_zip/7000-7999/7000/7000001.pdf")
    assert open_benchmark(tmp_path / "url").documents["7000001.pdf"].endswith("7000/7000001.pdf")
    table(tmp_path / "uda" / "qa" / "feta_qa.csv", FETA, delimiter="|")
    sources = tmp_path / "uda" / "src_doc_files"
    documents(sources, "paper_docs/2601.00010.pdf", "wiki_feta_docs/pdfs/Tern (bird).pdf", "wiki_docs/Tern (bird).pdf")
    opened = open_benchmark(tmp_path / "uda")
    assert opened.name == "uda-feta-tab" and "wiki_feta_docs" in opened.documents["Tern (bird)"]
    table(tmp_path / "slidevqa" / "slidevqa.csv", SLIDEVQA)
    documents(tmp_path / "slidevqa" / "docs", "2601.00001v1.pdf", "2601.00002v1.pdf")
    opened = open_benchmark(tmp_path / "slidevqa")
    assert opened.name == "visdombench-slidevqa" and len(opened.documents) == 2


def test_the_hash_is_of_what_is_asked_and_of_nothing_else(tmp_path):
    first = open_benchmark(own(tmp_path / "one", asked(answer="x")))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    (tmp_path / "two" / "documents" / "a.pdf").write_bytes(b"other bytes")
    assert open_benchmark(tmp_path / "two").hash == first.hash and len(first.hash) == 64
    assert open_benchmark(own(tmp_path / "three", asked(answer="y"))).hash != first.hash
    for name, tag in (("four", "Locating"), ("five", "Reasoning")):
        lines(tmp_path / name / "LongDocURL.jsonl", LONGDOCURL | {"task_tag": tag})
        documents(tmp_path / name, "7000001.pdf")
    four, five = (open_benchmark(tmp_path / name) for name in ("four", "five"))
    assert (four.questions[0].task, five.questions[0].task) == ("Locating", "Reasoning") and four.hash == five.hash


def test_an_id_given_twice_is_numbered_in_a_published_benchmark_and_an_error_in_our_own(tmp_path):
    table(tmp_path / "feta_qa.csv", FETA, FETA, {**FETA, "q_uid": "7-2"}, FETA, delimiter="|")
    documents(tmp_path, "Tern (bird).pdf")
    assert [question.id for question in open_benchmark(tmp_path).questions] == ["7", "7-3", "7-2", "7-4"]
    with pytest.raises(BenchmarkError, match=r"line 2: column 'id' holds 'q1' again, as .*questions\.jsonl, line 1"):
        open_benchmark(own(tmp_path / "own", asked(), asked()))


def test_half_a_character_is_an_error(tmp_path):
    with pytest.raises(BenchmarkError, match=r"questions\.jsonl' holds a text that is not Unicode"):
        open_benchmark(own(tmp_path, asked(question="\ud800")))


def found(names, *folders):
    return find_documents(names, folders, named_by=folders[0] / "q.json")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("a.pdf", "a.pdf"),
        ("a.pdf", "7000/7000-7999/a.pdf"),
        ("x/a.pdf", "deep/x/a.pdf"),
        ("2601.00010", "paper_docs/2601.00010.pdf"),
        ("Tern (bird)", "htmls/Tern (bird).html"),
        ("AC/DC", "AC_DC.pdf"),
        ("[a]*.pdf", "[a]_.pdf"),
        (unicodedata.normalize("NFC", "Café.pdf"), unicodedata.normalize("NFD", "Café.pdf")),
    ],
)
def test_a_document_is_found_by_its_name(tmp_path, name, file, monkeypatch):
    documents(tmp_path / "docs", file, "b.pdf")
    monkeypatch.chdir(tmp_path)
    assert found([name, name], (tmp_path / "docs").relative_to(tmp_path)) == {name: str(tmp_path / "docs" / file)}


def test_pdf_goes_before_html_the_first_folder_before_the_second_and_the_higher_path_before_the_deeper(tmp_path):
    documents(tmp_path, "one/pdfs/Tern.pdf", "one/htmls/Tern.html", "two/Tern.pdf", "x/a.pdf", "a.pdf")
    assert found(["Tern"], tmp_path / "none", tmp_path / "one", tmp_path / "two") == {"Tern": str(tmp_path / "one/pdfs/Tern.pdf")}
    assert found(["a.pdf", "x/a.pdf"], tmp_path) == {"a.pdf": str(tmp_path / "a.pdf"), "x/a.pdf": str(tmp_path / "x/a.pdf")}
    documents(tmp_path, "x/b.pdf", "y/b.pdf")
    with pytest.raises(BenchmarkError, match=r"document 'b\.pdf' may be '.*x/b\.pdf' or '.*y/b\.pdf'"):
        found(["b.pdf"], tmp_path)


def test_missing_documents_are_counted_three_are_named_with_the_folders(tmp_path):
    documents(tmp_path, "a.pdf")
    missing = f"4 of 5 documents that {str(tmp_path / 'q.json')!r} names are not there: 'b', 'c', 'd' and 1 more"
    with pytest.raises(BenchmarkError, match=re.escape(f"{missing}; looked in {str(tmp_path)!r}, {str(tmp_path / 'more')!r};")):
        found(["a.pdf", "b", "c", "d", "e"], tmp_path, tmp_path / "more")


def test_links_are_followed_circles_end_and_nothing_else_outside_or_hidden_is_a_document(tmp_path):
    documents(tmp_path, "store/a.pdf", "secret.pdf", "docs/.cache/b.pdf", "docs/zc.pdf")
    docs = tmp_path / "docs"
    (docs / "linked").symlink_to(tmp_path / "store")
    (tmp_path / "store" / "loop").symlink_to(docs)
    assert found(["a.pdf"], docs) == {"a.pdf": str(docs / "linked/a.pdf")}
    (docs / "d.pdf").mkdir()
    (docs / "e.pdf").symlink_to(tmp_path / "gone")
    os.mkfifo(docs / "f.pdf")
    names = ["../secret.pdf", str(tmp_path / "secret.pdf"), "b.pdf", "c.pdf", "d.pdf", "e.pdf", "f.pdf"]
    with pytest.raises(BenchmarkError, match="7 of 7"):
        found(names, docs)


def test_wrapped_records_are_opened_with_their_documents_and_only_the_head_of_a_large_file_tells_what_it_is(tmp_path):
    many = [DUDE | {"questionId": f"ab12_{number}", "answers": ["a pier " * 40]} for number in range(4000)]
    file = wrapped(tmp_path / "DUDE_gt.json", *many)
    assert file.stat().st_size > HEAD_BYTES
    documents(tmp_path / "PDF", "val/ab12.pdf")
    found = open_benchmark(tmp_path)
    assert (found.name, len(found.questions)) == ("dude", 4000) and found.documents["ab12"].endswith("PDF/val/ab12.pdf")
    file.write_text('{"dataset_name": "DUDE Dataset", "data": [{3}]}')
    with pytest.raises(BenchmarkError, match="does not begin with a row of questions"):
        open_benchmark(tmp_path)
