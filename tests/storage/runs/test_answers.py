"""Answers are kept as JSON and found again, whatever a run left around them."""

import json
import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.catalog.removals import note_removals
from storage.cleaning.owners import erase_quotes
from storage.corpus.snapshot import open_for_reading
from storage.errors import AmbiguousError, UnknownError
from storage.records.answers import Answer, AnswerStatus, NamedDocument, PagePlace, TraceKind, TraceStep
from storage.runs.answer_json import answer_from_json, answer_json
from storage.runs.answers import answer_ids, answer_of_run, find_answer, newest_answers, read_answers, removal_note, without_words
from storage.runs.log import ASKING, asking_files
from tests.storage.answer_worlds import answer, keep, named, numbered, path
from tests.storage.worlds import document_id, graph, record, writing

REPORT, PAPER = document_id("report"), document_id("paper")
EARLIER = NamedDocument(document_id("paper before"), "paper.pdf")
NAMES = st.lists(st.sampled_from(["report", "paper", "slides"]), unique=True)


def test_the_newest_answer_comes_first_and_the_later_line_where_times_are_equal(location):
    old, *same = answer("report", asked="2025-12-31T23:00:00+00:00"), *numbered(2, "report")
    keep(location, *same, run="b")
    keep(location, old, run="a")
    assert read_answers(location, present=()) == [same[1], same[0], old]


def test_so_many_of_the_newest_answers_are_found_also_after_an_old_one_was_erased(location):
    for day, (run, quoted) in enumerate({"a": "report", "b": "paper", "c": "paper"}.items(), 1):
        os.utime(keep(location, answer(quoted, asked=f"2026-01-0{day}T00:00:00+00:00"), run=run), (day, day))
    (location.runs / "ingest.jsonl").write_bytes(b"newer than all of them, and no question")
    for again in range(9):
        (location.runs / f"{ASKING}again{again}.jsonl").write_bytes(b"newer, too, and gave an answer that was kept")
    assert erase_quotes(location, {REPORT}) == 1
    assert [kept.asked[:10] for kept in newest_answers(location, 2, present=())] == ["2026-01-03", "2026-01-02"]


def test_a_torn_line_costs_that_answer_only(location):
    answers = numbered(3, "report")
    path = keep(location, *answers)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:200] + b"\n"
    path.write_bytes(b"".join(lines)[:-5])
    keep(location, answer("paper"), run="r2")
    assert {kept.answer_id for kept in read_answers(location, present=())} == {
        answers[0].answer_id, answers[2].answer_id, answer("paper").answer_id,
    }  # fmt: skip


def test_where_nothing_was_asked_there_are_no_answers(location):
    assert read_answers(location, present=()) == []
    with pytest.raises(UnknownError, match=r"'deadbeef' in corpus 'default'; .*answers list"):
        find_answer(location, "deadbeef", present=())


@pytest.mark.parametrize("asked", ["", "1234567", "xyzxyzxyz", "12345678 ", "../../etc"])
def test_what_is_no_id_finds_nothing(location, asked):
    keep(location, answer("report"))
    with pytest.raises(UnknownError, match="8 or more digits"):
        find_answer(location, asked, present=())


def test_ids_that_begin_alike_are_all_named(location):
    first, second = (replace(answer("report", question="why " * 50), answer_id="12345678" + digit * 56) for digit in "ab")
    keep(location, first, second)
    with pytest.raises(AmbiguousError, match=r"names 2 answers: 12345678aaaaaaaa 'why .*12345678bbbbbbbb.*more digits") as told:
        find_answer(location, "12345678", present=())
    assert len(str(told.value)) < 300
    assert find_answer(location, "12345678b", present=()) == second


def test_a_question_of_a_hundred_thousand_signs_is_kept(location):
    long = answer("report", question="\u4f60\r\n\x85\u2028" * 20_000)
    keep(location, long)
    assert find_answer(location, long.answer_id[:8], present=()).question == long.question


def test_a_removed_document_leaves_its_name_its_places_and_the_question():
    bare = without_words(answer("report", "paper"), {PAPER})
    report, paper = bare.citations
    assert report == answer("report").citations[0]
    assert (paper.quote, paper.section) == ("", ()) and paper.box and (paper.document, paper.page) == (named("paper"), 2)
    assert (bare.answer, bare.why) == ("", "")
    assert [chain.answer for chain in bare.paths] == ["path of report", ""]
    assert bare.notes == ("the quoted document paper.pdf was removed",)
    assert (bare.question, bare.pages, bare.paths[1].nodes) == (
        "How many?", answer("report", "paper").pages, answer("report", "paper").paths[1].nodes,
    )  # fmt: skip


