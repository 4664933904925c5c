"""Every ingest and every answer leaves its pages in Prefect, and its run is found by what it is about."""

import asyncio
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
from flows.prefect_runs import pages as prefect_pages
from flows.prefect_runs.labels import AGAIN, LONGEST_NAME, begin_again, log_failures, name_first
from flows.prefect_runs.pages import PROGRESS, WORDS_SHOWN, answer_key, answer_page, corpus_key, service_address
from storage.records.answers import AnswerStatus
from tasks.finding.plan import DocumentWork
from tasks.settings.ingest import ReadingSettings
from tasks.views.render import MARKDOWN, draw
from tests.golden_cases import BADLY_DONE, DONE
from tests.hostile import HOSTILE
from tests.lineage_worlds import small_corpus
from tests.storage.answer_worlds import answer


def test_an_ingest_leaves_a_bar_that_is_full(deployed):
    assert deployed["ingest"]["state"] == "Completed"
    kind, percent, told = deployed["pages"]["ingest-tides-progress"]
    assert (kind, percent, told) == ("progress", 100.0, "2/2 documents, 1 page; done")
    assert "ingest-tides" in deployed["pages"]


def test_a_server_that_hangs_holds_up_no_ingest_that_ends_early(monkeypatch):
    async def made(**_more):
        return "id"

    async def hangs(*_arguments, **_more):
        await asyncio.sleep(60)

    monkeypatch.setattr(prefect_pages, "acreate_progress_artifact", made)
    monkeypatch.setattr(prefect_pages, "aupdate_progress_artifact", hangs)

    async def stopped():
        work = [DocumentWork("d" * 64, "v" * 64, "/in/a.pdf", ("/in/a.pdf",), 3, "")]
        async with prefect_pages.show_bar(work, ReadingSettings(), key="x"):
            raise KeyError("why it ended")

    began = time.monotonic()
    with pytest.raises(KeyError, match="why it ended"):
        asyncio.run(stopped())
    assert time.monotonic() - began < 2 * prefect_pages.PATIENCE_SECONDS + 2


def test_pages_lead_to_the_commands_that_show_more(deployed):
    kind, page, described = deployed["pages"]["ingest-tides"]
    (run,) = re.findall("`flowreader lineage ([0-9a-f]{8}) --corpus tides`", page)
    assert kind == "markdown" and described.startswith("1 document read (1 page, ") and "empty.pdf" in page and run
    answer_id = deployed["ask"]["returned"][1]["answer_id"]
    _, page, described = deployed["pages"][f"answer-small-what-is-the-weight-of-an-mt-3-without-{answer_id[:8]}"]
    assert page.startswith(f"# {described}\n") and f"`flowreader answers show {answer_id[:8]} --corpus small`" in page


def test_the_page_of_a_corpus_leads_to_the_form_and_is_left_once(deployed):
    _, tides, described = deployed["pages"]["corpus-tides"]
    assert described.startswith("Start here") and "[the form](/deployments/deployment/" in tides
    assert deployed["pages of corpora"] == ["corpus-tides"], "evolve found it as it is"


def test_an_ingest_whose_pages_cannot_be_kept_has_done_its_work_and_its_log_says_so(deployed):
    told = deployed["without pages"]
    assert (told["state"], told["pages"]) == ("Completed", ["ingest-plain-progress"])
    kept_not = [line.split(" could")[0] for line in sorted(told["log"])]
    assert kept_not == ["the page of the corpus", "the page of this ingest"]
    assert "secret" not in "".join(told["log"])


@pytest.fixture
def page_of(home):
    small_corpus(home)
    return lambda shown: answer_page(shown, Path("/home/reports/a.html"))


