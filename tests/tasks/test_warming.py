"""The first question of a warm process finds everything loaded."""

import os
import subprocess
import sys

from storage.locations import corpus_location
from tasks.warming import warm_up_questions

PROGRAM = """
import asyncio, sys
from flows.ask import ask
from tasks.ask_request import AskRequest
from tasks.warming import warm_up_questions

async def one():
    async for answer in ask(AskRequest(questions=("What does an MT-3 weigh without its base?",), corpus="small")):
        return answer

warm_up_questions()
before = set(sys.modules)
assert asyncio.run(one()).citations
print(len(set(sys.modules) - before))
"""


def test_a_question_loads_next_to_nothing_afterwards(asked_home):
    environment = {**os.environ, "FLOWREADER_HOME": str(asked_home)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20


def test_a_corpus_that_cannot_be_read_hinders_nobody_and_is_named(home, caplog):
    folder = corpus_location("torn").folder
    folder.mkdir(parents=True)
    (folder / "CURRENT").write_bytes(b"\xff")
    warm_up_questions()
    assert "corpus torn could not be loaded before it is asked" in caplog.text
