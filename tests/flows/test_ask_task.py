"""A question as a task: who waits gets the answers, or the error, and the page is left as by a deployed run."""

import asyncio
import json
import shutil
import time
from uuid import uuid4

import pytest

from flows.ask_deployed import Waiting, still_shown
from flows.cli.main import main
from storage.runs.answer_json import answer_from_json
from tasks.events import QueueSeen, subscribed
from tasks.watching.page_keys import answer_key


def test_every_answer_is_returned_as_the_command_shows_it(deployed):
    torque, weight = deployed["ask"]["returned"]
    assert torque["status"] == "evidence" and torque["citations"][0]["document"]["name"] == "maintenance_manual.docx"
    assert "163" in str(weight["citations"])


def test_every_answer_leaves_a_page_and_a_report(deployed):
    for answer in deployed["ask"]["returned"]:
        kind, page, description = deployed["pages"][answer_key(answer_from_json(answer))]
        assert kind == "markdown" and description.startswith(("With which torque", "What is the weight of an MT"))
        assert "## Evidence" in page and "data:image/svg+xml;base64," in page and f"{answer['answer_id']}\\.html" in page
        assert f"{answer['answer_id']}.html" in deployed["reports"]


def test_a_question_that_cannot_be_asked_fails_in_words(deployed):
    assert deployed["ask nobody"]["state"] == "Failed"
    assert "the question '?' holds no word; ask something of the documents" in deployed["ask nobody"]["message"]


def test_the_report_of_an_answer_goes_with_a_document_that_it_shows(deployed):
    reports = {f"{answer['answer_id']}.html" for answer in deployed["ask"]["returned"]}
    assert reports <= set(deployed["reports"]) and reports.isdisjoint(deployed["reports after removal"])


def test_what_waits_for_a_run_gets_its_outcome_and_is_forgotten():
    async def world():
        waiting, run, other = Waiting(), uuid4(), uuid4()
        answers = waiting.for_run(run)
        assert len(waiting) == 1
        waiting.give(other, [])
        waiting.give(run, [{"answer": "deep"}])
        waiting.give(run, [])
        assert await answers == [{"answer": "deep"}]
        await asyncio.sleep(0)
        assert len(waiting) == 0

    asyncio.run(world())


def test_who_watches_hears_how_many_are_inside():
    heard = []

    async def world():
        waiting, first, second = Waiting(), uuid4(), uuid4()
        both = asyncio.gather(waiting.for_run(first), waiting.for_run(second))
        for run in (first, second):
            waiting.give(run, [])
        await both

    with subscribed(heard.append):
        asyncio.run(world())
    assert heard == [QueueSeen(1), QueueSeen(2), QueueSeen(1), QueueSeen(0)]


def test_an_error_reaches_what_waits():
    async def world():
        waiting, run = Waiting(), uuid4()
        answers = waiting.for_run(run)
        waiting.give(run, ValueError("no"))
        with pytest.raises(ValueError, match="no"):
            await answers

    asyncio.run(world())


def test_pages_are_made_when_nothing_waits_or_after_long():
    async def world():
        waiting, run = Waiting(), uuid4()
        answers = waiting.for_run(run)
        began = time.monotonic()
        await waiting.until_idle(seconds=0.2)
        assert 0.2 <= time.monotonic() - began < 5
        asyncio.get_running_loop().call_later(0.1, answers.set_result, [])
        await waiting.until_idle(seconds=60)
        assert len(waiting) == 0 and time.monotonic() - began < 10

    asyncio.run(world())


def test_what_was_removed_since_the_answer_is_written_nowhere(library, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLOWREADER_HOME", str(shutil.copytree(library, tmp_path / "home")))
    assert main(["ask", "What is the weight of an MT-3 without its base?", "--corpus", "small", "--json"]) == 0
    answer = answer_from_json(json.loads(capsys.readouterr().out))
    assert any(citation.quote for citation in answer.citations) and still_shown([answer]) == [answer]
    for name in {citation.document.name for citation in answer.citations}:
        assert main(["documents", "remove", name, "--corpus", "small", "--now"]) == 0
    (shown,) = still_shown([answer])
    assert shown.answer_id == answer.answer_id and not any(citation.quote for citation in shown.citations)
    assert main(["corpora", "remove", "small"]) == 0
    assert still_shown([answer]) == []


def test_the_task_answers_and_leaves_its_page(deployed):
    (answer,) = deployed["task"]["returned"]
    assert answer["status"] == "evidence" and answer["corpus"] == "small"
    kind, page, _description = deployed["pages"][answer_key(answer_from_json(answer))]
    assert kind == "markdown" and "## Evidence" in page
    assert f"{answer['answer_id']}.html" in deployed["reports"]


def test_a_question_that_cannot_be_asked_fails_the_task_in_words(deployed):
    assert deployed["task nobody"]["state"] == "Failed" and "holds no word" in deployed["task nobody"]["message"]
