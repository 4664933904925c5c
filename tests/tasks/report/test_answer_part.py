"""The question's answer: its status in words, its numbers as links, its quotes only while their documents are there."""

import re

import pytest

from storage.answer_records import AnswerStatus, NamedDocument
from tasks.report.answer_part import show_answer, show_citations, show_verdict
from tests.storage.worlds import document_id
from tests.tasks.report.report_worlds import a_node, a_record, an_answer, cite, evidence_of

PAPER = a_record(document_id("paper"), "paper.pdf")
NODE = a_node(PAPER.id, 0, "the words", section_path=("One", "Two"))
EVIDENCE = evidence_of(NODE, records=(PAPER,))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (AnswerStatus.ANSWERED, "✓</span> Answered<"),
        (AnswerStatus.PARTIAL, "◐</span> Answered in part<"),
        (AnswerStatus.EVIDENCE, "❝</span> Evidence<"),
        (AnswerStatus.NOT_FOUND, "○</span> Not found<"),
    ],
)
def test_the_verdict_says_status_and_why_and_no_percentage(status, words):
    shown = show_verdict(an_answer(status=status))
    assert words in shown and "two paths agree" in shown and "%" not in shown


def test_above_evidence_stands_that_no_model_read_it_and_nothing_above_an_answer():
    head = '<p class="head">Evidence found, not read by a model:</p>'
    assert show_answer(an_answer(status=AnswerStatus.EVIDENCE)).startswith(head)
    assert "head" not in show_answer(an_answer())


def test_numbers_in_the_answer_lead_to_citations_that_are_there():
    shown = show_answer(an_answer((cite(NODE, PAPER),), answer="So [1], not [2] or [0].\n\nAnd <b>so</b>."))
    assert re.findall('href="([^"]*)"', shown) == ["#citation-1"]
    assert "not [2] or [0]." in shown
    assert shown.count("<p ") == 2
    assert "&lt;b&gt;" in shown


def test_an_answer_without_words_says_why():
    assert "Nothing in these documents" in show_answer(an_answer(answer="", status=AnswerStatus.NOT_FOUND))
    assert "document that was removed" in show_answer(an_answer(answer=" "))


def test_a_citation_quotes_and_says_where_and_leads_to_its_box():
    shown = show_citations([cite(NODE, PAPER)], EVIDENCE, {1: "box-1"})
    assert '<li id="citation-1"><a class="number" href="#box-1"' in shown
    assert "the words</blockquote>" in shown
    assert "page 1" in shown and "Two" in shown
    assert "any more" not in shown


def test_a_citation_of_a_removed_document_says_so_and_no_more():
    gone = cite(NODE, PAPER, "secret words", document=NamedDocument("f" * 64, "gone.pdf"))
    shown = show_citations([gone], evidence_of(NODE, records=(PAPER,), removed=frozenset({"f" * 64})), {})
    assert "The document was removed." in shown
    assert "secret" not in shown
    assert "href" not in shown


def test_a_citation_of_a_replaced_document_keeps_its_words_and_says_so():
    before = cite(NODE, PAPER, "earlier words", document=NamedDocument("f" * 64, "paper.pdf"))
    shown = show_citations([before], EVIDENCE, {})
    assert "earlier words</blockquote>" in shown
    assert "The document was replaced, or read again, since this was answered" in shown
    silent = show_citations([cite(NODE, PAPER, "", document=before.document)], EVIDENCE, {})
    assert "The document is not in the corpus any more." in silent
    assert "removed" not in shown + silent and "quoted here" not in silent


def test_a_quote_that_is_empty_and_a_node_that_is_gone_are_told():
    assert "No words are quoted here." in show_citations([cite(NODE, PAPER, "")], EVIDENCE, {})
    assert "read again with other settings" in show_citations([cite(NODE, PAPER, node_id="e" * 64)], EVIDENCE, {})
