"""A glimpse of an answer holds the same as the answer, whatever its words are."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.answers import AnswerStatus, PagePlace
from storage.runs.answer_json import answer_json
from storage.runs.glimpses import glimpse, glimpse_of, glimpses
from storage.runs.log import entry_line
from storage.runs.traces import lines_of
from tests.storage.answer_worlds import answer, asking_log, named
from tests.storage.worlds import corpus_in, document_id

NASTY = st.one_of(st.text(), st.just("\ud800\u2028\n"))
NAMES = st.lists(st.sampled_from(["report", "paper", "letter"]), max_size=3)


def line_of(kept):
    return entry_line({"sequence": 3, "kind": "answer", **answer_json(kept)}).removesuffix(b"\n")


@given(NAMES, NAMES, NASTY, NASTY, st.booleans(), st.booleans())
def test_a_glimpse_of_a_line_is_a_glimpse_of_its_answer(cited, read, words, note, pathless, unranked):
    kept = answer(*read, question=words or "?")
    kept = replace(kept, answer=words, citations=answer(*cited).citations, notes=(note,), models={words: note})
    kept = replace(kept, paths=() if pathless else kept.paths, pages=() if unranked else kept.pages * 3)
    expected = glimpse_of(json_answer(kept))
    assert glimpse(line_of(kept)) == expected
    assert {place.document for place in (*expected.cited, *expected.read)} == {named(name) for name in (*cited, *read)}


def json_answer(kept):
    """What reading the whole line gives: half signs are escaped there."""
    return replace(kept, question=answer_json(kept)["question"])


def test_pages_are_told_once_and_what_was_read_without_a_path_too():
    kept = answer("report", "report", "paper")
    seen = glimpse_of(replace(kept, paths=kept.paths[:1]))
    assert seen.cited == (PagePlace(named("report"), 2), PagePlace(named("paper"), 2)) == seen.read
    assert (seen.answer_id, seen.status, seen.question) == (kept.answer_id, "answered", "How many?")


@pytest.mark.parametrize(("status", "seen"), [("partial", "evidence"), ("not_found", "not_found")])
def test_what_an_earlier_version_called_an_answer_by_rules_is_evidence(status, seen):
    kept = replace(answer("report"), models={"reader": "extractive"}, status=AnswerStatus(status))
    assert glimpse(line_of(kept)).status == seen


def test_what_is_no_answer_gives_no_glimpse():
    whole = line_of(answer("report"))
    for line in (b"{}", b"nothing", b'{"kind": "answer", "paths": []}', b"\xff{}", *(whole[:cut] for cut in range(len(whole)))):
        assert glimpse(line) is None


def test_answers_whose_line_holds_a_sign_are_seen_and_unreadable_ones_are_counted(tmp_path):
    location = corpus_in(tmp_path)
    log, report = asking_log(location, "a"), document_id("report").encode()
    for kept in (answer("report"), answer("paper")):
        log.answer(answer_json(kept))
    log.answer({"text": "?", "documents": [{"id": report.decode()}]})
    log.begin(run_id="r", parameters={"documents": [report.decode()]}, settings={}, code_version="1")
    (seen,) = glimpses([lines_of(log.path, [report])], [report])
    assert (seen.run_id, seen.answers, seen.torn) == ("ask-a", (glimpse_of(answer("report")),), 1)
    (everything,) = glimpses([lines_of(log.path, [b""])], [b""])
    assert (len(everything.answers), everything.torn, everything.unreadable) == (2, 1, "")
