"""`lineage` as people and programs call it: a tree that fits its terminal, one JSON document."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from flows.cli.main import main
from flows.display.lineage_tables import show_lineage
from flows.display.output import Output
from storage.records.answers import NamedDocument
from storage.runs.log import RunLog
from tasks.parsing.parse import parser_identity
from tasks.settings.ask import AskSettings
from tests.asking_worlds import COAST, answers_to
from tests.flows.cli.test_cli import heavy_loaded_by
from tests.lineage_worlds import INGEST, asking_run, ingest_run, small_corpus, step, walked
from tests.program import terminal
from tests.storage import worlds
from tests.storage.answer_worlds import answer, citation, numbered

GOLDEN = Path(__file__).parent / "golden" / "lineage.txt"
PEOPLE, PROGRAMS = Output(as_json=False), Output(as_json=True)
REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")
ANSWER = answer("report", "gone", question="How many of the turbines at the coast were serviced?")


@pytest.fixture
def location(tmp_path):
    place = small_corpus(tmp_path)
    ingest_run(place, REPORT, PAPER)
    return place


def shown(capsys, location, asked):
    show_lineage(walked(location, asked), PEOPLE)
    return capsys.readouterr().out


def test_an_answer_a_document_and_runs_are_trees_that_lead_to_each_other(location, capsys, monkeypatch):
    log = RunLog(location.runs / f"{INGEST}.jsonl")
    log.step(step(INGEST, "parse", PAPER.document_id, error="ParseError: it is torn"))
    log.step(step(INGEST, "parse", "9" * 64))
    before = replace(citation("report"), document=NamedDocument(worlds.document_id("before"), "report.pdf"), page=9)
    earlier = replace(ANSWER, citations=(before,), paths=(), evidence_pages=(), answer_id="e" * 32, asked="2025-01-01T00:00")
    asking_run(location, "aa00bb", [ANSWER, earlier])
    named = (ANSWER.answer_id, "report.pdf", INGEST, "ask-aa00bb")
    told = "".join(f"{shown(capsys, location, asked)}=======\n" for asked in named)
    assert re.sub(r"\.md [0-9a-f]{8}", ".md HASH", told).replace(parser_identity(), "PARSER") == GOLDEN.read_text()
    for asked in named:
        found = walked(location, asked)
        with terminal(monkeypatch, 80) as lines:
            show_lineage(found, PEOPLE)
        assert max(map(len, lines)) <= 80 and len(lines) > 8


def test_of_an_answer_of_nothing_its_limits_are_shown_and_that_nothing_was_used(location, capsys):
    scope = {"documents": ["report.pdf"], "pages": "3-7"}
    nothing = replace(ANSWER, citations=(), paths=(), evidence_pages=(), scope=scope, snapshot=1)
    asking_run(location, "aa00bb", [nothing])
    said = shown(capsys, location, ANSWER.answer_id)
    assert "  documents: report.pdf\n  pages: 3-7\n" in said and "cited: nothing" in said and "documents: none used" in said
    assert "paths" not in said and "from snapshot 1 (published now: 3)" in said
    assert "0 answers used it" in shown(capsys, location, "report.pdf")
    assert "\nmore\n" not in shown(capsys, location, worlds.document_id("gone"))


def test_long_lists_are_cut_and_say_so(location, capsys):
    asking_run(location, "aa00bb", numbered(15, "report"))
    for number in range(4):
        ingest_run(location, REPORT, run_id=f"{number}" * 8)
    said = shown(capsys, location, "report.pdf")
    assert said.count(": How many?") == 10 and "and 5 more; --json has all" in said and "and 2 earlier runs; --json" in said
    of_run = shown(capsys, location, "ask-aa00bb")
    assert of_run.count(" answered: How many?") == 10 and "questions: How many?, " in of_run and "How many? and 5 more" in of_run


def test_an_evaluation_leads_to_its_figures(location, capsys):
    log = RunLog(location.runs / "0123456789ab.jsonl")
    log.begin(run_id="0123456789ab", parameters={"what": "probe", "limit": 5, "out": None}, settings={}, code_version="1")
    said = shown(capsys, location, "012345")
    assert "evaluate run 01234567, code 1, killed" in said and "flowreader evaluate show 01234567\n" in said
    assert "limit: 5" in said and "out" not in said and "settings: not known" in said
    assert "the same command goes on with the rest" in said


def test_damage_is_shown_last(location, capsys):
    path = asking_run(location, "aa00bb", [ANSWER])
    path.write_bytes(path.read_bytes()[:-9])
    for asked in (ANSWER.answer_id, "report.pdf", "ask-aa00bb"):
        assert "the file of run ask-aa00bb has 1 line that cannot be read" in shown(capsys, location, asked).splitlines()[-1]
    (location.runs / "ask-dd.jsonl").mkdir()
    assert "ask-dd cannot be read: Is a directory" in shown(capsys, location, "report.pdf")


def test_settings_are_shown_where_they_differ_from_the_defaults(location, capsys):
    usual, path = AskSettings().model_dump(mode="json"), location.runs / "ask-bb00bb.jsonl"
    changed = usual | {"selection": usual["selection"] | {"read": 2}}
    RunLog(path).begin(run_id="ask-bb00bb", parameters={}, settings=changed, code_version="1")
    assert "  settings other than the defaults: selection.read = 2\n" in shown(capsys, location, "ask-bb00bb")


@pytest.fixture(scope="module")
def asked(asked_home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOWREADER_HOME", str(asked_home))
        return answers_to(COAST)[0]


@pytest.fixture
def call(asked_home, monkeypatch, capsys):
    monkeypatch.setenv("FLOWREADER_HOME", str(asked_home))

    def run(*arguments, code=0, corpus="small"):
        assert main(["lineage", *arguments, "--corpus", corpus]) == code
        return capsys.readouterr()

    return run


def told(call, *arguments, **more):
    return json.loads(call(*arguments, "--json", **more).out)


def test_one_walks_from_an_answer_to_a_document_to_its_run_and_back(call, asked):
    answer = told(call, asked.answer_id[:8])
    assert answer["kind"] == "answer" and answer["question"] == COAST and answer["documents"]
    document = told(call, answer["documents"][0]["document"]["id"][:8])
    assert document["kind"] == "document" and asked.answer_id in {use["answer"]["answer_id"] for use in document["answers"]}
    run = told(call, document["document"]["readings"][0]["run"]["run_id"][:6])
    assert run["kind"] == "run" and document["document"]["document"] in [each["document"] for each in run["documents"]]
    assert COAST in call(asked.answer_id[:8]).out


def test_what_names_nothing_exits_with_2_and_lists_what_there_is(call, asked):
    said = call("strategy.ppt", code=2)
    assert "the nearest is 'strategy.pptx'" in said.err and not said.out
    error = told(call, "a; b.pdf", code=2)["error"]
    assert error["value"] == "a; b.pdf" and "name an answer or a document by 8" in error["remedy"] and COAST in error["remedy"]
    assert told(call, "ffffffff", code=2, corpus="smal")["error"]["value"] == "smal"


def test_a_walk_loads_neither_prefect_nor_a_model_nor_the_graph(asked_home, asked, monkeypatch):
    monkeypatch.setenv("FLOWREADER_HOME", str(asked_home))
    assert heavy_loaded_by("lineage", asked.answer_id, "--corpus", "small") == "[]"
