"""A kept report is a page of its own that names its documents, and comes with its graph."""

from xml.etree import ElementTree

from storage.locations import reports_folder
from tasks.keeping_reports import keep_report
from tests.asking_worlds import TORQUE, answer_to


def test_the_report_lies_in_the_folder_under_the_answers_id_and_names_its_documents(in_asked_home):
    reports_folder().mkdir(exist_ok=True)
    answer = answer_to(TORQUE)
    kept = keep_report(answer)
    assert kept.path == reports_folder() / f"{answer.answer_id}.html"
    page = kept.path.read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and answer.citations[0].document.id in page.splitlines()[-1]
    assert ElementTree.fromstring(kept.graph).tag == "{http://www.w3.org/2000/svg}svg"


def test_an_answer_without_paths_has_no_graph(in_asked_home):
    reports_folder().mkdir(exist_ok=True)
    assert keep_report(answer_to(TORQUE, reader="top-k")).graph == ""
