"""A report is written whole or not at all, holds what its snapshot holds, and says what is missing."""

import os
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from storage.locations import reports_folder
from storage.records.answers import NamedDocument
from storage.runs.answers import without_words
from storage.system import DiskFullError, NotWritableError
from tasks.report.write import keep_report, render_report, write_report
from tests.asking_worlds import TORQUE, answer_to
from tests.tasks.report.report_worlds import a_path, an_answer, cite, squares_and_letter


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A corpus of squares and a letter, and an answer from both."""
    with squares_and_letter(tmp_path_factory.mktemp("world")) as (snapshot, artifacts, paper, (square, *_), letter, (table, *_)):
        citations = (cite(square, paper), cite(table, letter, "Part: Gearbox | Every: 6 months"))
        yield snapshot, artifacts, an_answer(citations, (a_path(0.5, square, table, names={paper.id: paper.name}),))


def test_the_report_is_one_file_that_holds_everything(world, tmp_path):
    snapshot, artifacts, answer = world
    assert write_report(answer, snapshot, artifacts, tmp_path / "report.html") == ()
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
    assert page.count("data:image/webp;base64,") == 1
    assert '<tr class="cited">' in page
    assert not re.search("https?://", page)


def test_what_is_left_out_is_returned(world, tmp_path, monkeypatch):
    snapshot, artifacts, answer = world
    monkeypatch.setattr("tasks.report.evidence.PAGES_DRAWN", 0)
    left_out = ("the picture of page 1 of squares.pdf: only 0 pages are drawn in a report",)
    assert write_report(answer, snapshot, artifacts, tmp_path / "report.html") == left_out


def test_of_an_answer_that_lost_its_words_the_report_says_that_the_document_was_removed(world):
    snapshot, artifacts, answer = world
    gone = NamedDocument("f" * 64, "gone.pdf")
    citations = (replace(answer.citations[0], document=gone, quote="secret words", section=("secret head",)), answer.citations[1])
    path = replace(
        answer.paths[0], answer="secret finding", pages=tuple(replace(place, document=gone) for place in answer.paths[0].pages)
    )
    told = replace(answer, citations=citations, paths=(path,), answer="a secret answer")
    page = render_report(without_words(told, {gone.id}), snapshot, artifacts).html
    assert "secret" not in page
    assert "The document was removed." in page
    assert "Gearbox" in page


def test_a_missing_folder_and_a_path_that_is_no_file_are_refused_before_any_work(world, tmp_path):
    snapshot, artifacts, answer = world
    with pytest.raises(NotWritableError, match="does not exist; make it"):
        write_report(answer, snapshot, artifacts, tmp_path / "missing" / "report.html")
    assert not (tmp_path / "missing").exists()
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(NotWritableError, match="no plain file"):
            write_report(answer, snapshot, artifacts, path)


def test_a_full_disk_leaves_the_old_report_and_says_how_much_is_needed(world, tmp_path, monkeypatch):
    snapshot, artifacts, answer = world
    path = tmp_path / "report.html"
    path.write_text("the old one")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match="needs about 1 MB"):
        write_report(answer, snapshot, artifacts, path)
    assert path.read_text() == "the old one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_that_may_not_be_written_is_named(world, tmp_path, monkeypatch):
    snapshot, artifacts, answer = world

    def refused(*given, **more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    with pytest.raises(NotWritableError, match=r"report\.html' cannot be written: Permission denied"):
        write_report(replace(answer, citations=()), snapshot, artifacts, tmp_path / "report.html")


def test_the_report_lies_in_the_folder_under_the_answers_id_and_names_its_documents(in_asked_home):
    reports_folder().mkdir(exist_ok=True)
    answer = answer_to(TORQUE)
    kept = keep_report(answer)
    assert kept.path == reports_folder() / f"{answer.answer_id}.html"
    page = kept.path.read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and answer.citations[0].document.id in page.splitlines()[-1]
    assert ElementTree.fromstring(kept.graph).tag == "{http://www.w3.org/2000/svg}svg"
