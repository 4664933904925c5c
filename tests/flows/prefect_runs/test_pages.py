"""Every ingest and every answer leaves its pages in Prefect, and its run is found by what it is about."""

import asyncio
import base64
import hashlib
import json
import logging
import re
import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.states import Crashed

from flows.prefect_runs import labels as run_labels
from flows.prefect_runs import pages as answer_pages
from flows.prefect_runs.corpus_pages import (
    DOCUMENTS_SHOWN,
    PROGRESS,
    WORDS_SHOWN,
    CorpusNow,
    answer_key,
    corpus_key,
    corpus_markdown,
    report_link,
)
from flows.prefect_runs.labels import AGAIN, LONGEST_NAME, begin_again, failures_logged, first_of
from flows.prefect_runs.pages import PICTURE_BYTES, answer_markdown
from storage.records.answers import AnswerStatus
from storage.text import as_markdown
from tasks.finding.plan import DocumentWork
from tasks.report.write import KeptReport
from tasks.settings.ingest import ReadingSettings
from tests.program import flowreader
from tests.storage import worlds
from tests.storage.answer_worlds import answer


def test_an_ingest_leaves_a_bar_that_is_full(deployed):
    assert deployed["ingest"]["state"] == "Completed"
    kind, percent, told = deployed["pages"]["ingest-tides-progress"]
    assert (kind, percent, told) == ("progress", 100.0, "2\\/2 documents\\, 1 pages\\; done")
    assert "ingest-tides" in deployed["pages"]


def test_a_server_that_hangs_holds_up_no_ingest_that_ends_early(monkeypatch):
    async def made(**_more):
        return "id"

    async def hangs(*_arguments, **_more):
        await asyncio.sleep(60)

    monkeypatch.setattr(answer_pages, "acreate_progress_artifact", made)
    monkeypatch.setattr(answer_pages, "aupdate_progress_artifact", hangs)

    async def stopped():
        work = [DocumentWork("d" * 64, "v" * 64, "/in/a.pdf", ("/in/a.pdf",), 3, "")]
        async with answer_pages.shown_in_prefect(work, ReadingSettings(), key="x"):
            raise KeyError("why it ended")

    began = time.monotonic()
    with pytest.raises(KeyError, match="why it ended"):
        asyncio.run(stopped())
    assert time.monotonic() - began < 2 * answer_pages.PATIENCE_SECONDS + 2


REPORT = worlds.graph("report")


def test_a_page_ends_with_the_lineage_that_the_command_shows(deployed):
    kind, page, _ = deployed["pages"]["ingest-tides"]
    assert kind == "markdown" and "tides\\.html" in page and "\\, ended at snapshot" in page
    tides = hashlib.sha256((deployed["home"] / "in" / "tides.html").read_bytes()).hexdigest()
    assert f"sha256 {tides}" in page.partition("what was read\\, and how")[2]
    answer_id = deployed["ask"]["returned"][1]["answer_id"]
    _, page, described = deployed["pages"][f"answer-small-what-is-the-weight-of-an-mt-3-without-{answer_id[:8]}"]
    told = json.loads(flowreader("lineage", answer_id, "--corpus", "small", "--json", home=deployed["home"], check=0).stdout)
    assert described == as_markdown(told["question"]) and told["documents"] and told["citations"]
    assert all(f"sha256 {document['document']['id']}" in page for document in told["documents"] if document["document"]["name"])
    assert "[All of the corpus](/artifacts/" in page


def test_the_page_of_a_corpus_leads_to_its_last_ingest_and_its_newest_answers_and_lists_its_documents(deployed):
    _, tides, described = deployed["pages"]["corpus-tides"]
    assert described.startswith("Start here") and "UTC: 1 documents read" in tides and "Nothing was asked yet" in tides
    # At once, not by the list of its versions.
    assert "[counts, times and lineage](/artifacts/artifact/" in tides and "[its run](/runs/flow-run/" in tides
    assert "2 documents: 1 ready, 1 failed; 1 pages" in tides
    assert tides.index("| empty\\.pdf | failed |") < tides.index("| tides\\.html | ready |")
    _, small, _ = deployed["pages"]["corpus-small"]
    for given in deployed["ask"]["returned"]:
        assert re.search(rf"\| {re.escape(as_markdown(given['question']))} \| evidence \| \[answer\]\(/artifacts/artifact/", small)
    assert "## Made anew" in deployed["index after evolve"][1] and "## Made anew" not in tides
    assert "| removed |" in deployed["index after removal"] and "| removed |" not in small


