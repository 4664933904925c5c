"""A job and its answer survive the way there and back."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from storage.records import Block, NodeKind, PageParser, ParsedPage
from tasks.parsers.jobs import READINGS, Job, Reading, Work, left_in
from tasks.settings import LimitSettings, OcrSettings, ParseSettings


def job(**changes) -> Job:
    given = {
        "work": Work.MINERU,
        "source": Path("/a"),
        "folder": Path("/b"),
        "name": "né\n.pdf",
        "cpu_seconds": 1,
        "wall_seconds": 2,
    }
    return Job(**given | {"parse": ParseSettings(), "ocr": OcrSettings(), "limits": LimitSettings()} | changes)


def test_a_job_is_one_line_and_comes_back_the_same():
    line = job().model_dump_json()
    assert "\n" not in line
    assert Job.model_validate_json(line) == job()


def test_an_unknown_wish_is_refused():
    with pytest.raises(ValidationError):
        job(errand="more")


def test_only_the_model_tiers_are_not_confined():
    assert job().confined
    assert not job(parse=ParseSettings(tier="advanced")).confined
    assert job(parse=ParseSettings(tier="advanced"), work=Work.SURVEY).confined


def test_a_reading_comes_back_the_same():
    block = Block(kind=NodeKind.TABLE, text="a | b", box=(0.0, 0.1, 0.2, 0.3), html="<table>", level=None)
    reading = Reading(title="t", pages=(ParsedPage(1, 595.0, 842.0, PageParser.MINERU, (block,), label="i"),))
    assert READINGS.validate_json(READINGS.dump_json(reading)) == reading


def test_what_a_child_left_is_read_only_where_it_is_a_regular_file(tmp_path):
    (tmp_path / "answer").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert left_in(tmp_path, "answer", most_bytes=3) == b"123"
    assert [left_in(tmp_path, name, most_bytes=9) for name in ("link", "folder", "pipe", "absent")] == [None] * 4
