"""Digits and file names lead to what they name, or to what there is."""

from dataclasses import replace

import pytest

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import AmbiguousError, UnknownError
from storage.runs.log import RunLog
from storage.runs.views import open_runs_folder
from tasks.lineage.search import find_named
from tests.lineage_worlds import INGEST, asking_run, ingest_run, small_corpus, step
from tests.storage import worlds
from tests.storage.answer_worlds import answer

REPORT, PAPER, GONE, ODD = (worlds.graph(name) for name in ("report", "paper", "gone", "odd"))
ANSWER = replace(answer("report", "gone"), answer_id="0123456789abcdef" * 2)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    location = small_corpus(tmp_path_factory.mktemp("world"))
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        digits = replace(worlds.record(ODD), paths=("/files/deadbeef", "/copies/report.pdf"))
        corpus.publish(graphs=[ODD], records=[digits])
    ingest_run(location, REPORT, PAPER, worlds.graph("removed"))
    asking_run(location, "aa00bb11cc22", [ANSWER])
    asking_run(location, "aa00bb99cc22", [replace(ANSWER, answer_id="01234567" + "0" * 24, question="How few?")])
    with open_for_reading(location) as opened:
        yield opened


def named_by(snapshot, asked):
    with open_runs_folder(snapshot.location.runs) as runs:
        return find_named(snapshot, runs, asked)


@pytest.mark.parametrize(
    ("kind", "whole", "asked"),
    [
        *(("document", PAPER.document_id, asked) for asked in ("paper.pdf", PAPER.document_id, PAPER.document_id[:8])),
        ("document", ODD.document_id, "deadbeef"),
        ("answer", ANSWER.answer_id, ANSWER.answer_id[:10]),
        *(("run", INGEST, asked) for asked in (INGEST[:6], INGEST)),
        *(("run", "ask-aa00bb11cc22", asked) for asked in ("aa00bb1", "ask-aa00bb1", "ask-aa00bb11cc22")),
    ],
)
def test_what_is_named_by_a_file_name_or_the_beginning_of_an_id_is_found(snapshot, kind, whole, asked):
    named = named_by(snapshot, asked)
    assert (named.kind, named.id) == (kind, whole) and named.run_id == ("ask-aa00bb11cc22" if kind == "answer" else "")


@pytest.mark.parametrize("name", ["gone", "removed"])
def test_a_document_that_only_runs_or_answers_tell_of_is_found_by_its_id_and_by_no_name(snapshot, name):
    name_of = worlds.document_id(name)
    assert named_by(snapshot, name_of[:9]).id == name_of
    with pytest.raises(UnknownError):
        named_by(snapshot, f"{name}.pdf")


@pytest.mark.parametrize("asked", ["ffffffff", "report", "0123456", "1f2e3", "ask-", "..", "", "g" * 64, "f" * 65, "1f2e3d4c*"])
def test_what_names_nothing_is_answered_with_what_there_is(snapshot, asked):
    with pytest.raises(UnknownError) as error:
        named_by(snapshot, asked)
    said = str(error.value)
    assert said.startswith(f"no answer, document or run {asked!r} in corpus 'default'") and said.count("; ") == 1
    assert "documents 'deadbeef', 'paper.pdf', 'report.pdf'" in said and "01234567 'How few?'" in said
    assert "ask-aa00bb99" in said and "1f2e3d4c" in said and "gone.pdf" not in said


@pytest.mark.parametrize(
    ("asked", "several"),
    [
        ("report.pdf", [f"document {each.document_id[:16]} 'report.pdf'" for each in (REPORT, ODD)]),
        ("01234567", ["answer 0123456789abcdef 'How many?'", "answer 0123456700000000 'How few?'"]),
        ("aa00bb", ["run ask-aa00bb11cc22", "run ask-aa00bb99cc22"]),
    ],
)
def test_what_names_several_is_answered_with_all_of_them(snapshot, asked, several):
    with pytest.raises(AmbiguousError, match=f"'{asked}' names 2 things: .*; take more digits") as error:
        named_by(snapshot, asked)
    assert all(each in str(error.value) for each in several)


def test_where_nothing_is_the_error_says_so_and_long_lists_are_cut(tmp_path):
    location = worlds.corpus_in(tmp_path)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        for records, said in (((), "documents none, newest answers none, "), ("abcde", "'a.pdf', 'b.pdf', 'c.pdf' and 2 more, ")):
            corpus.publish(graphs=[], records=[worlds.failed(worlds.graph(name)) for name in records])
            with open_for_reading(location) as opened, pytest.raises(UnknownError, match=said):
                named_by(opened, "ffffffff")


def test_what_an_evaluation_counts_by_is_no_document(snapshot):
    RunLog(snapshot.location.runs / "2222aaaa.jsonl").step(step("2222aaaa", "ask-batch", "e" * 64))
    with pytest.raises(UnknownError):
        named_by(snapshot, "e" * 12)