def test_an_ingest_whose_pages_cannot_be_kept_has_done_its_work_and_its_log_says_so(deployed):
    told = deployed["without pages"]
    assert (told["state"], told["pages"]) == ("Completed", ["ingest-plain-progress"])
    kept_not = [line.split(" could")[0] for line in sorted(told["log"])]
    assert kept_not == ["the page of the corpus", "the page of this ingest"]
    assert "secret" not in "".join(told["log"])


KEPT = KeptReport(Path("/home/reports/a.html"), "<svg/>")


GOLDEN = f"""\
# How many\\?

Evidence found\\, not read by a model\\:

**[1]** report\\.pdf\\, page 2\\, box 0\\.10 0\\.20 0\\.90 0\\.33\\, heading of report

> words of report

evidence\\: two of nine

![evidence graph](data:image/svg+xml;base64,{base64.b64encode(b"<svg/>").decode()})

> extractive

Corpus default, snapshot 3; 3 model calls. \
The report, with the cited pages, is in \\/home\\/reports\\/a\\.html; \
`flowreader answers show abababab --corpus default` shows the answer again.
"""


def test_the_evidence_its_citations_the_graph_and_the_report_are_there():
    found = replace(answer("report"), answer_id="ab" * 32, answer="", status=AnswerStatus.EVIDENCE, why="two of nine")
    assert answer_markdown(found, KEPT) == GOLDEN
    assert answer_markdown(answer("report"), KEPT).startswith("# How many\\?\n\nwords of report\n\nanswered\\: why")
    assert "## Evidence" in answer_markdown(answer("report"), KEPT)


def test_markup_of_documents_and_people_is_text():
    hostile = replace(answer("report"), answer="<script>x</script> ![a](http://x)", question="[q](http://y)", notes=("<b>n</b>",))
    page = answer_markdown(hostile, KEPT)
    assert not re.search(r"(?<!\\)<", page) and "](http" not in page and "> \\<b\\>n" in page


def test_an_answer_without_words_says_why_and_a_huge_graph_is_left_to_the_report():
    silent = replace(answer(), answer="", status=AnswerStatus.NOT_FOUND, why="nothing")
    page = answer_markdown(silent, KeptReport(KEPT.path, "x" * (PICTURE_BYTES + 1)))
    assert "Nothing in these documents answers the question" in page and "## Evidence" not in page and "data:" not in page
    assert "document that was removed" in answer_markdown(replace(answer("report"), answer=""), KeptReport(KEPT.path, ""))


HOSTILE = "Größe ](javascript:alert(1)) | <b>the</b>\n\u202e pump?"


def test_the_key_is_one_that_prefect_takes_and_begins_with_the_question():
    asked = replace(answer("report"), corpus="Q3_reports.2024", question=HOSTILE)
    assert answer_key(asked) == f"answer-q3-reports-2024-grosse-javascript-alert-1-b-the-b-pump-{asked.answer_id[:8]}"
    assert answer_key(replace(asked, answer_id="f" * 64)) != answer_key(asked)
    assert answer_key(replace(asked, question="売上高は")) == f"answer-q3-reports-2024-{asked.answer_id[:8]}"
    long = answer_key(replace(asked, corpus="a" * 64, question="word " * 90))
    assert re.fullmatch("answer-a{24}-(word-){8}[0-9a-f]{8}", long)
    assert answer_key(replace(asked, question="w" * 900)).count("w") == WORDS_SHOWN + 1


def test_a_key_of_a_corpus_is_one_that_prefect_takes_and_each_name_has_its_own():
    assert corpus_key("ingest", "tides-2024") == "ingest-tides-2024"
    named_alike = ["Q3_reports.2024", "q3.reports.2024", "Q3-reports-2024", "q3-reports-2024"]
    keys = {corpus_key("ingest", name) for name in named_alike}
    assert len(keys) == len(named_alike)
    assert all(re.fullmatch("ingest-q3-reports-2024(-[0-9a-f]{6})?", key) for key in keys)
    assert corpus_key("ingest", f"tides{PROGRESS}") != corpus_key("ingest", "tides") + PROGRESS


