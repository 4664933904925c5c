"""The words of lineage: one line for each thing, none of them longer than it must be."""

import pytest

from flows.lineage_wording import (
    box_words,
    call_line,
    damage_line,
    document_line,
    pages_words,
    path_lines,
    run_line,
    settings_words,
    step_line,
)
from storage.answer_records import NamedDocument
from tasks.ask_settings import AskSettings
from tasks.lineage_records import (
    CallSum,
    Damage,
    DocumentTold,
    NodePlace,
    PagesRead,
    PathTold,
    RunHead,
    RunKind,
    Standing,
    StepSum,
)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            RunHead("ask-0123456789", RunKind.ASK, "2026-01-02T03:04:05+00:00", "ended", 3, "0.1.0"),
            "asking run ask-01234567, 2026-01-02 03:04 UTC, code 0.1.0, ended at snapshot 3",
        ),
        (
            RunHead("0123456789", RunKind.INGEST, "", "stopped", 0, "0.1.0"),
            "ingest run 01234567, code 0.1.0, stopped at snapshot 0",
        ),
        (RunHead("0123456789", RunKind.UNKNOWN, "", "killed", None, ""), "run 01234567, killed"),
    ],
)
def test_a_run_is_told_by_what_it_did_when_and_how_it_ended(run, said):
    assert run_line(run) == said


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (StepSum("parse", "1", 1, 0.254, 1, 0, 0), "parse          0.25 s"),
        (StepSum("parse", "1", 1, 0.0, 2, 1, 1), "parse          0.00 s, from the cache, 2 attempts, failed"),
        (StepSum("parse", "1", 4, 0.0, 1, 0, 1, 3), "parse          0.00 s, 4 times, 1 failed, 3 stopped"),
        (StepSum("read-words", "1", 9, 12.0, 1, 3, 2), "read-words     12.00 s, 9 times, 3 from the cache, 2 failed"),
    ],
)
def test_a_step_tells_its_seconds_and_what_is_worth_a_word(step, said):
    assert step_line(step) == said


def test_calls_tell_how_they_ended_with_model_prompt_tokens_and_money():
    made = CallSum("worker", "qwen", "worker.md", "0123456789", {"ok": 10, "cached": 1}, 12_345, 400, 0.0, 3.5)
    assert call_line(made) == "call worker    3.50 s, 10 ok, 1 cached; qwen, prompt worker.md 01234567, 12,345 + 400 tokens"
    old = CallSum("worker", "qwen", "", "0123456789", {"ok": 1}, 1, 2, 0.5, 3.5)
    assert call_line(old).endswith("prompt changed since 01234567, 1 + 2 tokens, $0.5000")


def document(standing, name, state="ready", reason="", pages=1):
    told = ("version", state, reason, ("/a.pdf",), 1234) if standing is Standing.PUBLISHED else ("", "", "", (), 0)
    return DocumentTold(NamedDocument("0123456789", name), standing, *told, "", pages, 2, (), "mineru 4", ())


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (document(Standing.PUBLISHED, "a.pdf"), "a.pdf 01234567, ready, type unknown, 1,234 bytes, 1 page, 2 nodes"),
        (
            document(Standing.PUBLISHED, "a.pdf", "failed", "it is empty", 0),
            "a.pdf 01234567, failed: it is empty, type unknown, 1,234 bytes, 0 pages, 2 nodes",
        ),
        (document(Standing.REPLACED, "a.pdf"), "a.pdf 01234567, replaced: its file has another content now"),
        (document(Standing.GONE, ""), "01234567, not in the corpus any more"),
        (document(Standing.UNPUBLISHED, ""), "01234567, never published: no run that read it came so far"),
    ],
)
def test_a_document_tells_how_much_there_is_of_it_or_that_it_is_not_there(told, said):
    assert document_line(told) == said


@pytest.mark.parametrize(
    ("pages", "note", "said"),
    [((3,), "", "page 3 by ocr"), ((1, 2, 3), "", "pages 1-3 by ocr"), ((1, 3), "no text", "pages 1, 3 by ocr (no text)")],
)
def test_pages_are_told_with_who_read_them(pages, note, said):
    assert pages_words(PagesRead("d", "ocr", pages, note)) == said


def test_a_path_is_told_page_by_page_with_the_boxes_of_its_nodes():
    here = NodePlace("a" * 64, "d", 4, "table", (0.1, 0.2, 0.9, 1 / 3))
    beside, next_page, gone = NodePlace("b" * 64, "d", 4, "title"), NodePlace("c" * 64, "other-id", 5, "list"), NodePlace("e" * 64)
    path = PathTold((here, beside, next_page, gone), (), 1.0, 0.5, 0.25)
    assert list(path_lines(path, {"d": "a.pdf"})) == [
        "a.pdf, page 4: table aaaaaaaa box [10 20 90 33] % -> title bbbbbbbb",
        "other-id, page 5: list cccccccc",
        "not in the corpus any more: node eeeeeeee",
    ]
    assert box_words(None) == "no box"


def test_settings_are_told_where_they_differ_from_the_defaults():
    usual = AskSettings().model_dump(mode="json")
    assert settings_words(RunKind.ASK, usual) == "settings: the defaults"
    changed = usual | {"selection": usual["selection"] | {"read": 2}}
    assert settings_words(RunKind.ASK, changed) == "settings other than the defaults: selection.read = 2"
    assert settings_words(RunKind.ASK, {}) == "settings: not known"
    many = {f"s{number}": number for number in range(14)}
    assert settings_words(RunKind.UNKNOWN, many).endswith("s11 = 11 and 2 more")


def test_what_cannot_be_read_is_told_with_the_run():
    assert damage_line(Damage("r1", 1, "")).startswith("the file of run r1 has 1 line that cannot be read")
    assert "has 2 lines" in damage_line(Damage("r1", 2, ""))
    assert damage_line(Damage("r1", 0, "Is a directory")) == (
        "the file of run r1 cannot be read: Is a directory; what it tells is missing here"
    )
