"""What a report shows is gathered from a real corpus; a report is written whole or not at all and says what is missing."""

import os
import re
from dataclasses import replace

import pytest

from storage.locations import reports_folder
from storage.records.answers import NamedDocument, PagePlace
from storage.runs.answers import without_words
from storage.system import DiskFullError, NotWritableError
from tasks.report.evidence import gather_evidence
from tasks.report.write import keep_report, render_report, write_report
from tests.asking_worlds import TORQUE, answer_to
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import (
    BOX,
    DOCX,
    PPTX,
    ROTATED_BOX,
    a_path,
    a_record,
    an_answer,
    cite,
    evidence_of,
    squares_and_letter,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with squares_and_letter(tmp_path_factory.mktemp("world")) as world:
        yield world


def gather(world, answer):
    return gather_evidence(answer, world.snapshot, world.artifacts)


def test_a_page_carries_the_boxes_of_its_citations_each_box_once(world):
    _, _, paper, nodes, _, _ = world
    low = (0.1, 0.8, 0.2, 0.9)
    answer = an_answer((cite(nodes[0], paper), cite(nodes[1], paper), cite(nodes[2], paper, box=low), cite(nodes[2], paper)))
    evidence = gather(world, answer)
    assert [(sheet.page, [(mark.box, mark.numbers) for mark in sheet.marks]) for sheet in evidence.sheets] == [
        (1, [(BOX, (1, 4)), (low, (3,))]),
        (2, [(ROTATED_BOX, (2,))]),
    ]
    assert all(sheet.picture and not sheet.exhibits for sheet in evidence.sheets)
    assert evidence.left_out == ()
    assert evidence.labels == {(paper.id, 1): "iii", (paper.id, 2): "iii"}


def test_what_has_no_page_is_shown_itself_with_its_crop(world):
    *_, letter, parts = world
    evidence = gather(world, an_answer(tuple(cite(part, letter, box=None) for part in (*parts[:2], parts[0]))))
    [sheet] = evidence.sheets
    assert sheet.picture is None
    assert sheet.remark == ""
    assert [(exhibit.node, exhibit.numbers) for exhibit in sheet.exhibits] == [(parts[0], (1, 3)), (parts[1], (2,))]
    assert sheet.exhibits[0].crop is None and sheet.exhibits[1].crop.width == 256
    assert evidence.left_out == ()


def test_a_crop_that_is_gone_is_reported(world):
    *_, letter, parts = world
    evidence = gather(world, an_answer((cite(parts[3], letter, box=None),)))
    assert evidence.sheets[0].exhibits[0].crop is None
    assert "a figure on page 1 of letter.docx: its picture is missing or damaged" in evidence.left_out[0]


def test_a_citation_without_a_box_stands_below_the_page_of_the_others(world):
    _, _, paper, nodes, _, _ = world
    [sheet] = gather(world, an_answer((cite(nodes[0], paper), cite(nodes[2], paper, box=None)))).sheets
    assert [mark.numbers for mark in sheet.marks] == [(1,)]
    assert [exhibit.numbers for exhibit in sheet.exhibits] == [(2,)]


def test_no_more_pages_are_drawn_than_allowed_and_the_rest_is_reported(world, monkeypatch):
    _, _, paper, nodes, _, _ = world
    monkeypatch.setattr("tasks.report.evidence.PAGES_DRAWN", 1)
    evidence = gather(world, an_answer((cite(nodes[0], paper), cite(nodes[1], paper))))
    assert [sheet.picture is not None for sheet in evidence.sheets] == [True, False]
    assert evidence.left_out == ("the picture of page 2 of squares.pdf: only 1 pages are drawn in a report",)
    assert evidence.sheets[1].exhibits[0].node == nodes[1]


def test_pictures_that_make_the_file_too_large_are_left_out(world, monkeypatch):
    _, _, paper, nodes, _, _ = world
    monkeypatch.setattr("tasks.report.evidence.PICTURE_CHARACTERS", 850)
    evidence = gather(world, an_answer((cite(nodes[0], paper),)))
    assert evidence.sheets[0].picture is None
    assert "too large" in evidence.left_out[0]


def test_what_the_corpus_does_not_hold_is_left_out_and_odd_ids_name_nothing(world):
    _, _, paper, nodes, _, _ = world
    gone = replace(cite(nodes[0], paper), document=NamedDocument("f" * 64, "gone.pdf"))
    odd = replace(cite(nodes[0], paper), document=NamedDocument("' OR true", "odd.pdf"), node_id="' OR true")
    lost = replace(cite(nodes[0], paper), node_id="e" * 64)
    evidence = gather(world, an_answer((gone, odd, lost), (a_path(0.5, nodes[3]),)))
    assert [sheet.document.id for sheet in evidence.sheets] == [paper.id]
    assert evidence.sheets[0].marks[0].numbers == (3,)
    assert set(evidence.nodes) == {nodes[0].id, nodes[3].id}


def test_no_page_is_drawn_that_is_not_there_or_for_elements_without_boxes(world):
    _, _, paper, nodes, _, _ = world
    for citation in (cite(nodes[0], paper, page=99), cite(nodes[0], paper, box=None)):
        [sheet] = gather(world, an_answer((citation,))).sheets
        assert sheet.picture is None and sheet.exhibits[0].node == nodes[0]


PAPER, DECK, LETTER = document_id("paper"), document_id("deck"), document_id("letter")
NAMES = evidence_of(
    records=(
        a_record(PAPER, "paper.pdf"),
        a_record(DECK, "deck.pptx", media_type=PPTX),
        a_record(LETTER, "letter.docx", media_type=DOCX),
    ),
    labels={(PAPER, 3): "iii", (PAPER, 4): "4"},
)


def test_pages_slides_and_documents_without_pages_are_named():
    places = {
        (PAPER, 3): "page 3 (printed iii)",
        (PAPER, 4): "page 4",
        (DECK, 2): "slide 2",
        (LETTER, 1): "",
        ("f" * 64, 2): "page 2",
    }
    assert {(id, page): NAMES.place(PagePlace(NamedDocument(id, "?"), page)) for id, page in places} == places


@pytest.fixture(scope="module")
def reported(world):
    """An answer from the squares and the letter, and what its report is made of."""
    snapshot, artifacts, paper, (square, *_), letter, (table, *_) = world
    citations = (cite(square, paper), cite(table, letter, "Part: Gearbox | Every: 6 months"))
    return snapshot, artifacts, an_answer(citations, (a_path(0.5, square, table, names={paper.id: paper.name}),))


def test_the_report_is_one_file_that_holds_everything(reported, tmp_path):
    snapshot, artifacts, answer = reported
    assert write_report(answer, snapshot, artifacts, tmp_path / "report.html") == ()
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
    assert page.count("data:image/webp;base64,") == 1
    assert '<tr class="cited">' in page
    assert not re.search("https?://", page)


def test_of_an_answer_that_lost_its_words_the_report_says_that_the_document_was_removed(reported):
    snapshot, artifacts, answer = reported
    gone = NamedDocument("f" * 64, "gone.pdf")
    citations = (replace(answer.citations[0], document=gone, quote="secret words", section=("secret head",)), answer.citations[1])
    path = replace(
        answer.paths[0], answer="secret finding", pages=tuple(replace(place, document=gone) for place in answer.paths[0].pages)
    )
    told = replace(answer, citations=citations, paths=(path,), answer="a secret answer")
    page = render_report(without_words(told, {gone.id}), snapshot, artifacts).html
    assert "secret" not in page
    assert "The document was removed or replaced since this was answered." in page and "gone.pdf was removed" in page
    assert "Gearbox" in page


def test_a_missing_folder_and_a_path_that_is_no_file_are_refused_before_any_work(reported, tmp_path):
    snapshot, artifacts, answer = reported
    with pytest.raises(NotWritableError, match="does not exist; make it"):
        write_report(answer, snapshot, artifacts, tmp_path / "missing" / "report.html")
    assert not (tmp_path / "missing").exists()
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(NotWritableError, match="not a plain file"):
            write_report(answer, snapshot, artifacts, path)


def test_a_full_disk_leaves_the_old_report_and_says_how_much_is_needed(reported, tmp_path, monkeypatch):
    snapshot, artifacts, answer = reported
    path = tmp_path / "report.html"
    path.write_text("the old one")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match="needs about 1 MB"):
        write_report(answer, snapshot, artifacts, path)
    assert path.read_text() == "the old one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_a_folder_that_may_not_be_written_is_named(reported, tmp_path, monkeypatch):
    snapshot, artifacts, answer = reported

    def refused(*given, **more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    with pytest.raises(NotWritableError, match=r"report\.html' cannot be written: Permission denied"):
        write_report(replace(answer, citations=()), snapshot, artifacts, tmp_path / "report.html")


def test_the_report_lies_in_the_folder_under_the_answers_id_and_names_its_documents(in_asked_home):
    reports_folder().mkdir(exist_ok=True)
    answer = answer_to(TORQUE)
    kept = keep_report(answer)
    assert kept == reports_folder() / f"{answer.answer_id}.html"
    page = kept.read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and answer.citations[0].document.id in page.splitlines()[-1]