def test_an_answer_has_its_words_or_its_quotes_and_says_why_where_it_has_none(page_of):
    found = replace(answer("report"), answer="", status=AnswerStatus.EVIDENCE)
    assert "**[1]** report.pdf, page 2" in page_of(found) and ": words of report\n" in page_of(found)
    silent = replace(answer(), answer="", status=AnswerStatus.NOT_FOUND)
    assert "Nothing in these documents answers the question" in page_of(silent)
    unquoted = replace(found, citations=(replace(found.citations[0], quote=""),))
    for erased in (replace(answer("report"), answer=""), unquoted):
        assert "document that was removed" in page_of(erased)


def test_markup_of_documents_and_people_is_text(page_of):
    hostile = page_of(replace(answer("report"), answer=HOSTILE, question=HOSTILE, notes=("<b>n</b>",), why=HOSTILE))
    ingest = draw(MARKDOWN, "ingest_page.j2", report=BADLY_DONE, run="")
    for page in (hostile, ingest):
        assert not re.search(r"(?<!\\)(?:<[a-z/!?]|\]\(http)|\u202e", page)
    assert "> \\<b>n" in hostile
    rows = [line for line in ingest.splitlines() if line.startswith("|")]
    assert len(rows) == 4 and all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)


def test_of_many_failures_the_page_counts_those_that_it_does_not_show():
    many = DONE.model_copy(update={"failures": BADLY_DONE.failures * 6})
    page = draw(MARKDOWN, "ingest_page.j2", report=many, run="")
    assert page.count("| failed |") == 10 and "\nand 2 more: `flowreader documents list" in page


ASKED = "Größe ](javascript:alert(1)) | <b>the</b>\n\u202e pump?"


def test_the_key_is_one_that_prefect_takes_and_begins_with_the_question():
    asked = replace(answer("report"), corpus="Q3_reports.2024", question=ASKED)
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


def test_the_service_is_linked_where_its_address_is_known_and_wants_no_token(page_of, monkeypatch):
    monkeypatch.delenv("FLOWREADER_ASK_ADDRESS", raising=False)
    monkeypatch.delenv("FLOWREADER_ASK_TOKEN", raising=False)
    assert service_address() == "" and "its report is /home/reports" in page_of(answer("report"))
    monkeypatch.setenv("FLOWREADER_ASK_ADDRESS", "[::1]:4390")
    assert f"](http://[::1]:4390/answers/{answer('report').answer_id}?corpus=default)" in page_of(answer("report"))
    monkeypatch.setenv("FLOWREADER_ASK_TOKEN", "secret")
    assert service_address() == ""


@pytest.fixture
def log(monkeypatch, caplog):
    monkeypatch.setattr(run_labels, "get_run_logger", lambda: logging.getLogger("a run"))
    return caplog


def test_what_fails_is_logged_by_its_kind_and_not_in_its_words(log):
    with log_failures("the page"):
        raise OSError("http://user:secret@server")
    (record,) = log.records
    assert record.getMessage() == "the page could not be kept (OSError); the work of this run is done, and stays"
    assert record.levelno == logging.WARNING


@pytest.mark.parametrize("run", [FlowRun(flow_id=uuid4()), FlowRun(flow_id=uuid4(), deployment_id=uuid4(), tags=[AGAIN])])
def test_who_was_not_deployed_or_began_again_already_ends(run, monkeypatch):
    monkeypatch.delattr(run_labels, "get_client")
    asyncio.run(begin_again(None, run, Crashed()))


def test_a_name_is_one_short_line():
    assert name_first(("What is\nthis?",)) == "What is this?"
    assert name_first(("a", "b", "c")) == "a and 2 more"
    assert len(name_first(("x" * 500,))) == LONGEST_NAME
    assert name_first(()) == "nothing"


def test_each_flow_names_its_run_and_tags_it(deployed):
    runs = {name: tags for name, tags in deployed["runs"]}
    (question,) = [name for name in runs if name.startswith("With which torque") and name.endswith("and 1 more")]
    assert runs[question] == ["flow", "small"]
    assert runs[str(deployed["home"] / "in")] == ["tides"]
    assert runs["probe of small"] == ["probe", "top-k"]
    assert runs["maintain every corpus"] == ["small", "tides"]
