"""`lineage` as people and programs call it."""

import json
import subprocess
import sys

import pytest

from flows.cli import main
from tests.asking_worlds import COAST, answers_to
from tests.flows.test_cli import HEAVY, LIGHT


@pytest.fixture
def call(asked_home, monkeypatch, capsys):
    monkeypatch.setenv("FLOWREADER_HOME", str(asked_home))

    def run(*arguments, code=0, corpus="small"):
        assert main(["lineage", *arguments, "--corpus", corpus]) == code
        return capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def asked(asked_home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOWREADER_HOME", str(asked_home))
        return answers_to(COAST)[0]


def told(call, *arguments, **more):
    (line,) = call(*arguments, "--json", **more).out.splitlines()
    return json.loads(line)


def test_one_walks_from_an_answer_to_a_document_to_its_run_and_back(call, asked):
    answer = told(call, asked.answer_id[:8])
    assert answer["kind"] == "answer" and answer["question"] == COAST and answer["documents"]
    document = told(call, answer["documents"][0]["document"]["id"][:8])
    assert document["kind"] == "document" and asked.answer_id in {use["answer"]["answer_id"] for use in document["answers"]}
    run = told(call, document["document"]["readings"][0]["run"]["run_id"][:6])
    assert run["kind"] == "run" and document["document"]["document"] in [each["document"] for each in run["documents"]]
    assert told(call, "strategy.pptx")["document"]["paths"][0].endswith("/strategy.pptx")
    assert COAST in call(asked.answer_id[:8]).out


def test_what_names_nothing_exits_with_2_and_lists_what_there_is(call, asked):
    said = call("strategy.ppt", code=2)
    assert "the nearest is 'strategy.pptx'" in said.err and not said.out
    error = told(call, "a; b.pdf", code=2)["error"]
    assert error["value"] == "a; b.pdf" and "name an answer or a document by 8" in error["remedy"] and COAST in error["remedy"]


def test_a_corpus_that_is_not_there_is_named(call):
    assert told(call, "ffffffff", code=2, corpus="smal")["error"]["value"] == "smal"


@pytest.mark.parametrize("named", ["answer", "strategy.pptx", "run"])
def test_no_walk_loads_prefect_a_model_or_the_graph(call, asked, named):
    ids = {"answer": asked.answer_id, "run": told(call, asked.answer_id)["run"]["run_id"]}
    program = LIGHT.format(arguments=["lineage", ids.get(named, named), "--corpus", "small"], heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
