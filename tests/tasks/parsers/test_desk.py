"""A document is read from a private copy, and nothing of it stays behind."""

import os
import random
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.artifacts import ArtifactStore, hash_bytes
from storage.records import Block, NodeKind, PageParser, ParsedPage
from tasks.parsers import desk as desks
from tasks.parsers.desk import LOOK_BACK, Rules, cut_ranges, desk_for, read_page_ranges
from tasks.parsers.jobs import ANSWER, READINGS, ParseError, Reading, Work
from tasks.parsers.supervisor import Ending
from tasks.settings import LimitSettings, OcrSettings, ParseSettings, WorkSettings


@given(total=st.integers(1, 3000), most=st.integers(1, 200))
def test_ranges_cover_the_pages_evenly(total, most):
    ranges = cut_ranges(total, most)
    assert [page for first, last in ranges for page in range(first, last + 1)] == list(range(1, total + 1))
    lengths = [last - first + 1 for first, last in ranges]
    assert max(lengths) <= most
    assert max(lengths) - min(lengths) <= 1
    assert len(ranges) == -(-total // most)


class ScriptedDesk:
    """A desk whose children need a set time for each page, fail on some, and end in any order."""

    def __init__(self, seconds: list[float], bad: set[int], *, at_once: int, limit: float) -> None:
        self.seconds, self.bad, self.random = seconds, bad, random.Random(at_once)
        self.rules = Rules(
            parse=ParseSettings(pages_per_range=2),
            ocr=OcrSettings(),
            limits=LimitSettings(cpu_seconds_per_document=limit),
            work=WorkSettings(parsers_at_once=at_once),
            artifacts=None,
        )

    def run(self, work, *, pages, first, last):
        time.sleep(self.random.random() / 500)
        numbers = range(first, last + 1)
        problem = "crashed (SIGSEGV)" if work is Work.MINERU and self.bad & set(numbers) else ""
        used = sum(self.seconds[number - 1] for number in numbers) if work is Work.MINERU else 0.25
        parser = PageParser.MINERU if work is Work.MINERU else PageParser.PDFIUM
        reading = Reading("", tuple(ParsedPage(number, 9, 9, parser, ()) for number in numbers))
        return Ending(problem, None, used, 1.0, answered=not problem), reading

    def clear(self, folder):
        pass

    def take_answer(self, ending, folder):
        return folder if ending.answered else None


def read(seconds, bad, *, at_once, limit):
    return read_page_ranges(ScriptedDesk(seconds, bad, at_once=at_once, limit=limit), len(seconds), lambda done, total: None)


def test_pages_that_fail_are_read_alone_and_then_by_their_text_layer():
    pages = read([1.0] * 6, {4}, at_once=2, limit=1000.0)
    assert [page.number for page in pages] == [1, 2, 3, 4, 5, 6]
    assert [page.parser for page in pages].count(PageParser.PDFIUM) == 1
    assert pages[3].note == "MinerU crashed (SIGSEGV); text layer read by pdfium"


@pytest.mark.parametrize("seed", range(4))
def test_which_pages_are_read_by_mineru_is_the_same_however_many_children_there_are(seed):
    chance = random.Random(seed)
    seconds = [chance.choice([0.5, 1.0, 30.0]) for _ in range(60)]
    bad = {number for number in range(1, 61) if chance.random() < 0.2}
    readings = [read(seconds, bad, at_once=at_once, limit=200.0) for at_once in (1, 2, 5, 32)]
    assert all(reading == readings[0] for reading in readings)
    exhausted = [page.number for page in readings[0] if "200 s of CPU time" in page.note]
    assert exhausted and exhausted[0] > 2 * LOOK_BACK


def test_an_error_of_one_range_ends_the_others():
    class Broken(ScriptedDesk):
        def run(self, work, *, pages, first, last):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        read_page_ranges(Broken([1.0] * 40, set(), at_once=4, limit=10.0), 40, lambda done, total: None)


ANSWERED = Ending(problem="", refusal=None, cpu_seconds=1.0, peak_megabytes=1.0, answered=True)


@pytest.fixture
def rules(tmp_path) -> Rules:
    store = ArtifactStore(tmp_path / "artifacts")
    return Rules(parse=ParseSettings(), ocr=OcrSettings(), limits=LimitSettings(), work=WorkSettings(), artifacts=store)


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(b"words")
    return path


def lend(source: Path, rules: Rules, document_id: str | None = None):
    return desk_for(source, document_id=document_id, password=None, rules=rules)


def answer(folder: Path, picture: str) -> None:
    folder.mkdir()
    figure = Block(kind=NodeKind.FIGURE, text="", box=(0, 0, 1, 1), picture=picture)
    page = ParsedPage(1, 9, 9, PageParser.MINERU, (figure,), image=picture)
    (folder / ANSWER).write_bytes(READINGS.dump_json(Reading(title="", pages=(page,))))


def test_the_copy_is_gone_when_the_work_is_done(source, rules):
    with lend(source, rules, hash_bytes(b"words")) as desk:
        assert desk.source.read_bytes() == b"words"
        assert desk.scratch.stat().st_mode & 0o077 == 0
    assert not desk.scratch.exists()


def test_another_content_is_not_read(source, rules):
    with pytest.raises(ParseError, match="changed while it was read"), lend(source, rules, "0" * 64):
        pass


def test_pictures_become_artifacts(source, rules, tmp_path):
    with lend(source, rules) as desk:
        answer(tmp_path / "job", "figure-1-0")
        (tmp_path / "job" / "figure-1-0").write_bytes(b"a picture")
        (page,) = desk.take_answer(ANSWERED, tmp_path / "job").pages
    assert page.image == page.blocks[0].picture == hash_bytes(b"a picture")
    assert rules.artifacts.read(page.image) == b"a picture"
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize("name", ["../a.txt", "/etc/passwd", "figure-9-9", "figure-1-0"])
def test_a_name_that_leads_elsewhere_is_no_picture(name, source, rules, tmp_path):
    with lend(source, rules) as desk:
        answer(tmp_path / "job", name)
        (tmp_path / "job" / "figure-1-0").symlink_to(source)
        (page,) = desk.take_answer(ANSWERED, tmp_path / "job").pages
    assert page.image is page.blocks[0].picture is None


@pytest.mark.parametrize("data", [b"", b"{}", b'{"title": 1', b"\x80\x04pickle"])
def test_an_answer_out_of_form_is_none(data, source, rules, tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / ANSWER).write_bytes(data)
    with lend(source, rules) as desk:
        assert desk.take_answer(ANSWERED, tmp_path / "job") is None


def test_what_killed_processes_left_is_swept_and_what_living_ones_use_is_not(source, rules, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, used = tmp_path / "flowreader-parse-999999999-x", tmp_path / f"flowreader-parse-{os.getpid()}-x"
    left.mkdir()
    used.mkdir()
    desks._sweep_scratch.cache_clear()
    with lend(source, rules):
        assert not left.exists()
        assert used.exists()


def test_a_full_disk_is_no_fault_of_the_document(source, rules, monkeypatch):
    full = Ending(
        problem="failed (OSError: [Errno 28] No space left)", refusal=None, cpu_seconds=0, peak_megabytes=0, answered=False
    )
    monkeypatch.setattr(desks.CHILDREN, "run", lambda job, at_once: full)
    with lend(source, rules) as desk, pytest.raises(OSError, match="disk full"):
        desk.run(Work.SURVEY, pages=1)


def test_a_name_that_is_no_text_is_escaped():
    assert desks.writable_name(Path(os.fsdecode(b"/in/inv\xffalid.txt"))) == "inv\\xffalid.txt"
