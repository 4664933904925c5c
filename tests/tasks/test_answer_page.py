"""The page of an answer says what was said and where it stands, and obeys nothing of it."""

import base64
import re
from dataclasses import replace
from pathlib import Path

from storage.answer_records import AnswerStatus, Confidence
from tasks.answer_page import PICTURE_BYTES, answer_markdown, page_key
from tasks.keeping_reports import KeptReport
from tests.storage.answer_worlds import answer

KEPT = KeptReport(Path("/home/reports/a.html"), "<svg/>")


def test_the_answer_its_citations_the_graph_and_the_report_are_there():
    page = answer_markdown(answer("report", "paper"), KEPT)
    assert page.startswith("# How many\\?\n\nwords of report words of paper\n\n**answered\\, 75\\% sure**")
    assert "**[1]** report\\.pdf\\, page 2\\, heading of report\n\n> words of report" in page and "**[2]** paper\\.pdf" in page
    assert f"(data:image/svg+xml;base64,{base64.b64encode(b'<svg/>').decode()})" in page
    assert "\\/home\\/reports\\/a\\.html" in page


def test_markup_of_documents_and_people_is_text():
    hostile = replace(answer("report"), answer="<script>x</script> ![a](http://x)", question="[q](http://y)", notes=("<b>n</b>",))
    page = answer_markdown(hostile, KEPT)
    assert not re.search(r"(?<!\\)<", page) and "](http" not in page and "> \\<b\\>n" in page


def test_an_answer_without_words_says_why_and_a_huge_graph_is_left_to_the_report():
    silent = replace(answer(), answer="", status=AnswerStatus.NOT_FOUND, confidence=Confidence(0.0, "nothing"))
    page = answer_markdown(silent, KeptReport(KEPT.path, "x" * (PICTURE_BYTES + 1)))
    assert "Nothing in these documents answers it." in page and "## Evidence" not in page and "data:" not in page
    assert "Its words are gone." in answer_markdown(replace(answer("report"), answer=""), KeptReport(KEPT.path, ""))


def test_the_key_is_one_that_prefect_takes():
    key = page_key(answer("report").answer_id)
    assert key == key.lower() and key.replace("-", "").isalnum()
