"""The page of an answer says what was said and where it stands, and obeys nothing of it."""

import base64
import re
from dataclasses import replace
from pathlib import Path

from storage.answer_records import AnswerStatus
from tasks.answer_page import PICTURE_BYTES, answer_markdown, page_key
from tasks.reporting import KeptReport
from tests.storage.answer_worlds import answer

KEPT = KeptReport(Path("/home/reports/a.html"), "<svg/>")


GOLDEN = f"""\
# How many\\?

**Evidence found\\, not read by a model\\:**

words of report

evidence\\: two of nine

## Evidence

**[1]** report\\.pdf\\, page 2\\, heading of report

> words of report

![evidence graph](data:image/svg+xml;base64,{base64.b64encode(b"<svg/>").decode()})

> extractive

Corpus default, snapshot 3; 3 model calls. \
The report, with the cited pages, is in \\/home\\/reports\\/a\\.html; \
`flowreader answers show abababab --corpus default` shows the answer again. """


def test_the_evidence_its_citations_the_graph_and_the_report_are_there():
    found = replace(answer("report"), answer_id="ab" * 32, status=AnswerStatus.EVIDENCE, why="two of nine")
    assert answer_markdown(found, KEPT).startswith(GOLDEN)
    assert answer_markdown(answer("report"), KEPT).startswith("# How many\\?\n\nwords of report\n\nanswered\\: why")


def test_markup_of_documents_and_people_is_text():
    hostile = replace(answer("report"), answer="<script>x</script> ![a](http://x)", question="[q](http://y)", notes=("<b>n</b>",))
    page = answer_markdown(hostile, KEPT)
    assert not re.search(r"(?<!\\)<", page) and "](http" not in page and "> \\<b\\>n" in page


def test_an_answer_without_words_says_why_and_a_huge_graph_is_left_to_the_report():
    silent = replace(answer(), answer="", status=AnswerStatus.NOT_FOUND, why="nothing")
    page = answer_markdown(silent, KeptReport(KEPT.path, "x" * (PICTURE_BYTES + 1)))
    assert "Nothing in these documents answers the question" in page and "## Evidence" not in page and "data:" not in page
    assert "document that was removed" in answer_markdown(replace(answer("report"), answer=""), KeptReport(KEPT.path, ""))


def test_the_key_is_one_that_prefect_takes():
    key = page_key(answer("report").answer_id)
    assert key == key.lower() and key.replace("-", "").isalnum()
