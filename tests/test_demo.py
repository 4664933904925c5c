"""The three questions of `make demo` find the right evidence, on the right pages: two of them, a row, the words of a figure."""

import json
import re
import shutil

import pytest

from tests.program import CORPUS, flowreader

QUESTIONS = CORPUS.parent / "demo_questions.txt"


@pytest.fixture(scope="module")
def answers(whole_world, tmp_path_factory):
    """What is answered, by the question's place in the file."""
    home = shutil.copytree(whole_world / "home", tmp_path_factory.mktemp("demo") / "home")
    done = flowreader("ask", "--batch", QUESTIONS, "--corpus", "demo", "--json", home=home, check=0)
    return [json.loads(line) for line in done.stdout.splitlines()]


def places(answer):
    return [(citation["document"]["name"], citation["page"], citation["modality"]) for citation in answer["citations"]]


def quoted(answer):
    return " ".join(citation["quote"] for citation in answer["citations"])


def test_a_question_of_two_parts_finds_both_pages(answers):
    assert "184.6" in quoted(answers[0]) and "934" in quoted(answers[0]) and answers[0]["status"] == "evidence"
    assert {place[:2] for place in places(answers[0])} >= {("annual_report.pdf", 5), ("annual_report.pdf", 10)}


def test_a_row_of_a_table_is_quoted_whole_and_told_by_its_column(answers):
    assert "1,850" in quoted(answers[1]) and answers[1]["status"] == "evidence"
    assert places(answers[1])[0] == ("maintenance_manual.docx", 1, "table")


def test_the_words_in_a_figure_are_quoted(answers):
    assert "Braye yard 212" in quoted(answers[2]) and answers[2]["status"] == "evidence"
    assert places(answers[2])[0] == ("annual_report.pdf", 11, "figure")


def test_every_citation_has_its_box_where_the_page_has_places(answers):
    for citation in (citation for answer in answers for citation in answer["citations"]):
        assert (citation["box"] is None) == (citation["document"]["name"] == "maintenance_manual.docx")
        assert citation["quote"]


@pytest.mark.torture
def test_a_model_of_this_machine_answers_the_fourth_with_its_proof(whole_world, tmp_path):
    question = re.search(r"^LOCAL_QUESTION := (.*)$", (CORPUS.parents[1] / "Makefile").read_text(), re.MULTILINE)[1]
    home = shutil.copytree(whole_world / "home", tmp_path / "home")
    answer = json.loads(flowreader("ask", "--local", question, "--corpus", "demo", "--json", home=home, check=0).stdout)
    assert answer["status"] == "answered" and "4.5 pence" in answer["answer"], answer
    assert "4.5 pence" in quoted(answer) and answer["usage"]["calls"] == 1
