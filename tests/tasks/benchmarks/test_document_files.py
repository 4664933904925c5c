"""Documents are found by name at any depth, and those that are not there are told."""

import os
import re
import unicodedata

import pytest

from tasks.benchmarks.document_files import find_documents
from tasks.benchmarks.rows import BenchmarkError
from tests.tasks.benchmarks.benchmark_worlds import documents


def found(names, *folders):
    return find_documents(names, folders, named_by=folders[0] / "q.json")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("a.pdf", "a.pdf"),
        ("a.pdf", "7000/7000-7999/a.pdf"),
        ("x/a b.pdf", "x/a b.pdf"),
        ("x/a.pdf", "deep/x/a.pdf"),
        ("2601.00010", "paper_docs/2601.00010.pdf"),
        ("Tern (bird)", "htmls/Tern (bird).html"),
        ("AC/DC", "AC_DC.pdf"),
        ("CSI: Pier.pdf", "CSI_ Pier.pdf"),
        ("[a]*.pdf", "[a]_.pdf"),
    ],
)
def test_a_document_is_found_by_its_name(tmp_path, name, file):
    documents(tmp_path, file)
    assert found([name], tmp_path) == {name: str(tmp_path / file)}


def test_only_documents_that_are_named_are_returned_each_once(tmp_path):
    documents(tmp_path, "a.pdf", "b.pdf", "c.pdf")
    assert list(found(["b.pdf", "a.pdf", "b.pdf"], tmp_path)) == ["b.pdf", "a.pdf"]


def test_paths_are_absolute(tmp_path, monkeypatch):
    documents(tmp_path / "docs", "a.pdf")
    monkeypatch.chdir(tmp_path)
    assert found(["a.pdf"], (tmp_path / "docs").relative_to(tmp_path)) == {"a.pdf": str(tmp_path / "docs" / "a.pdf")}


def test_an_accent_may_be_written_in_two_ways(tmp_path):
    name = "Café.pdf"
    documents(tmp_path, unicodedata.normalize("NFD", name))
    assert list(found([unicodedata.normalize("NFC", name)], tmp_path)) == [name]


def test_the_end_of_a_name_is_not_the_name(tmp_path):
    documents(tmp_path, "DC.pdf", "za.pdf")
    with pytest.raises(BenchmarkError, match="2 of 2"):
        found(["AC/DC", "a.pdf"], tmp_path)


def test_pdf_goes_before_html_and_the_first_folder_before_the_second(tmp_path):
    documents(tmp_path, "one/pdfs/Tern.pdf", "one/htmls/Tern.html", "two/Tern.pdf")
    assert found(["Tern"], tmp_path / "none", tmp_path / "one", tmp_path / "two") == {"Tern": str(tmp_path / "one/pdfs/Tern.pdf")}


def test_the_path_itself_goes_before_a_deeper_one(tmp_path):
    documents(tmp_path, "x/a.pdf", "a.pdf")
    assert found(["a.pdf", "x/a.pdf"], tmp_path) == {"a.pdf": str(tmp_path / "a.pdf"), "x/a.pdf": str(tmp_path / "x/a.pdf")}


def test_two_files_of_one_name_are_an_error_that_names_both(tmp_path):
    documents(tmp_path, "x/a.pdf", "y/a.pdf")
    with pytest.raises(BenchmarkError, match=r"document 'a\.pdf' may be '.*x/a\.pdf' or '.*y/a\.pdf'"):
        found(["a.pdf"], tmp_path)


def test_missing_documents_are_counted_three_are_named_and_the_folders_told(tmp_path):
    documents(tmp_path, "a.pdf")
    missing = f"4 of 5 documents that {str(tmp_path / 'q.json')!r} names are not there: 'b', 'c', 'd' and 1 more"
    told = f"{missing}; looked in {str(tmp_path)!r};"
    with pytest.raises(BenchmarkError, match=re.escape(told)):
        found(["a.pdf", "b", "c", "d", "e"], tmp_path)
    with pytest.raises(BenchmarkError, match=r"there: 'b', 'c'; looked in '.*', '.*more'"):
        found(["b", "c"], tmp_path, tmp_path / "more")


def test_nothing_outside_the_folders_is_reached(tmp_path):
    documents(tmp_path, "secret.pdf", "docs/a.pdf")
    with pytest.raises(BenchmarkError, match="2 of 2"):
        found(["../secret.pdf", str(tmp_path / "secret.pdf")], tmp_path / "docs")


def test_links_are_followed_and_circles_end(tmp_path):
    documents(tmp_path / "store", "a.pdf")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "docs").symlink_to(tmp_path / "store")
    (tmp_path / "store" / "loop").symlink_to(tmp_path / "b")
    assert found(["a.pdf"], tmp_path / "b") == {"a.pdf": str(tmp_path / "b/docs/a.pdf")}


def test_what_is_hidden_or_no_file_is_no_document(tmp_path):
    documents(tmp_path, ".cache/a.pdf")
    (tmp_path / "b.pdf").mkdir()
    (tmp_path / "c.pdf").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "d.pdf")
    with pytest.raises(BenchmarkError, match="4 of 4"):
        found(["a.pdf", "b.pdf", "c.pdf", "d.pdf"], tmp_path)