@given(NAMES, NAMES, NAMES)
def test_no_word_of_what_is_gone_stays_and_a_second_time_changes_nothing(quoted, first, second):
    whole = answer(*quoted)
    bare = without_words(whole, {document_id(name) for name in first})
    barer = without_words(bare, {document_id(name) for name in (*first, *second)})
    for kept, gone in ((bare, first), (barer, [*first, *second])):
        told = repr(answer_json(kept))
        assert not any(f"of {name}" in told for name in gone)
        assert {note for note in kept.notes if "removed" in note} == {removal_note(named(name)) for name in gone if name in quoted}
        assert (kept == whole) == (not set(gone) & set(quoted))
        assert without_words(kept, {document_id(name) for name in gone}) is kept


def test_an_answer_that_is_not_proven_may_hold_words_of_whatever_was_read():
    unproven = replace(answer("report"), status=AnswerStatus.UNVERIFIED, evidence_pages=answer("report", "paper").evidence_pages)
    assert unproven.is_unproven and not answer("report").is_unproven
    bare = without_words(unproven, {PAPER})
    assert (bare.answer, bare.why, bare.citations, bare.paths) == ("", "", unproven.citations, unproven.paths)
    assert bare.notes == ("the quoted document paper.pdf was removed",) and without_words(bare, {PAPER}) is bare


def test_the_text_stays_where_only_a_path_that_it_does_not_repeat_goes():
    beside = replace(answer("report"), paths=(path("report"), path("paper")))
    bare = without_words(beside, {PAPER})
    assert (bare.answer, bare.why, bare.notes[0]) == (beside.answer, beside.why, "extractive")
    assert [chain.answer for chain in bare.paths] == ["path of report", ""] and "paper.pdf was removed" in bare.notes[1]
    repeated = replace(beside, answer="As the path of paper says.")
    assert without_words(repeated, {PAPER}).answer == ""


def test_words_of_a_document_that_is_being_removed_are_not_shown_and_come_back_with_it(location):
    keep(location, answer("report", "paper"))
    note_removals(location, {document_id("paper"): ()})
    (partly,) = read_answers(location, present={REPORT})
    assert [citation.quote for citation in partly.citations] == ["words of report", ""]
    assert "words of paper" not in repr(partly) and "paper.pdf was removed" in partly.notes[0]
    assert find_answer(location, partly.answer_id, present={REPORT}) == partly
    assert read_answers(location, present={REPORT, PAPER}) == [answer("report", "paper")]


def test_a_snapshot_shows_answers_without_the_words_of_what_it_does_not_hold(location):
    with writing(location) as corpus:
        corpus.publish(graphs=[graph("report")], records=[record(graph("report"))])
    keep(location, answer("report", "paper"))
    note_removals(location, {document_id(name): () for name in ("paper", "report")})
    with open_for_reading(location) as snapshot:
        (partly,) = snapshot.answers()
        assert [citation.quote for citation in partly.citations] == ["words of report", ""]
        assert snapshot.newest_answers(1) == [partly] and snapshot.answer(partly.answer_id[:8]) == partly


def test_an_answer_is_read_from_its_run_alone_as_from_all(location):
    keep(location, answer("report", question=answer("paper").answer_id), answer("paper"))
    note_removals(location, {document_id("paper"): ()})
    (run_id,) = (found.stem for found in location.runs.iterdir())
    for kept in read_answers(location, present={REPORT}):
        assert answer_of_run(location, kept.answer_id, run_id, present={REPORT}) == kept
    with pytest.raises(UnknownError, match=r"'ffffffffffffffff' of run '.*' cannot be read any more; ask"):
        answer_of_run(location, "f" * 64, run_id, present={REPORT})


def test_the_ids_of_all_answers_are_known_also_of_one_that_cannot_be_read(location):
    first, second = answer("report"), answer("paper", question="What else?")
    keep(location, first)
    keep(location, second, run="r2")
    (torn, _whole) = asking_files(location)
    torn.write_bytes(torn.read_bytes()[:-40])
    assert answer_ids(location) == {first.answer_id, second.answer_id}


def test_steps_of_a_trace_lose_the_words_of_a_removed_document_and_so_do_those_that_need_them():
    report, paper = named("report"), named("paper")
    steps = (
        TraceStep(1, TraceKind.SEARCH, "what?", "the report says", pages=(PagePlace(report, 1),)),
        TraceStep(2, TraceKind.SUB_QUESTION, "of the paper?", "paper says", pages=(PagePlace(paper, 2),)),
        TraceStep(3, TraceKind.CHECK, "what the paper says?", "enough", needs=(1, 2)),
        TraceStep(4, TraceKind.READ, "and then?", "read", needs=(3,), pages=(PagePlace(report, 3),)),
    )
    whole = replace(answer("report"), trace=steps)
    bare = without_words(whole, {PAPER})
    assert [step.asked for step in bare.trace] == ["what?", "", "", ""] and bare.trace[0] == steps[0]
    assert [replace(step, asked="", found="") for step in steps] == [replace(step, asked="", found="") for step in bare.trace]
    assert removal_note(paper) in bare.notes and without_words(bare, {PAPER}) is bare
    assert without_words(whole, {document_id("slides")}) is whole
    assert answer_from_json(json.loads(json.dumps(answer_json(whole))), Answer) == whole
