"""Lineage on a terminal is a tree that fits it and says how to go on; for programs it is one document."""

import json
from dataclasses import replace

import pytest

from flows.lineage_tables import READINGS_SHOWN, show_walk
from flows.lineage_tree import SHOWN
from flows.showing import Output
from storage.answer_records import NamedDocument
from storage.corpus import open_for_writing
from storage.runs import RunLog
from storage.snapshot import open_for_reading
from tasks.lineage_walk import walk
from tests.lineage_worlds import INGEST, asking_run, ingest_run, step
from tests.program import terminal
from tests.storage import worlds
from tests.storage.answer_worlds import answer, citation, numbered

PEOPLE, PROGRAMS = Output(as_json=False), Output(as_json=True)
REPORT, PAPER = worlds.graph("report"), worlds.graph("paper")
ANSWER = answer("report", "gone", question="How many of the turbines at the coast were serviced in the year before the last one?")


@pytest.fixture
def location(tmp_path):
    place = worlds.corpus_in(tmp_path)
    with open_for_writing(place, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        worlds.publish(corpus, REPORT, PAPER)
        corpus.index()
    ingest_run(place, REPORT, PAPER)
    return place


def walked(location, asked):
    with open_for_reading(location) as snapshot:
        return walk(snapshot, asked)


def shown(capsys, location, asked):
    show_walk(walked(location, asked), PEOPLE)
    return capsys.readouterr().out


def test_an_answer_is_a_tree_from_its_question_to_the_bytes(location, capsys):
    asking_run(location, "aa00bb", [ANSWER])
    said = shown(capsys, location, ANSWER.answer_id)
    short, report = ANSWER.answer_id[:8], REPORT.document_id
    parts = [
        *(f"answer {short}, answered, asked 2026-01-01 00:00 UTC", ANSWER.question, "read by flow from snapshot 3\n"),
        *("asked of all documents", "settings: the defaults", "models: embedder small"),
        *("asking run ask-aa00bb", "route ", "call worker "),
        *("[1] report.pdf, page 2, box [10 20 90 33] %, node ", "[2] a removed document, page 2"),
        *("1. share 1.00, flow 0.50, quality 0.25", "not in the corpus any more: node "),
        *("report.pdf", f"sha256 {report}", "/files/report.pdf", "used here: page 2 by mineru", "parsed by mineru"),
        *("page 2 read by pdfium", "ingest run 1f2e3d4c", "made what is published now", "parse          0.50 s, 2 attempts"),
        *("not in the corpus any more", "no run that read it is kept"),
        *(f"flowreader report {short} --corpus default", "flowreader lineage ask-aa00bb --corpus default"),
        f"flowreader lineage {report[:8]} --corpus default",
    ]
    place = 0
    for part in parts:
        assert part in said[place:], f"{part!r} after {said[:place][-80:]!r}"
        place = said.index(part, place)


def test_it_fits_a_terminal_of_80_columns(location, monkeypatch):
    asking_run(location, "aa00bb", [ANSWER])
    for asked in (ANSWER.answer_id, "report.pdf", "ask-aa00bb", INGEST):
        found = walked(location, asked)
        with terminal(monkeypatch, 80) as lines:
            show_walk(found, PEOPLE)
        assert max(map(len, lines)) <= 80 and len(lines) > 8


def test_limits_of_a_question_are_told_and_an_answer_of_nothing_has_no_tree(location, capsys):
    scope = {"documents": ["report.pdf"], "pages": "3-7"}
    nothing = replace(ANSWER, citations=(), paths=(), evidence_pages=(), scope=scope, snapshot=1)
    asking_run(location, "aa00bb", [nothing])
    said = shown(capsys, location, ANSWER.answer_id)
    assert "limited to documents report.pdf; pages 3-7" in said and "cited: nothing" in said and "documents: none was used" in said
    assert "paths" not in said and "from snapshot 1 (published now: 3)" in said


def test_a_document_is_told_with_its_runs_and_the_answers_that_used_it(location, capsys):
    before = replace(citation("report"), document=NamedDocument(worlds.document_id("before"), "report.pdf"), page=9)
    earlier = replace(ANSWER, citations=(before,), paths=(), evidence_pages=(), answer_id="e" * 32, asked="2025-01-01T00:00")
    only_read = replace(ANSWER, citations=(), answer_id="f" * 32, asked="2027-01-01T00:00")
    asking_run(location, "aa00bb", [ANSWER, earlier, only_read])
    said = shown(capsys, location, "report.pdf")
    assert said.startswith(f"report.pdf {REPORT.document_id[:8]}, ready") and "before, its file held" in said
    assert "3 answers used it or what its file held before" in said
    first, second, third = (line for line in said.splitlines() if "UTC, " in line and "How many" in line)
    assert first.startswith("  ffffffff 2027-01-01 00:00 UTC, read p. 2: How many") and "cites p. 2: How many" in second
    assert third.startswith(f"  eeeeeeee 2025-01-01 00:00 UTC, cites p. 9, of {before.document.id[:8]}: How many")
    assert "flowreader lineage ffffffff --corpus default" in said and "flowreader documents show" in said
    earlier_told = shown(capsys, location, before.document.id[:8])
    assert "replaced: its file has another content now" in earlier_told and "documents show" not in earlier_told


def test_a_document_that_nobody_used_or_remembers_says_so(location, capsys):
    assert "0 answers used it" in shown(capsys, location, "report.pdf")
    asking_run(location, "aa00bb", [replace(ANSWER, citations=(), paths=(), evidence_pages=())])
    ranked_only = shown(capsys, location, worlds.document_id("gone"))
    assert "no run that read it is kept" in ranked_only and "go on" not in ranked_only


def test_long_lists_are_cut_and_say_so(location, capsys):
    asking_run(location, "aa00bb", numbered(SHOWN + 5, "report"))
    for number in range(READINGS_SHOWN + 1):
        ingest_run(location, REPORT, run_id=f"{number}" * 8)
    said = shown(capsys, location, "report.pdf")
    assert said.count(": How many?") == SHOWN and "and 5 more; --json has all" in said and "and 2 earlier runs; --json" in said
    of_run = shown(capsys, location, "ask-aa00bb")
    assert of_run.count(" answered: How many?") == SHOWN and "questions: How many?, " in of_run and "How many? and 5 more" in of_run


def test_an_ingest_tells_what_it_was_asked_what_failed_and_what_it_read(location, capsys):
    log = RunLog(location.runs / f"{INGEST}.jsonl")
    log.step(step(INGEST, "parse", PAPER.document_id, error="ParseError: it is torn"))
    log.step(step(INGEST, "parse", "9" * 64))
    said = shown(capsys, location, INGEST[:8])
    assert "  paths: /files\n" in said and "include" not in said and "settings: the defaults" in said
    assert (
        f"parse failed on {PAPER.document_id[:8]}: ParseError: it is torn" in said and "99999999 is not published any more" in said
    )
    assert f"{REPORT.document_id[:8]} report.pdf" in said and "parse          2.00 s, 4 times, 2 attempts, 1 failed" in said


def test_an_evaluation_leads_to_its_figures(location, capsys):
    log = RunLog(location.runs / "0123456789ab.jsonl")
    log.begin(run_id="0123456789ab", parameters={"what": "probe", "limit": 5, "out": None}, settings={}, code_version="1")
    said = shown(capsys, location, "012345")
    assert "evaluation run 01234567, code 1, killed" in said and "flowreader evaluate show 01234567\n" in said
    assert "limit: 5" in said and "out" not in said and "settings: not known" in said


def test_a_run_that_did_nothing_has_nowhere_to_go_on(location, capsys):
    RunLog(location.runs / "0123456789ab.jsonl").end(run_id="0123456789ab", outcome="ended", snapshot=1)
    assert "go on" not in shown(capsys, location, "012345")


def test_damage_is_told_last(location, capsys):
    path = asking_run(location, "aa00bb", [ANSWER])
    path.write_bytes(path.read_bytes()[:-9])
    for asked in (ANSWER.answer_id, "report.pdf", "ask-aa00bb"):
        assert "the file of run ask-aa00bb has 1 line that cannot be read" in shown(capsys, location, asked).splitlines()[-1]


@pytest.mark.parametrize(("asked", "kind"), [(ANSWER.answer_id, "answer"), ("report.pdf", "document"), ("ask-aa00bb", "run")])
def test_programs_get_one_document_that_says_what_it_is(location, capsys, asked, kind):
    asking_run(location, "aa00bb", [replace(ANSWER, question="How m\ud800any?")])
    show_walk(walked(location, asked), PROGRAMS)
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert told["kind"] == kind and told["corpus"] == "default" and told["damaged"] == []