def test_nothing_of_a_question_or_a_name_is_markup_on_the_page_of_a_corpus():
    named = replace(worlds.failed(REPORT, "[x](http://y)"), paths=("/files/a](javascript:alert(1)) | <img>\n.pdf",))
    asked = replace(answer("report"), question=HOSTILE)
    page = corpus_markdown(CorpusNow("c", 3, [named] * (DOCUMENTS_SHOWN + 2), [asked]), {}, "")
    for words, borders in (("pump", 5), ("javascript", 6)):
        line = next(line for line in page.splitlines() if words in line)
        assert len(re.findall(r"(?<!\\)\|", line)) == borders and not re.search(r"(?<!\\)[]<\u202e]", line)
    assert page.count("| failed |") == DOCUMENTS_SHOWN and "\nand 2 more: `flowreader documents list" in page


def test_the_report_is_linked_where_its_address_is_known_and_wants_no_token(monkeypatch):
    monkeypatch.delenv("FLOWREADER_ASK_ADDRESS", raising=False)
    monkeypatch.delenv("FLOWREADER_ASK_TOKEN", raising=False)
    assert report_link(answer("report")) == ""
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", "[::1]:4390")
    address = f"http://[::1]:4390/answers/{answer('report').answer_id}/report?corpus=default"
    assert f"[The report]({address})" in answer_markdown(answer("report"), KEPT)
    monkeypatch.setenv("FLOWREADER_ASK_TOKEN", "secret")
    assert report_link(answer("report")) == ""


@pytest.fixture
def log(monkeypatch, caplog):
    monkeypatch.setattr(run_labels, "get_run_logger", lambda: logging.getLogger("a run"))
    return caplog


def test_what_fails_is_logged_by_its_kind_and_not_in_its_words(log):
    with failures_logged("the page"):
        raise OSError("http://user:secret@server")
    (record,) = log.records
    assert record.getMessage() == "the page could not be kept (OSError); the work of this run is done, and stays"
    assert record.levelno == logging.WARNING


def test_a_lineage_that_cannot_be_read_costs_no_page(log, monkeypatch):
    left = []

    async def leave_page(_key, data, _description, *, of_flow):
        left.append((data, of_flow))

    async def corpus_link(_corpus):
        return "[All of the corpus](/artifacts/key/corpus-default)"

    def unread(_answer):
        raise OSError

    monkeypatch.setattr(answer_pages, "keep_report", lambda _answer: KEPT)
    monkeypatch.setattr(answer_pages, "answer_lineage", unread)
    monkeypatch.setattr(answer_pages.corpus_pages, "leave_page", leave_page)
    monkeypatch.setattr(answer_pages.corpus_pages, "corpus_link", corpus_link)
    run = uuid4()
    asyncio.run(answer_pages.keep_answer_page(answer("report"), flow_run_id=run))
    ((page, of_flow),) = left
    assert page.startswith(answer_markdown(answer("report"), KEPT)) and of_flow == run
    assert [record.getMessage().partition(" could")[0] for record in log.records] == ["its lineage"]


@pytest.mark.parametrize("run", [FlowRun(flow_id=uuid4()), FlowRun(flow_id=uuid4(), deployment_id=uuid4(), tags=[AGAIN])])
def test_who_was_not_deployed_or_began_again_already_ends(run, monkeypatch):
    monkeypatch.delattr(run_labels, "get_client")
    asyncio.run(begin_again(None, run, Crashed()))


def test_a_name_is_one_short_line():
    assert first_of(("What is\nthis?",)) == "What is this?"
    assert first_of(("a", "b", "c")) == "a and 2 more"
    assert len(first_of(("x" * 500,))) == LONGEST_NAME
    assert first_of(()) == "nothing"


def test_each_flow_names_its_run_and_tags_it(deployed):
    runs = {name: tags for name, tags in deployed["runs"]}
    (question,) = [name for name in runs if name.startswith("With which torque") and name.endswith("and 1 more")]
    assert runs[question] == ["flow", "small"]
    assert runs[str(deployed["home"] / "in")] == ["tides"]
    assert runs["probe of small"] == ["probe", "top-k"]
    assert runs["maintain every corpus"] == ["small", "tides"]
