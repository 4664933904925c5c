"""The question flow on a corpus that was really ingested: the page that tells, the same again, a record of every step."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import aclosing

import numpy as np
import pytest

from flows.ask import ask
from storage.locations import corpus_location
from storage.records.answers import AnswerStatus
from storage.runs.log import EntryKind
from tasks.asking.request import AskRequest
from tests.asking_worlds import COAST, READERS, TOLD, TORQUE, WEIGHT, answer_to, answers_to, lasting, run_of

pytestmark = pytest.mark.usefixtures("in_asked_home")


@pytest.mark.parametrize("reader", READERS)
def test_questions_are_answered_from_the_page_that_tells(reader):
    for answer, (name, page, word) in zip(answers_to(*TOLD, reader=reader), TOLD.values(), strict=True):
        assert answer.status is not AnswerStatus.NOT_FOUND, answer.question
        assert any(
            (citation.document.name, citation.page) == (name, page) and word in citation.quote for citation in answer.citations
        ), answer.question


@pytest.mark.parametrize("reader", READERS)
def test_the_same_question_has_the_same_answer_alone_again_and_among_others(reader):
    alone = lasting(answer_to(COAST, reader=reader))
    assert lasting(answer_to(COAST, reader=reader)) == alone
    among = answers_to(WEIGHT, COAST, TORQUE, "What does page 3 show?", COAST, reader=reader)
    assert lasting(among[1]) == lasting(among[4]) == alone


def test_another_process_with_other_hashes_says_the_same_and_loads_no_prefect(asked_home):
    code = (
        "import sys, json\nfrom flows.cli.main import main\n"
        f"code = main(['ask', {COAST!r}, '--corpus', 'small', '--json'])\n"
        "heavy = {'prefect', 'torch', 'mineru', 'transformers', 'httpx', 'openai', 'tasks.models.chat.model'}\n"
        "print(json.dumps(sorted(heavy & sys.modules.keys())))\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert done.returncode == 0, done.stderr
    said, heavy = done.stdout.splitlines()
    told = json.loads(said)
    del told["answer_id"], told["asked"], told["usage"]["seconds"]
    assert told == lasting(answer_to(COAST)) and json.loads(heavy) == []


def test_every_step_leaves_its_record_and_its_seconds():
    answer = answer_to(COAST)
    run = run_of(corpus_location("small"))
    steps = run.steps()
    named = ["keywords", "candidates", "score", "lay-out", "route", "select", "fetch", "read", "judge", "synthesize"]
    assert set(named) <= set(answer.usage.seconds) and all(spent >= 0 for spent in answer.usage.seconds.values())
    assert set(answer.usage.seconds) == {step.step for step in steps} - {"record"}
    assert {step.subject for step in steps} == {answer.answer_id} and not any(step.error for step in steps)
    assert all(step.outputs for step in steps if step.step != "record")
    assert [entry["kind"] for entry in run.entries if entry["kind"] != EntryKind.STEP] == ["run", "answer", "end"] and run.torn == 0
    begun, ended = run.entries[0], run.entries[-1]
    assert begun["parameters"]["questions"] == [COAST] and begun["settings"]["routing"] and begun["code_version"]
    assert (ended["outcome"], ended["snapshot"]) == ("ended", answer.snapshot)


def test_a_run_that_is_left_early_is_closed():
    async def first_only():
        async with aclosing(ask(AskRequest(questions=(COAST, WEIGHT), corpus="small"))) as answers:
            return await anext(answers)

    answer = asyncio.run(first_only())
    run = run_of(corpus_location("small"))
    assert run.entries[-1]["kind"] == EntryKind.END and {step.subject for step in run.steps()} == {answer.answer_id}


def test_scores_are_finite_and_shares():
    answer = answer_to(COAST)
    assert np.isfinite([page.score for page in answer.pages]).all()
    assert sum(path.share for path in answer.paths) <= 1 + 1e-9
