"""The three questions of `make demo` find the right evidence, on the right pages: two of them, a row, the words of a figure."""

import json
import re
import shlex
import shutil

import pytest

from flows.cli.arguments.commands import build_parser
from flows.cli.demo_command import LOCAL_QUESTION
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


@pytest.fixture
def home(whole_world, tmp_path):
    return shutil.copytree(whole_world / "home", tmp_path / "home")


def test_the_command_shows_each_step_and_how_to_go_on(home, answers, monkeypatch):
    monkeypatch.setenv("FLOWREADER_LOCAL_MODEL", "/nowhere.gguf")
    shown = flowreader("demo", home=home, check=0).stdout
    commands = [shlex.split(line) for line in re.findall(r"^\$ flowreader (.*)$", shown, re.MULTILINE)]
    assert [words[0] for words in commands] == ["ingest", "ask"]
    assert all(answer["question"] in shown for answer in answers) and "7 documents" in shown
    assert "there is no model file '/nowhere.gguf'" in shown
    for words in re.findall(r": flowreader (.*)$", shown, re.MULTILINE):
        build_parser().parse_args(shlex.split(words))


def test_a_corpus_of_the_same_name_with_other_documents_is_left_alone(home, tmp_path, monkeypatch):
    (tmp_path / "corpus").mkdir()
    monkeypatch.setattr("flows.cli.demo_command.FOLDER", tmp_path)
    refused = flowreader("demo", home=home, check=2)
    assert "'demo' holds documents that are not the demo's, such as" in refused.stderr


@pytest.mark.torture
def test_a_model_of_this_machine_answers_the_fourth_with_its_proof(home):
    answer = json.loads(flowreader("ask", "--local", LOCAL_QUESTION, "--corpus", "demo", "--json", home=home, check=0).stdout)
    assert answer["status"] == "answered" and "4.5 pence" in answer["answer"], answer
    assert "4.5 pence" in quoted(answer) and answer["usage"]["calls"] == 1
