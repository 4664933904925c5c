"""A list that is asked for stays one answer, alternatives are several, and a refusal is none."""

import json

import pytest

from storage.evaluation_records import BenchmarkQuestion
from tasks.benchmarks.answers import alternatives, annotated_question, refused
from tasks.benchmarks.rows import BenchmarkError, Row

ASKED = BenchmarkQuestion(id="q", text="Which?", documents=("a.pdf", "b.pdf"), document_type="Map")


def annotated(**cells):
    return annotated_question(Row("q.json, record 1", 1, cells), ASKED, holder="b.pdf")


@pytest.mark.parametrize("answer", ["['oak', \"ash's\"]", ["oak", "ash's"]])
def test_a_list_is_one_answer_as_a_json_array(answer):
    (said,) = annotated(answer=answer, answer_format="List").answers
    assert json.loads(said) == ["oak", "ash's"]


def test_a_real_list_is_of_format_list_whatever_is_written():
    question = annotated(answer=["Öl", 3])
    assert question.answers == ('["Öl", "3"]',) and question.answer_format == "List"


def test_a_list_that_cannot_be_read_stays_text():
    assert annotated(answer="['oak', 'ash", answer_format="List").answers == ("['oak', 'ash",)


def test_a_text_that_looks_like_a_list_stays_text():
    assert annotated(answer="[1]", answer_format="Str").answers == ("[1]",)


@pytest.mark.parametrize(("answer", "said"), [(5, "5"), (2.5, "2.5"), (True, "Yes"), (False, "No"), (" x ", "x")])
def test_an_answer_is_text(answer, said):
    assert annotated(answer=answer).answers == (said,)


def test_an_answer_that_is_an_object_is_an_error():
    with pytest.raises(BenchmarkError, match="record 1: column 'answer' holds"):
        annotated(answer={"a": 1})


def test_formats_have_one_name_each():
    assert annotated(answer=5, answer_format="Integer").answer_format == "Int"
    assert annotated(answer="x", answer_format="String").answer_format == "Str"
    assert annotated(answer=".5", answer_format="Float").answer_format == "Float"


@pytest.mark.parametrize("answer", ["Not answerable", "not answerable.", "Unanswerable"])
def test_a_refusal_is_no_answer_and_keeps_its_pages(answer):
    question = annotated(answer=answer, answer_format="None", evidence_pages="[3]")
    assert not question.answerable and question.answers == () and question.evidence == (("b.pdf", 3),)


def test_no_format_and_no_page_is_not_answerable():
    assert not annotated(answer="", answer_format="None", evidence_pages=[]).answerable
    assert annotated(answer="x", answer_format="None", evidence_pages=[2]).answers == ("x",)


def test_an_answer_that_nobody_wrote_down_leaves_the_question_answerable():
    question = annotated(evidence_pages=[])
    assert question.answerable and question.answers == () and question.answer_format == ""


def test_evidence_is_of_its_holder_and_the_rest_is_kept():
    question = annotated(answer="x", evidence_pages="[9, 1]", evidence_sources="['Chart']")
    assert question.evidence == (("b.pdf", 9), ("b.pdf", 1)) and question.evidence_sources == ("Chart",)
    assert (question.id, question.text, question.documents, question.document_type) == ("q", "Which?", ("a.pdf", "b.pdf"), "Map")


def test_alternatives_say_something_and_differ():
    assert alternatives([" a", "", "b ", "a", " "]) == ("a", "b")


def test_only_refusals_refuse():
    assert refused(["Unanswerable", "not answerable"])
    assert not refused([]) and not refused([" "]) and not refused(["Unanswerable", "7"])
