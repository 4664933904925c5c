"""What lineage tells is plain: it becomes JSON and is found again."""

from dataclasses import fields

from storage.codec import from_json, to_json
from tasks.lineage_records import AnswerWalk, DocumentWalk, RunHead, RunKind, RunWalk


def test_a_record_of_lineage_becomes_json_and_comes_back():
    head = RunHead("ask-1", RunKind.ASK, "2026-01-01T00:00:00+00:00", "ended", 3, "0.1.0")
    assert from_json(RunHead, to_json(head)) == head
    whole = RunWalk("default", head, {"paths": []}, {}, (), (), (), (), (), ())
    assert from_json(RunWalk, to_json(whole)) == whole


def test_every_walk_tells_of_what_could_not_be_read():
    assert all("damaged" in {part.name for part in fields(kind)} for kind in (AnswerWalk, DocumentWalk, RunWalk))
